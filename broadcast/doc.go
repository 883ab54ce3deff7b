// Package broadcast is the atomic broadcast of layer 4: within a view the right
// to order rotates over the members, in the line of the pinwheel and timewheel
// protocols. The load of ordering is spread evenly, and a turn of decisions tells
// everybody what is stable, without acknowledgement messages.
//
// Each message chooses its order ([Unordered], [Total], [Timed]) and its
// atomicity ([Weak], [Strong], [Strict]). Deliveries obey extended virtual
// synchrony: members that move together from one view to the next deliver the
// same messages, in the same order, before the next view; what could not reach
// its atomicity in the old view comes after the transitional mark, and says so.
//
// [Service] is a pure machine, owned by one goroutine. The work for a small
// message is one entry in a ring and one copy of its bytes at each node; all
// else is done once for each packet or decision.
package broadcast
