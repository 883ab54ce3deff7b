package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// namesWhoLags reports whether a sender's node names a member that large packets do not reach,
// whoever has to order them, until they reach it.
func namesWhoLags(t testing.TB) bool {
	good := true
	for sender := range 2 {
		g := newTrio(3, Config{})
		small := true
		g.drop = func(_, to int, p *Packet) bool {
			for i := range p.Runs {
				if to == 2 && small && len(p.Runs[i].Payload) > 300 {
					return true
				}
			}
			return false
		}
		lags := func(by, size int) timed.Set {
			_, err := g.cast(by, make([]byte, size), Options{Order: TotalOrder, Atomicity: StrictAtomicity})
			require.NoError(t, err)
			g.run(100 * aFewPeriods)
			all, _ := g.nodes[sender].Lagging()
			return all
		}
		for by := range 3 {
			good = good && lags(by, 10) == timed.Set{}
		}
		for range 3 { // the last sender was the third member, which decides
			good = good && lags(sender, 1000) == timed.SetOf(3)
		}
		small = false
		good = good && lags(sender, 1000) == timed.Set{}
	}
	return good
}

func TestWhoLagsIsNamed(t *testing.T) { require.True(t, namesWhoLags(t)) }
