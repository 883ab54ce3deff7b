// Package seal seals and opens packets with the keys of a group.
//
// # Keys
//
// A [Key] is 32 random bytes, which all nodes of a group share. A [Ring] has up to three
// keys: the first one seals, and all of them open. A key file ([ReadFile]) holds a ring.
// Nothing is sealed with a key itself: HKDF-SHA256 derives the key of packets and the
// key's id from it.
//
// # Packets
//
// A sealed packet is the clear header, a salt of 8 bytes, and the ciphertext, which ends
// with a tag of 16 bytes. The plaintext is 8 bytes, the ids of the other keys of the
// sender's ring, and the frames. The cipher is XAES-256-GCM (c2sp.org/XAES-256-GCM):
// AES-256-GCM with keys derived from the first half of a nonce of 192 bits. The nonce is
// boot id (8), counter (8) and salt (8), so it is unique while an incarnation counts its
// packets. The salt is random and keeps it unique when a machine is copied with its
// memory. The header is additional data.
//
// Packets to several nodes may share large frames (a broadcast), which are then sealed
// once: with a key of their own, and the nonce of the first packet that carries them. Such
// a packet is the header, the length of its own ciphertext (2), a salt (8), that
// ciphertext, and the shared one. Its own plaintext is the ids of the other keys, the
// nonce and the tag of the shared frames, and its own frames; the header and the length
// are additional data. So nobody can put other shared frames into the packet.
//
// The derived key depends on the boot id and the upper half of the counter only, so a
// receiver derives it once for each incarnation of a peer.
//
// The package reads no clock, holds no lock, and knows nothing of the header but its
// length.
package seal
