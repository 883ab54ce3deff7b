// Package loop runs a node: one goroutine waits for packets and timers, lets the
// stack handle them, publishes an immutable [Snapshot] of the new state, and only
// then sends packets and reports events.
//
// The package knows the values of the stack and of the layers, and nothing of the
// public API above it: [Sink] gets events, and errors are values of this package.
// Callers run the code of loop.go and calls.go, read the values in snapshot.go and
// trust.go, and leave in findings.go what others have found out. All other files belong
// to the loop's goroutine, or to a caller that takes a turn in its place (tryturn.go).
package loop
