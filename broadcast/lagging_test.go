package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// lasting returns the members that a node waits for with no progress for a while, and those whose
// messages do not come to it.
func (g *trio) lasting(by int) (late, missing timed.Set) {
	before := g.nodes[by].Waits(nil)
	g.run(100 * aFewPeriods)
	for _, w := range g.nodes[by].Waits(nil) {
		for _, b := range before {
			if w != b {
				continue
			}
			if w.Kind == WaitMessages {
				missing.Add(w.Member)
			} else {
				late.Add(w.Member)
			}
		}
	}
	return late, missing
}

// namesWhoLags reports whether each node names what large packets do not do: they do not come to
// the third member, or also not from it. The others are sent to each by each.
func namesWhoLags(t testing.TB) bool {
	good := true
	for sender := range 2 {
		g := newTrio(3, Config{})
		small := true
		g.drop = func(_, to int, p *Packet) bool { return to == 2 && small && large(p) }
		lags := func(by, size int) (late, missing timed.Set) {
			_, err := g.cast(by, make([]byte, size), Options{Order: TotalOrder, Atomicity: StrictAtomicity})
			require.NoError(t, err)
			g.run(100 * aFewPeriods)
			return g.lasting(sender)
		}
		for by := range 3 {
			late, missing := lags(by, 10)
			good = good && late.Empty() && missing.Empty()
		}
		for range 3 { // the last sender was the third member, which decides
			late, missing := lags(sender, 1000)
			good = good && late == timed.SetOf(3) && missing.Empty()
		}
		_, missing := g.lasting(2)
		good = good && missing == timed.SetOf(timed.NodeID(sender+1))
		small = false
		late, missing := lags(sender, 1000)
		good = good && late.Empty() && missing.Empty()
	}
	return good
}

func TestWhoLagsIsNamed(t *testing.T) { require.True(t, namesWhoLags(t)) }

// namesWhoseMessagesLack loses the large packets of the third member, which sends. It may order
// them, or have them ordered: the others lack them, and it waits for the others.
func namesWhoseMessagesLack(t testing.TB) bool {
	good := true
	for first := range 3 {
		g := newTrio(3, Config{})
		g.drop = func(from, to int, p *Packet) bool { return (from == 2 || to == 2) && large(p) }
		for _, by := range []int{first, 2} {
			_, err := g.cast(by, make([]byte, 10+990*(by/2)), Options{Order: TotalOrder, Atomicity: StrictAtomicity})
			require.NoError(t, err)
			g.run(100 * aFewPeriods)
		}
		for i := range 2 {
			_, missing := g.lasting(i)
			good = good && missing == timed.SetOf(3)
		}
		late, missing := g.lasting(2)
		good = good && !late.Empty() && !late.Has(3) && missing.Empty()
	}
	return good
}

func TestWhoseMessagesLackIsNamed(t *testing.T) { require.True(t, namesWhoseMessagesLack(t)) }

// large reports whether a packet has a large message.
func large(p *Packet) bool {
	for i := range p.Runs {
		if len(p.Runs[i].Payload) > 300 {
			return true
		}
	}
	return false
}
