package stack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// pair are two nodes with equal clocks, whose packets take a millisecond.
type pair struct {
	now    timed.Instant
	stacks [2]*Stack
	sent   []wire.Packet // to be delivered next
	count  uint64
}

func newPair(rank leader.RankBy) *pair {
	p := &pair{now: 1e12}
	for i := range p.stacks {
		id := timed.NodeID(i + 1)
		p.stacks[i] = New(Config{Self: timed.Incarnation{Node: id, Boot: 7}, Timing: timed.LAN(), RankBy: rank}, timed.SetOf(3-id), p.now, 0)
	}
	return p
}

// step lets a millisecond pass.
func (p *pair) step() {
	p.now = p.now.Add(time.Millisecond)
	arriving := p.sent
	p.sent = nil
	for i := range arriving {
		q := &arriving[i]
		p.take(p.stacks[q.Header.Destination-1].HandlePacket(p.now, p.now, q, nil))
	}
	for _, s := range p.stacks {
		p.take(s.HandleTimeout(p.now, nil))
	}
}

func (p *pair) take(out []Effect) {
	for _, e := range out {
		if e.Kind == Send {
			p.count++
			q := *e.Packet
			q.Header.Stamp, q.Header.Counter = p.now, p.count
			p.sent = append(p.sent, q)
		}
	}
}

// An incarnation that ends with evidence against its clock begins nothing new, at
// whatever time: no request of it follows, and its last packets free no votes.
func distrustBeginsNothing(t testing.TB) {
	for _, rank := range []leader.RankBy{leader.Stable, leader.ByID} {
		for wait := range 60 {
			p := newPair(rank)
			leads := func() *Stack {
				for _, s := range p.stacks {
					if s.Leads(p.now) && s.Election().Support().Len() == 2 {
						return s
					}
				}
				return nil
			}
			for leads() == nil {
				p.step()
			}
			for range wait {
				p.step()
			}
			s := leads()
			require.NotNil(t, s)
			p.now = p.now.Add(time.Millisecond)
			packets := 0
			for _, e := range s.Distrust(p.now, nil) {
				if e.Kind == Send {
					packets++
					require.Zero(t, e.Packet.Frames&(wire.FrameRequest|wire.FrameRelease), "after %d ms", wait)
					require.False(t, e.Packet.State.Leading)
				}
			}
			require.Equal(t, 1, packets, "the peer learns that it does not lead")
			require.False(t, s.Leads(p.now))
		}
	}
}

func TestDistrustBeginsNothingNew(t *testing.T) { distrustBeginsNothing(t) }
