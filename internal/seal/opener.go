package seal

import (
	"crypto/cipher"
	"encoding/binary"
	"errors"
)

// Errors of [Opener.Open]. They are fixed values, because junk must cost nothing.
var (
	ErrShort  = errors.New("seal: the packet is too short to be sealed")
	ErrKey    = errors.New("seal: the packet is sealed with an unknown key")
	ErrForged = errors.New("seal: the packet is forged or damaged")
)

// Origin says which incarnation a packet claims to come from, and which key sealed it.
type Origin struct {
	Source uint8
	Boot   uint64
	Key    KeyID
}

// session is the cipher of the packets of an incarnation.
type session struct {
	origin Origin
	high   uint32 // of the counter
	aead   cipher.AEAD
	shared cipher.AEAD // of shared frames; nil until it is needed
}

// sessionsPerSource is how many incarnations of a source have their ciphers kept: the
// living one and its successor. Only packets that were opened and kept put one there.
const sessionsPerSource = 2

// Opener opens the packets that a process receives. It belongs to one goroutine.
type Opener struct {
	ring     *Ring
	sessions [256][sessionsPerSource]session // the latest first
	opened   session                         // of the packet opened last
	nonce    [gcmNonceSize]byte              // here, because a local one would be allocated
	buf      []byte
}

// NewOpener returns an opener with the keys of a ring.
func NewOpener(r *Ring) *Opener { return &Opener{ring: r} }

// Has reports whether the ring has a key.
func (o *Opener) Has(id KeyID) bool { return o.ring.find(id) >= 0 }

// Knows reports whether the cipher of a packet is at hand. To derive one costs more
// than to open a packet.
func (o *Opener) Knows(from Origin, counter uint64) bool {
	return o.find(from, counter) != nil
}

func (o *Opener) find(from Origin, counter uint64) *session {
	for i := range o.sessions[from.Source] {
		if s := &o.sessions[from.Source][i]; s.aead != nil && s.origin == from && s.high == uint32(counter>>32) {
			return s
		}
	}
	return nil
}

// Open opens a packet whose header, of the given length, names the origin and the
// counter. It returns the frames, in memory that the next call uses again, and the ids
// of the other keys that the sender has. The error is one of this package's fixed ones.
func (o *Opener) Open(b []byte, header int, from Origin, counter uint64) (frames []byte, others [MaxKeys - 1]KeyID, err error) {
	if len(b) < header+Overhead {
		return nil, others, ErrShort
	}
	if err := o.choose(from, counter); err != nil {
		return nil, others, err
	}
	plainAt := header + saltSize
	plain, err := o.openBody(b[plainAt:], b[header:plainAt], b[:header], counter)
	if err != nil {
		return nil, others, err
	}
	return plain[ringSize:], othersOf(plain), nil
}

// choose finds or derives the ciphers of a packet.
func (o *Opener) choose(from Origin, counter uint64) error {
	if s := o.find(from, counter); s != nil {
		o.opened = *s
		return nil
	}
	i := o.ring.find(from.Key)
	if i < 0 {
		return ErrKey
	}
	prefix := prefixOf(from.Boot, counter)
	o.opened = session{origin: from, high: uint32(counter >> 32), aead: o.ring.kdf[i].gcm(&prefix)}
	return nil
}

// openBody opens a packet's own ciphertext into o.buf.
func (o *Opener) openBody(body, salt, more []byte, counter uint64) (plain []byte, err error) {
	binary.BigEndian.PutUint32(o.nonce[:], uint32(counter))
	copy(o.nonce[4:], salt)
	plain, err = o.opened.aead.Open(o.buf[:0], o.nonce[:], body, more)
	if err != nil {
		return nil, ErrForged
	}
	o.buf = plain
	return plain, nil
}

// othersOf returns the ids with which a plaintext begins.
func othersOf(plain []byte) (ids [MaxKeys - 1]KeyID) {
	for i := range ids {
		ids[i] = KeyID(binary.BigEndian.Uint32(plain[4*i:]))
	}
	return ids
}

// Keep keeps the cipher of the packet that was opened last, for the next packets of its
// incarnation. That of the accepted incarnation of the source stays, however many others
// packets are repeated of.
func (o *Opener) Keep(accepted uint64) {
	s := &o.sessions[o.opened.origin.Source]
	stays := s[1].aead != nil && s[1].origin.Boot == accepted && s[0].origin.Boot != accepted && s[1].aead != o.opened.aead
	if s[0].aead != o.opened.aead && !stays {
		s[1] = s[0] // the one before, or, if it was second, in its place
	}
	s[0] = o.opened
}
