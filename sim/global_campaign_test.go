package sim

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

func TestCampaignWithQuorums(t *testing.T) {
	for _, mode := range []leader.Mode{leader.Available, leader.Strict} {
		for _, by := range []leader.RankBy{leader.Stable, leader.ByID} {
			t.Run(fmt.Sprintf("%v/%v", mode, by), func(t *testing.T) {
				t.Parallel()
				for seed := uint64(1); seed <= 10; seed++ {
					for _, timing := range []timed.Timing{timed.LAN(), timed.Local(), timed.WAN()} {
						r, err := Run(seed, Options{Mode: mode, RankBy: by, Roughness: float64(1 + seed%4), Timing: timing,
							Duration: 150 * timing.Expires, Nodes: 1 + int(seed%7), Quorum: RandomQuorum, Codec: seed%5 == 0})
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

func TestQuorumsOfAWorld(t *testing.T) {
	for text, want := range map[string]string{"majority:1,6": "lists node 6 of a world with 5 nodes",
		"explicit:1/2": "Quorum: quorum: the quorums {1} and {2} have no node in common"} {
		_, err := Run(1, Options{Quorum: text})
		require.ErrorContains(t, err, want)
	}
	kinds := map[string]int{}
	for seed := uint64(1); seed <= 200; seed++ {
		g := newGlobally(seed, &Options{Nodes: 6, Quorum: RandomQuorum})
		s, err := quorum.Parse(g.system.String())
		require.NoError(t, err)
		require.Equal(t, g.system.Digest(), newGlobally(seed, &Options{Nodes: 6, Quorum: RandomQuorum}).system.Digest(), "a seed has one")
		require.True(t, s.Members().Subset(timed.SetOf(1, 2, 3, 4, 5, 6)))
		kinds[s.String()[:4]]++
	}
	require.Len(t, kinds, 4)
}

func TestCasesKeepTheQuorumSystem(t *testing.T) {
	c, err := CaseOf(3, Options{Quorum: "majority:1,2,3", Duration: 1e9})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, c.Write(&b))
	again, err := ReadCase(&b)
	require.NoError(t, err)
	require.Equal(t, "majority:1,2,3", again.Options.Quorum)
	x, err := c.Run()
	require.NoError(t, err)
	y, err := again.Run()
	require.NoError(t, err)
	require.Equal(t, x.Hash, y.Hash)
}
