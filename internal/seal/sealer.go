package seal

import (
	"crypto/cipher"
	"encoding/binary"
)

// Sizes of the parts of a sealed packet in bytes.
const (
	saltSize = 8
	ringSize = 4 * (MaxKeys - 1)
	tagSize  = 16

	// Head is the room that a packet needs between its header and its frames before it
	// is sealed.
	Head = saltSize + ringSize
	// Overhead is how much longer a sealed packet is than its header and frames.
	Overhead = Head + tagSize
)

const gcmNonceSize = 12

// Sealer seals the packets of a process. It belongs to one goroutine.
type Sealer struct {
	ring   *Ring
	boot   uint64
	high   uint32 // of the counter
	aead   cipher.AEAD
	shared cipher.AEAD        // of shared frames
	nonce  [gcmNonceSize]byte // here, because a local one would be allocated
	others [ringSize]byte
}

// NewSealer returns a sealer with the first key of a ring.
func NewSealer(r *Ring) *Sealer {
	s := &Sealer{ring: r}
	for i, id := range r.ids[1:] {
		binary.BigEndian.PutUint32(s.others[4*i:], uint32(id))
	}
	return s
}

// KeyID returns the id of the key that seals.
func (s *Sealer) KeyID() KeyID { return s.ring.ids[0] }

// Seal seals a packet in place and returns it with its tag appended. The packet b is a
// header of the given length, [Head] bytes for Seal to fill, and frames; tail is the rest
// of its frames. The boot id and the counter are those of the header. No two packets
// have the same boot id, counter and salt. Seal allocates only to grow b.
func (s *Sealer) Seal(b []byte, header int, tail []byte, boot, counter, salt uint64) []byte {
	s.prepare(boot, counter, salt)
	plain := header + saltSize
	binary.BigEndian.PutUint64(b[header:plain], salt)
	copy(b[plain:plain+ringSize], s.others[:])
	b = append(b, tail...)
	return s.aead.Seal(b[:plain], s.nonce[:], b[plain:], b[:header])
}

// prepare makes the ciphers and the nonce of a packet.
func (s *Sealer) prepare(boot, counter, salt uint64) {
	if high := uint32(counter >> 32); s.aead == nil || s.boot != boot || s.high != high {
		prefix := prefixOf(boot, counter)
		s.boot, s.high, s.aead, s.shared = boot, high, s.ring.kdf[0].gcm(&prefix), s.ring.shared[0].gcm(&prefix)
	}
	binary.BigEndian.PutUint32(s.nonce[:], uint32(counter))
	binary.BigEndian.PutUint64(s.nonce[4:], salt)
}
