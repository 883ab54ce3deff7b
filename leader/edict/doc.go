// Package edict orders what leaders have decided: two edicts show, by
// themselves, which of them was created first, whoever created them and however
// late they arrive. A store that remembers the latest edict that it obeyed can
// thus refuse what a leader of the past still sends ([Verifier], and package
// fence for one that outlives a crash).
//
// The order follows van Renesse, Schneider and Gehrke, "Nerio: Leader Election and
// Edict Ordering". An edict carries the stamps of the votes that its creator led
// by. Rounds of votes of one epoch share a voter, since quorums intersect, and
// that voter has given its votes one after the other. The epoch counts first,
// because a quorum system replaces its predecessor for good; then the votes; and
// edicts of the same round of votes are counted by their creator.
//
// An edict proves an order, not who made it: whoever can forge one can lock a
// store with it, or pass its fence. Senders must be authenticated by other means.
//
// The package imports only the standard library and package timed, so that a
// store need not run a node. Its values are plain; they may be shared between
// goroutines that do not change them. A [Verifier] is for one goroutine.
package edict
