// Package kv is the state of the key-value store that a node serves: keys with values
// and versions, leases, a history of changes, and the merger of states that parts of a
// split group have written.
//
// A [State] changes by [State.Apply] and [State.Merge] only. Both depend on nothing but
// the state and their arguments, so all members that apply the same commands in the same
// order have the same state. Time comes with the commands: each has the reading of its
// writer's clock, and leases end by these readings in the order of the commands.
//
// A [Dot] names each command. The state knows the dots of all commands that have changed
// it, so it can tell whether another state has seen a value or not. That is how a merger
// knows which writes did not know of each other.
//
// The package is pure: one goroutine uses a State, or its caller has a lock.
package kv
