package replicated

import (
	"io"

	"github.com/failaware/failaware/internal/replica"
)

// Situations of processes that find what an earlier one has received of a snapshot.
const (
	PartFound   = "a process found a part of a snapshot"
	PartDamaged = "a process found a damaged part of a snapshot"
)

// part returns what a process finds that the one before has received of a snapshot, or nil. The
// file was not flushed: its end may be missing, and bits of it may be others.
func (s *run) part(before *member) *replica.Content {
	if !s.opt.Parts || before == nil {
		return nil
	}
	before.replica.HandleEnd(before.n.Instant(), nil) // it was killed: nothing is done any more
	spare := before.replica.Earlier().Spare
	if spare == nil {
		return nil
	}
	b, err := io.ReadAll(spare.Reader())
	if err != nil {
		panic(err) // it is in memory
	}
	s.w.Sometimes(PartFound)
	if len(b) > 0 && s.rand.Chance(0.3) {
		b[s.rand.Below(int64(len(b)))] ^= 1 << s.rand.Below(8)
		s.w.Sometimes(PartDamaged)
	}
	if s.rand.Chance(0.3) {
		b = b[:s.rand.Below(int64(len(b)+1))]
	}
	c := s.load.replica
	part, err := c.ReadPart((*replica.Memory)(&b), int64(len(b)))
	if err != nil {
		panic(err)
	}
	return part
}
