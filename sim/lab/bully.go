package lab

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Bully is the bully algorithm of Garcia-Molina as lectures teach it: a process that
// calls for an election asks all better ones, and leads if none of them answers in time. It
// assumes synchrony, and processes that stay down.
type Bully struct {
	Self    timed.NodeID
	Ranking *Ranking
	// Answer is the time to wait for answers, and Announce the time to wait for the
	// announcement of a coordinator after an answer.
	Answer, Announce time.Duration
	// Initiate makes a process call for an election when it starts.
	Initiate bool

	phase   bullyPhase
	elected timed.NodeID
	until   timed.Instant
}

type bullyPhase uint8

const (
	bullyIdle   bullyPhase = iota
	bullyAsked             // waits for answers
	bullyAwaits            // was answered, and waits for a coordinator
)

// NewBully returns a process that calls for an election as it starts. The
// time-outs are those of a synchronous system: a round trip for answers, and for
// the announcement the lectures' worst case of five message times.
func NewBully(self timed.NodeID, r *Ranking, p Pace) *Bully {
	return &Bully{Self: self, Ranking: r, Answer: 2 * p.OneWay, Announce: 5 * p.OneWay, Initiate: true, until: timed.Never}
}

// Start implements [Machine].
func (b *Bully) Start(now timed.Instant, alive timed.Set, out []Effect) []Effect {
	b.until = timed.Never
	if b.Initiate {
		return b.Elect(now, alive, out)
	}
	return out
}

// Elect implements [Machine]. A process that suspects all that are better does not
// ask them.
func (b *Bully) Elect(now timed.Instant, alive timed.Set, out []Effect) []Effect {
	higher := b.Ranking.Higher(b.Self)
	if !higher.Intersects(alive) {
		return b.announce(out)
	}
	b.phase, b.elected, b.until = bullyAsked, 0, now.Add(b.Answer)
	return toAll(higher, Message{Kind: BullyElection}, out)
}

func (b *Bully) announce(out []Effect) []Effect {
	b.phase, b.elected, b.until = bullyIdle, b.Self, timed.Never
	return toAll(b.Ranking.Lower(b.Self), Message{Kind: BullyCoordinator}, out)
}

// HandleMessage implements [Machine].
func (b *Bully) HandleMessage(now timed.Instant, from timed.NodeID, m *Message, alive timed.Set, out []Effect) []Effect {
	switch m.Kind {
	case BullyElection:
		out = append(out, Effect{from, Message{Kind: BullyAnswer}})
		if b.phase == bullyIdle {
			out = b.Elect(now, alive, out)
		}
	case BullyAnswer:
		if b.phase == bullyAsked {
			b.phase, b.until = bullyAwaits, now.Add(b.Announce)
		}
	case BullyCoordinator:
		b.phase, b.elected, b.until = bullyIdle, from, timed.Never
	}
	return out
}

// HandleTimeout implements [Machine].
func (b *Bully) HandleTimeout(now timed.Instant, alive timed.Set, out []Effect) []Effect {
	switch {
	case b.phase == bullyAsked && now >= b.until:
		return b.announce(out)
	case b.phase == bullyAwaits && now >= b.until:
		return b.Elect(now, alive, out)
	case b.phase == bullyIdle && b.elected != 0 && b.elected != b.Self && !alive.Has(b.elected):
		return b.Elect(now, alive, out)
	}
	return out
}

// Deadline implements [Machine].
func (b *Bully) Deadline() timed.Instant { return b.until }

// Claim implements [Machine].
func (b *Bully) Claim(timed.Instant) Claim { return following(b.Self, b.elected) }
