// Package datagram is the fail-aware datagram service of Fetzer and Cristian ("A
// Highly Available Local Leader Election Service", sections II to IV). The receiver of
// a message holds a proven upper bound on its transmission delay, which it computes
// after the fact from hardware clocks alone. So it knows whether the message was fast
// or slow.
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
// Programs use package failaware, whose nodes run one [Service] each. It is a pure
// machine for one goroutine: time is an argument, and nothing here blocks, locks, logs,
// or reads a clock. A packet carries everything that one
// turn of a node's loop says to one destination: a clear [Header], and a body of
// frames that belongs to the layers above.
package datagram
