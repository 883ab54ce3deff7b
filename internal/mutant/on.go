//go:build mutants

package mutant

// Enabled tells whether mutants can be switched on in this build.
const Enabled = true

var active ID

// On reports whether a planted bug is active.
func On(id ID) bool { return active == id }

// Set makes one planted bug active, or none. It is not safe while machines
// run in other goroutines.
func Set(id ID) { active = id }
