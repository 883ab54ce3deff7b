// Package datagram is the fail-aware datagram service of Fetzer and Cristian:
// when a message is delivered, the receiver holds a proven upper bound on its
// transmission delay, computed after the fact from hardware clocks alone, and
// thus knows whether the message was fast or slow.
//
// # The bound
//
// A message m from p to q is sent when H_p = S and received when H_q = R. A
// helper from q to p was sent when H_q = A and received when H_p = B. Then
//
//	ub(m) = (R−A)(1+ρ) − g(S−B) − δmin      g(x) = x(1−ρ) for x ≥ 0, x(1+ρ) for x < 0
//
// because the real time from A to R is the helper's delay (at least δmin), plus
// the real time from B to S (negative when packets overtook), plus the delay of
// m. Every packet echoes the best helper (A, B) of its destination, so that
// each packet tightens the bounds of the next.
//
// The same pairs bound the difference of the two hardware clocks
// ([Service.Offset]).
//
// # The machine
//
// [Service] is a pure machine: time comes in as an argument, and nothing here
// blocks, locks, logs, or reads a clock. It is owned by one goroutine. Packets
// carry everything of one turn of a node's loop to one destination: a clear
// [Header] and a body of frames that belongs to the layers above.
package datagram
