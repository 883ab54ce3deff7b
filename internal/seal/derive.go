package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

// deriver derives the AES-256-GCM keys of one key, as XAES-256-GCM says: the CMAC-based
// derivation of NIST SP 800-108r1 with AES-256, of two blocks.
type deriver struct {
	block cipher.Block
	k1    [aes.BlockSize]byte // the subkey of CMAC
}

func newDeriver(key []byte) deriver {
	d := deriver{block: mustAES(key)}
	d.block.Encrypt(d.k1[:], d.k1[:])
	msb := byte(0)
	for i := len(d.k1) - 1; i >= 0; i-- {
		msb, d.k1[i] = d.k1[i]>>7, d.k1[i]<<1|msb
	}
	d.k1[len(d.k1)-1] ^= msb * 0x87
	return d
}

// gcm returns the cipher of the packets whose nonce begins with the given 12 bytes.
func (d *deriver) gcm(prefix *[12]byte) cipher.AEAD {
	var m, key [2 * aes.BlockSize]byte
	for i := range 2 {
		b := m[i*aes.BlockSize : (i+1)*aes.BlockSize]
		b[1], b[2] = byte(i+1), 'X'
		copy(b[4:], prefix[:])
		for j := range b {
			b[j] ^= d.k1[j]
		}
		d.block.Encrypt(key[i*aes.BlockSize:(i+1)*aes.BlockSize], b)
	}
	a, err := cipher.NewGCM(mustAES(key[:]))
	if err != nil {
		panic(err) // AES has blocks of 16 bytes
	}
	return a
}

func mustAES(key []byte) cipher.Block {
	b, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // keys have 32 bytes
	}
	return b
}

// prefixOf returns the first half of a nonce.
func prefixOf(boot uint64, counter uint64) (p [12]byte) {
	binary.BigEndian.PutUint64(p[:], boot)
	binary.BigEndian.PutUint32(p[8:], uint32(counter>>32))
	return p
}
