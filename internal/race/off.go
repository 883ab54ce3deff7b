//go:build !race

// Package race tells tests whether the race detector watches them. It makes real nodes
// twenty times as slow, so tests that repeat the same with other seeds do so less often
// then. The Makefile tests their packages without it, too.
package race

// Enabled says whether the program was built with the race detector.
const Enabled = false
