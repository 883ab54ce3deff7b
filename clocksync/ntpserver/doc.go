// Package ntpserver answers NTP clients with a node's UTC and a proven bound on its
// error. It only serves time: it does not synchronize a clock and supports neither
// peers, keys nor control messages.
//
// # Fail-awareness in NTP's terms
//
// The root dispersion of an answer is at least the bound, so the root distance that
// a client computes holds. While UTC is not known well enough, answers have leap
// indicator 3 ("unsynchronized") and stratum 16, and clients reject them. A bound
// of 18 hours or more, which NTP's short format cannot express, counts as
// unsynchronized.
//
// The receive timestamp of an answer is not before the arrival of the request, and
// the transmit timestamp is not after the departure of the answer. The offset that
// a client computes is therefore correct within half the round trip plus the bound.
//
// # Requests
//
// The server answers client requests (mode 3) of NTP versions 3 and 4 with a length
// of 48 bytes, that is, without extension fields and authentication. It counts and
// drops all other packets. Answers also have 48 bytes, so the server does not
// amplify traffic. Answers are never requests, so two servers cannot keep each
// other busy.
//
// Each source address, or 64-bit IPv6 network, has a limit for bursts and a limit
// per second. Beyond these, the server answers RATE once in two seconds and
// otherwise ignores the source. A second limit covers all sources together. The
// table of sources has a fixed size.
package ntpserver
