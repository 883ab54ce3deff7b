// Package replica keeps the state of an application the same at all members of a group,
// on top of the atomic broadcast, and merges states after the group was split.
//
// A [Replica] is a pure machine of one incarnation. It takes the deliveries of the
// broadcast and the changes of views, in order. Its effects are calls of the
// application and payloads to broadcast. Calls of the application are effects, not
// calls of an interface, because application code may be slow: the caller performs them
// one after the other, in order, outside of any protocol loop. Only snapshots and
// hashes have results, which come back through [Replica.HandleSnapshot] and
// [Replica.HandleHash] whenever they are ready. A machine that has emitted "Restore, Apply,
// Apply" counts as having that state. A transfer survives views, and neither the joiner's
// process nor its incarnation.
//
// docs/internals/replication.md describes the protocol.
package replica
