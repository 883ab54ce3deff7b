package campaign

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/situation"
)

func TestTheTableIsSound(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Table() {
		require.False(t, seen[c.Name], "%s twice", c.Name)
		seen[c.Name] = true
		require.NotEmpty(t, c.Purpose, c.Name)
		require.Equal(t, strings.ToLower(c.Name), c.Name)
		require.Positive(t, c.Check+c.Test+uint64(c.Long), "%s is in no set", c.Name)
		for seed := uint64(1); seed <= 100; seed++ {
			require.NoError(t, c.OptionsOf(seed).Validate(), c.Name)
		}
		for _, s := range c.Rare {
			require.True(t, slices.Contains(seldom, s) || slices.Contains(sim.Expected(c.Options), s), "%s: %v is not expected anyway", c.Name, s)
		}
		require.Subset(t, c.Demands(), c.Reach)
	}
}

func TestSets(t *testing.T) {
	for _, set := range []Set{Check, Test, Long, All} {
		got, err := ParseSet(string(set))
		require.NoError(t, err)
		require.Equal(t, set, got)
		for _, c := range In(set) {
			require.True(t, set == Long || c.Seeds(set) > 0, "%s in %s", c.Name, set)
		}
	}
	require.Len(t, In(All), len(Table()))
	require.Less(t, len(In(Check)), len(Table()))
	_, err := ParseSet("some")
	require.ErrorContains(t, err, "check, test, long and all")
}

func TestFind(t *testing.T) {
	c, err := Find("rough-strict")
	require.NoError(t, err)
	require.Equal(t, sim.Options{Roughness: 4, Mode: leader.Strict}, c.Options)
	_, err = Find("topo")
	require.ErrorContains(t, err, "topology-strict")
	require.NotContains(t, err.Error(), "rough")
	_, err = Find("moon")
	require.ErrorContains(t, err, "rough")
}

// Varied campaigns have every mode with every rank, and both with every preset that
// they use.
func TestVariedCampaignsVary(t *testing.T) {
	for _, c := range Table() {
		if c.Vary == nil {
			continue
		}
		kinds, nodes := map[[2]uint8]bool{}, map[int]bool{}
		for seed := uint64(1); seed <= max(c.Check, c.Test, 24); seed++ {
			o := c.OptionsOf(seed)
			kinds[[2]uint8{uint8(o.Mode), uint8(o.RankBy)}], nodes[o.Nodes] = true, true
			require.Equal(t, o, c.OptionsOf(seed))
		}
		require.GreaterOrEqual(t, len(kinds), 2, c.Name)
		require.GreaterOrEqual(t, len(nodes), 4, c.Name)
	}
}

func TestMissingSituations(t *testing.T) {
	c := Campaign{Name: "x", Test: 10, Options: sim.Options{Nodes: 1}, Rare: []situation.Kind{situation.Slept}, Reach: []string{"own"}}
	tally := sim.Tally{Seeds: 9}
	require.Empty(t, c.Missing(&tally), "too few seeds to demand anything")
	tally.Seeds = 10
	missing := c.Missing(&tally)
	require.Contains(t, missing, "own")
	require.Contains(t, missing, situation.LeaseExpired.String())
	require.NotContains(t, missing, situation.Slept.String())
	require.NotContains(t, missing, situation.TwoLeaders.String(), "one node has no rival")
	tally.Reached = map[string]uint64{"own": 1}
	require.False(t, slices.Contains(c.Missing(&tally), "own"))
}

// Every campaign of set check keeps all promises in its first seed. The sets have more.
func TestCampaigns(t *testing.T) {
	for _, c := range In(Check) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			s := sim.Campaign{Options: c.Options, Play: c.Play, Seeds: 1, Jobs: 1}
			if c.Vary != nil {
				s.Make = c.OptionsOf
			}
			_, v, err := s.Run(t.Context())
			require.NoError(t, err)
			if v != nil {
				t.Fatal(v)
			}
		})
	}
}
