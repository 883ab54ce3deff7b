package sim

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

func TestCampaignWithEpochs(t *testing.T) {
	for _, mode := range []leader.Mode{leader.Available, leader.Strict} {
		for _, by := range []leader.RankBy{leader.Stable, leader.ByID} {
			t.Run(fmt.Sprintf("%v/%v", mode, by), func(t *testing.T) {
				t.Parallel()
				var reached [Situations]uint64
				for seed := uint64(1); seed <= 40; seed++ {
					opt := Options{Mode: mode, RankBy: by, Roughness: float64(1 + seed%3), Nodes: 2 + int(seed%6),
						Quorum: RandomQuorum, Epochs: true, Codec: seed%5 == 0}
					if seed%4 == 0 {
						opt.Collation = leader.Collation{Above: 3, Fanout: 2}
					}
					if seed%7 == 0 {
						opt.Timing, opt.Duration = timed.WAN(), 150*timed.WAN().Expires
					}
					r, err := Run(seed, opt)
					require.NoError(t, err)
					if r.Violation != nil {
						t.Fatal(r.Violation)
					}
					for s := range reached {
						reached[s] += r.Counters.Sometimes[s]
					}
				}
				for _, s := range []Situation{EpochChanged, EpochForced, EpochRepeated, EdictAcrossEpochs} {
					require.NotZero(t, reached[s], "%v", s)
				}
			})
		}
	}
}

func TestEpochsOfAWorld(t *testing.T) {
	_, err := Run(1, Options{Epochs: true})
	require.ErrorContains(t, err, "Epochs: needs a Quorum")
	c, err := CaseOf(3, Options{Quorum: "majority:1,2,3", Epochs: true, Duration: 5e9})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, c.Write(&b))
	again, err := ReadCase(&b)
	require.NoError(t, err)
	require.True(t, again.Options.Epochs)
	x, err := c.Run()
	require.NoError(t, err)
	y, err := again.Run()
	require.NoError(t, err)
	require.Equal(t, x.Hash, y.Hash)
}
