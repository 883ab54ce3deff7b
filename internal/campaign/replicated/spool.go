package replicated

import (
	"errors"

	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/internal/replica"
)

// spool is where members keep the snapshots that come. In some seeds it is full at times.
type spool struct {
	run  *run
	rand random.Stream
	full float64 // share of pieces for which there is no room
}

func (s *run) newSpool(seed uint64) *spool {
	sp := &spool{run: s, rand: random.New(seed, random.Apps<<8|1)}
	if sp.rand.Chance(0.3) {
		sp.full = sp.rand.LogUniform(0.0005, 0.02)
	}
	return sp
}

// newBytes returns room for a snapshot.
func (s *spool) newBytes() replica.Bytes { return &spooled{spool: s} }

// spooled is the bytes of a snapshot.
type spooled struct {
	replica.Memory
	spool *spool
}

var errFull = errors.New("the disk is full")

// Append implements [replica.Bytes].
func (b *spooled) Append(p []byte) error {
	if s := b.spool; !s.run.done && s.rand.Chance(s.full) {
		s.run.w.Sometimes(Cramped)
		return errFull
	}
	return b.Memory.Append(p)
}
