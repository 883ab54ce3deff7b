// Package edict orders the decisions of leaders. Two edicts alone show which of
// them was created first, regardless of their creators and their delays. A store
// that remembers the latest edict it obeyed can therefore refuse commands from
// former leaders; see [Verifier], and package fence for a persistent one.
//
// The order follows van Renesse, Schneider and Gehrke, "Nerio: Leader Election and
// Edict Ordering", sections 7 and 10.6. An edict carries the stamps of the votes by
// which its creator led. Two rounds of one epoch share a voter, because quorums
// intersect, and that voter gave its votes one after the other. Epochs are compared
// first, because a quorum system replaces its predecessor permanently, and votes
// second. Edicts of the same round carry a counter of their creator.
//
// An edict does not authenticate its creator. A forged edict can pass a fence, or
// lock a store. Senders must be authenticated by other means.
//
// Besides the standard library, the package imports only package timed and a
// decoder of fields, so that a store need not run a node. Edicts may be shared
// between goroutines that do not change them. A [Verifier] is not safe for
// concurrent use.
package edict
