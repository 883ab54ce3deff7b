package replicated

import "github.com/failaware/failaware/internal/replica"

// Damaged is that a piece of a snapshot was sent with other bytes than the snapshot has.
const Damaged = "a piece of a snapshot was damaged"

// damages changes a bit of a piece of a snapshot, now and then, as a bad disk does. The members
// that get it must notice that, and get the snapshot again.
func (s *run) damages(e *replica.Effect, payload []byte) {
	if body := payload[len(e.Payload):]; s.opt.Corrupt && !s.done && len(body) > 0 && s.rand.Chance(0.01) {
		body[s.rand.Below(int64(len(body)))] ^= 1 << s.rand.Below(8)
		s.w.Sometimes(Damaged)
	}
}
