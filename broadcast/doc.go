// Package broadcast is the atomic broadcast: one order of messages at all members of a
// view. Within a view the right to order messages rotates over the members, as in the
// pinwheel and timewheel protocols. This spreads the load of ordering evenly, and a full
// rotation of decisions makes stability known to all members without acknowledgement
// messages.
//
// Each message chooses its order ([TotalOrder], [TimedOrder], [Unordered]) and its
// atomicity ([StrongAtomicity], [StrictAtomicity], [WeakAtomicity]). Deliveries obey a
// form of extended virtual synchrony: members that move together from one view to the next
// deliver the same messages, in the same order, before the next view. Messages that could
// not reach their atomicity in the old view come after the transitional mark and are marked
// themselves. There is one order in each view. Two branches into which the group splits may
// order the same messages differently; docs/internals/broadcast.md says how this differs from
// extended virtual synchrony as published.
//
// Programs use package failaware, whose nodes run one [Service] each, a pure machine for
// one goroutine. A small message costs one entry in a ring and one copy of its bytes at
// each node. All other work is done once for each packet or decision.
package broadcast
