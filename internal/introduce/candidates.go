package introduce

import (
	"net/netip"
	"time"

	"github.com/failaware/failaware/timed"
)

// Limits of the greetings to candidates.
const (
	// MaxCandidates is how many candidates are greeted at most; further ones are ignored.
	MaxCandidates = 64

	seekEvery = 4                // keepalive periods before the second greeting; then twice as long each time
	loneEvery = 20               // keepalive periods between two greetings at most, while no peer is alive
	calmEvery = 10 * time.Second // and while some are
)

// candidate is an address at which there may be a member. It is greeted for ever: after a
// long partition, when the members of the other part are forgotten, it leads back to them.
type candidate struct {
	addr netip.AddrPort
	backoff
}

// HandleCandidates takes the addresses at which there may be members, in place of all
// former ones. The word of a name server is no evidence, and no configuration: a
// candidate is greeted, and its packets count like those of any address.
func (m *Machine) HandleCandidates(now timed.Instant, addrs []netip.AddrPort) {
	former := m.candidates
	m.candidates = nil
	for _, a := range addrs {
		if len(m.candidates) >= MaxCandidates {
			break
		}
		c := candidate{a, backoff{now, seekEvery * m.period}}
		for i := range former {
			if former[i].addr == a {
				c = former[i]
			}
		}
		m.candidates = append(m.candidates, c)
		m.due = timed.Earlier(m.due, c.at)
	}
}

// seek greets the candidates that are due.
func (m *Machine) seek(now timed.Instant, out []Effect) []Effect {
	for i := range m.candidates {
		c := &m.candidates[i]
		if !c.take(now) {
			continue
		}
		c.wait = min(c.wait, m.longestWait())
		out = append(out, Effect{Kind: Greet, Addr: c.addr})
	}
	return out
}

// longestWait returns the longest time between two greetings to a candidate.
func (m *Machine) longestWait() time.Duration {
	if m.alive.Empty() {
		return loneEvery * m.period
	}
	return max(calmEvery, loneEvery*m.period)
}

// hasten greets all candidates soon, when the last peer is no longer alive.
func (m *Machine) hasten(now timed.Instant) {
	for i := range m.candidates {
		c := &m.candidates[i]
		c.at, c.wait = timed.Earlier(c.at, now.Add(seekEvery*m.period)), seekEvery*m.period
		m.due = timed.Earlier(m.due, c.at)
	}
}
