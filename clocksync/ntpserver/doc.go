// Package ntpserver answers NTP clients with a node's UTC and the proven bound of
// its error. It is a server and nothing else: it synchronizes no clock, and knows
// no peers, keys or control messages.
//
// # Fail-awareness in NTP's terms
//
// The root dispersion of an answer is no less than the bound, so what a client
// computes as the root distance holds. While UTC is not known well enough, answers
// say leap indicator 3 ("unsynchronized") and stratum 16, and clients refuse them.
// A bound that NTP's short format cannot express, of 18 hours and more, counts as
// unsynchronized.
//
// The receive stamp of an answer is not before the request arrived, and the
// transmit stamp not after the answer left; so the offset that a client computes is
// proven as well, within half of the round trip and the bound.
//
// # Requests
//
// Answered are requests of clients (mode 3) of NTP versions 3 and 4 that are 48
// bytes long: without extension fields and without authentication. All answers have
// 48 bytes as well, so the server amplifies nothing; and answers are never requests,
// so two servers cannot keep each other busy. Everything else is counted and
// dropped.
//
// Each source address, or network of 64 bits in IPv6, may send so many requests in a
// burst and so many per second; beyond that it is told RATE once in a while, and
// otherwise ignored. All sources together have a limit as well. What is remembered
// of sources is bounded.
package ntpserver
