package stack

import (
	"time"

	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// rest decides which packets are quiet. A group at rest sends the same again and again. A
// packet without news changes only how long its receiver counts on the sender, and the
// receiver needs to know that only when it acts next. So it sleeps through quiet packets,
// and handles them first when something else has woken it.
type rest struct {
	state  leader.State      // that told peers know
	told   timed.Set         // alive peers to which a packet that is not quiet has left since
	known  timed.Set         // those of told to which another packet has left since
	report membership.Report // that the last reply with news had
	asker  timed.NodeID      // whose patient request is answered in this turn, or NoNode
	gather timed.Instant     // when replies to the last patient request are read
	slow   time.Duration     // how long after a request its replies come: the slowest of the last rounds
	latest time.Duration     // the slowest of the present round
}

// refresh forgets who knows the state of this node when the state changes. A peer that
// has just come alive must hear at once that it is heard.
func (r *rest) refresh(state *leader.State, alive timed.Set) {
	if r.state != *state {
		r.state, r.told, r.known = *state, timed.Set{}, timed.Set{}
	}
	r.told, r.known = r.told.Intersect(alive), r.known.Intersect(alive)
}

// noteRound notes that a round begins. One that does not renew a lease at rest proves
// nothing, so the measurement begins again.
func (r *rest) noteRound(t *timed.Timing, renews bool) {
	if !renews {
		r.latest = t.RoundTime()
	}
	r.slow, r.latest = max(r.latest, r.slow-r.slow/16), 0
}

// patient reports whether the request that is about to leave renews a lease at rest, so
// that its replies may be quiet. This node reads them after FastThreshold, and not later
// than it would count them otherwise: the slowest reply of the last rounds came in half of
// that. Where delays are near OneWayTimeout, no request is patient.
func (s *Stack) patient(now timed.Instant) bool {
	b := &s.outbox
	if b.toAll&wire.FrameRequest == 0 {
		return false
	}
	s.rest.noteRound(&s.cfg.Timing, s.election.Renews(now))
	const renews = wire.FrameRequest | wire.FrameLine | wire.FrameUTC | wire.FrameQuorum
	return s.broadcast == nil && b.toAll&^renews == 0 && b.part.Kind == membership.Renew &&
		2*s.rest.slow <= s.cfg.Timing.FastThreshold
}

// quiet reports whether a packet to a peer tells it nothing new.
func (s *Stack) quiet(to timed.NodeID, p *wire.Packet) bool {
	r, b := &s.rest, &s.outbox
	told := r.told.Has(to)
	if told {
		r.known.Add(to)
	}
	if s.alive.Has(to) {
		r.told.Add(to)
	}
	switch p.Frames {
	case 0:
		return told
	case wire.FrameReply, wire.FrameReply | wire.FrameStamp:
		same := b.report == r.report
		r.report = b.report
		return told && same && r.asker == to && b.reply.Support
	}
	return false
}

// gatherAt returns when replies that may be quiet are read.
func (s *Stack) gatherAt(now timed.Instant) timed.Instant {
	if s.rest.gather <= now || !s.election.Open() {
		return timed.Never
	}
	return s.rest.gather
}
