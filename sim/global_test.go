package sim

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

func TestQuorumsOfAWorld(t *testing.T) {
	for text, want := range map[string]string{"majority:1,6": "lists node 6 of a world with 5 nodes",
		"explicit:1/2": "Quorum: quorum: the quorums {1} and {2} have no node in common"} {
		_, err := Run(1, Options{Quorum: text})
		require.ErrorContains(t, err, want)
	}
	kinds := map[string]int{}
	for seed := uint64(1); seed <= 200; seed++ {
		g := newGlobalState(seed, &Options{Nodes: 6, Quorum: RandomQuorum})
		s, err := quorum.Parse(g.system.String())
		require.NoError(t, err)
		require.Equal(t, g.system.Digest(), newGlobalState(seed, &Options{Nodes: 6, Quorum: RandomQuorum}).system.Digest(), "a seed has one")
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
