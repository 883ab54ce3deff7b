// Package admit decides which packets count once their seal is open, and which addresses
// get packets. It is pure: the loop runs it over real addresses, and the simulator over
// its own.
//
// [Windows] refuses packets that come again.
//
// [Book] keeps which addresses have shown that they receive. An address that is in no
// configuration gets bare packets ("challenges"), and never more bytes than came from
// it, until a packet from it echoes the stamp of a challenge. Each challenge has a stamp
// that no other packet has, so nobody who is elsewhere knows it, not even a peer whose
// packets are sent on with another source address.
//
// [Attempts] bounds how often a key is derived for packets that may be junk.
package admit
