// Package replica keeps the state of an application the same at all members of
// a group, on top of the atomic broadcast, and brings it together again after
// the group was split.
//
// A [Replica] is a pure machine of one incarnation. It takes what the broadcast
// delivers, in order, with the changes of views, and says in effects what the
// application is to do and what is to be broadcast. Calls of the application are
// effects, and not calls of an interface, because the code behind them is not
// ours and may be slow: the caller performs them one after the other, in order,
// outside of any protocol loop. Only snapshots and hashes have results, which
// come back by [Replica.HandleSnapshot] and [Replica.HandleHash] whenever they
// are ready.
//
// docs/replication.md describes the protocol.
package replica
