package seal

import (
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
)

const (
	lengthSize = 2
	proofSize  = gcmNonceSize + tagSize

	// SharedHead is [Head] for a packet with shared frames.
	SharedHead = lengthSize + saltSize + ringSize + proofSize
	// SharedOverhead is [Overhead] for a packet with shared frames.
	SharedOverhead = SharedHead + 2*tagSize
)

// Shared are frames that several packets carry, sealed once.
type Shared struct {
	Sealed []byte          // the end of each packet
	proof  [proofSize]byte // nonce and tag
}

// SealShared seals frames in place, for the packet with the given boot id, counter and
// salt, and others that leave with it. It allocates only to grow frames, and returns
// them in memory of the same array if it can.
func (s *Sealer) SealShared(frames []byte, boot, counter, salt uint64) (x Shared) {
	s.prepare(boot, counter, salt)
	x.Sealed = s.shared.Seal(frames[:0], s.nonce[:], frames, nil)
	copy(x.proof[:], s.nonce[:])
	copy(x.proof[gcmNonceSize:], x.Sealed[len(frames):])
	return x
}

// SealSharing is [Sealer.Seal] for a packet that is sent with shared frames behind it. It
// has [SharedHead] bytes of room between the header and its own frames. The shared frames
// were sealed for the same incarnation. If the upper half of the counter has changed
// since, which happens once in 2³² packets, nobody can open the packet: it is lost.
func (s *Sealer) SealSharing(b []byte, header int, x *Shared, boot, counter, salt uint64) []byte {
	s.prepare(boot, counter, salt)
	body := header + lengthSize
	plain := body + saltSize
	binary.BigEndian.PutUint16(b[header:], uint16(len(b)-plain+tagSize))
	binary.BigEndian.PutUint64(b[body:], salt)
	copy(b[plain:], s.others[:])
	copy(b[plain+ringSize:], x.proof[:])
	return s.aead.Seal(b[:plain], s.nonce[:], b[plain:], b[:body])
}

// OpenSharing is [Opener.Open] for a packet with shared frames.
func (o *Opener) OpenSharing(b []byte, header int, from Origin, counter uint64) (frames []byte, others [MaxKeys - 1]KeyID, err error) {
	if len(b) < header+SharedOverhead {
		return nil, others, ErrShort
	}
	body := header + lengthSize
	plainAt := body + saltSize
	end := plainAt + int(binary.BigEndian.Uint16(b[header:]))
	if end < plainAt+ringSize+proofSize+tagSize || end+tagSize > len(b) {
		return nil, others, ErrShort
	}
	if err := o.choose(from, counter); err != nil {
		return nil, others, err
	}
	plain, err := o.openBody(b[plainAt:end], b[body:plainAt], b[:body], counter)
	if err != nil {
		return nil, others, err
	}
	others = othersOf(plain)
	nonce, tag := plain[ringSize:ringSize+gcmNonceSize], plain[ringSize+gcmNonceSize:ringSize+proofSize]
	if subtle.ConstantTimeCompare(tag, b[len(b)-tagSize:]) != 1 {
		return nil, others, ErrForged
	}
	copy(o.nonce[:], nonce)
	plain, err = o.shared().Open(plain, o.nonce[:], b[end:], nil)
	if err != nil {
		return nil, others, ErrForged
	}
	o.buf = plain
	return plain[ringSize+proofSize:], others, nil
}

// shared returns the cipher of shared frames of the incarnation that is being opened.
func (o *Opener) shared() cipher.AEAD {
	if o.opened.shared == nil {
		prefix := prefixOf(o.opened.origin.Boot, uint64(o.opened.high)<<32)
		o.opened.shared = o.ring.shared[o.ring.find(o.opened.origin.Key)].gcm(&prefix)
	}
	return o.opened.shared
}
