package sim

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// Same seed, same trace, also when packets pass through the wire format: what
// the machines say and hear is the same.
func TestSameSeedSameHash(t *testing.T) {
	for seed := uint64(1); seed <= 10; seed++ {
		opt := Options{Roughness: 3}
		a, err := Run(seed, opt)
		require.NoError(t, err)
		b, err := Run(seed, opt)
		require.NoError(t, err)
		opt.Codec = true
		c, err := Run(seed, opt)
		require.NoError(t, err)
		require.Nil(t, c.Violation)
		require.Equal(t, a.Hash, b.Hash)
		require.Equal(t, a.Hash, c.Hash)
		require.Equal(t, a.Events, c.Events)
	}
	a, _ := Run(1, Options{})
	b, _ := Run(2, Options{})
	require.NotEqual(t, a.Hash, b.Hash)
}

// Two seeds of each size of the group, with each preset. The campaigns of internal/campaign
// run more of them.
func TestCampaign(t *testing.T) {
	for _, mode := range []leader.Mode{leader.Available, leader.Strict} {
		for _, by := range []leader.RankBy{leader.Stable, leader.ByID} {
			for _, roughness := range []float64{1, 4} {
				t.Run(fmt.Sprintf("%v/%v/%v", mode, by, roughness), func(t *testing.T) {
					t.Parallel()
					for seed := uint64(1); seed <= 10; seed++ {
						for _, timing := range []timed.Timing{timed.LAN(), timed.Local(), timed.WAN()} {
							r, err := Run(seed, Options{Mode: mode, RankBy: by, Roughness: roughness, Timing: timing,
								Duration: 150 * timing.Expires, Nodes: 3 + int(seed%5)})
							require.NoError(t, err)
							if r.Violation != nil {
								t.Fatalf("%v (Expires %v)", r.Violation, timing.Expires)
							}
						}
					}
				})
			}
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, opt := range []Options{{Nodes: 256}, {Collation: leader.Collation{Above: 5, Fanout: 1}}, {Nodes: -1}, {Duration: -1}, {Roughness: 11}, {Rest: -1}, {Rest: MaxDuration + 1}, {Timing: timed.Timing{LockTime: 1}}} {
		_, err := Run(1, opt)
		require.Error(t, err, "%+v", opt)
	}
}
