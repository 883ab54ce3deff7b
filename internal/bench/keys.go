package bench

import (
	"crypto/rand"
	"encoding/binary"
	"os"
	"path/filepath"

	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// newKey returns the text of a new key.
func newKey() string {
	k := seal.NewKey()
	return k.Text()
}

// keyFile writes a key file for a node that is about to start, in a directory of its
// own. remove removes both: a node needs them only while it starts.
func keyFile(key string) (path string, remove func(), err error) {
	r, err := seal.Parse(key)
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "failaware-bench-*")
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(dir, "keys")
	return path, func() { _ = os.RemoveAll(dir) }, r.CreateFile(path)
}

// sealing seals and opens the packets of a bare node.
type sealing struct {
	sealer *seal.Sealer // nil: packets are not sealed
	opener *seal.Opener
	random [8]byte
	salt   uint64
}

func newSealing(key string) (s sealing, err error) {
	if key == "" {
		return s, nil
	}
	r, err := seal.Parse(key)
	if err != nil {
		return s, err
	}
	return sealing{sealer: seal.NewSealer(r), opener: seal.NewOpener(r)}, nil
}

// draw draws the salt of the packets that leave together, as a node does.
func (s *sealing) draw() {
	_, _ = rand.Read(s.random[:]) // it never fails
	s.salt = binary.BigEndian.Uint64(s.random[:])
}

// open reads a packet into p.
func (s *sealing) open(d *wire.Decoder, b []byte, p *wire.Packet) error {
	if s.opener == nil {
		return d.Decode(b, p)
	}
	h, _, err := wire.ParseHeader(b)
	if err != nil {
		return err
	}
	frames, _, err := s.opener.Open(b, wire.HeaderSize,
		seal.Origin{Source: uint8(h.Source), Boot: uint64(h.Boot), Key: seal.KeyID(h.KeyID)}, h.Counter)
	if err != nil {
		return err
	}
	s.opener.Keep(0)
	return d.DecodeFrames(h, frames, p)
}

// finish completes a packet that leaves now.
func (s *sealing) finish(b []byte, stamp timed.Instant, counter uint64) []byte {
	if s.sealer == nil {
		wire.FinishWhole(b, stamp, counter)
		return b
	}
	boot := wire.FinishSealed(b, stamp, counter, uint32(s.sealer.KeyID()))
	return s.sealer.Seal(b, wire.HeaderSize, nil, uint64(boot), counter, s.salt)
}
