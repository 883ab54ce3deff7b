//go:build mutants

package sim_test

import (
	"cmp"
	"errors"
	"flag"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/campaign"
	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/planted"
	"github.com/failaware/failaware/sim"
)

var firstSeed = flag.Uint64("first", 0, "the first seed in which planted bugs are looked for; 0: 1, or the one that the table has learned")

// worldNamed returns what plays a seed of a kind of world of the table of planted
// bugs: a campaign or a scenario.
func worldNamed(name string) (func(seed uint64) error, error) {
	if play := sim.Scenarios[name]; play != nil {
		return play, nil
	}
	c, err := campaign.Find(name)
	return seedOf(&c), err
}

// seedOf returns what plays a seed of a campaign.
func seedOf(c *campaign.Campaign) func(seed uint64) error {
	return func(seed uint64) error {
		play := c.Play
		if play == nil {
			play = sim.Run
		}
		r, err := play(seed, c.OptionsOf(seed))
		if err == nil && r.Violation != nil {
			err = r.Violation
		}
		return err
	}
}

func TestMutantsAreKilled(t *testing.T) {
	for _, k := range planted.Kills() {
		if k.Package != "sim" {
			continue
		}
		t.Run(k.Mutant.Name+"/"+k.World, func(t *testing.T) {
			play, err := worldNamed(k.World)
			require.NoError(t, err)
			if k.Check == "invariant" {
				mutant.Set(k.Mutant.Name)
			} else {
				mutant.SetUnaudited(k.Mutant.Name)
			}
			defer mutant.Set(mutant.None)
			first := cmp.Or(*firstSeed, k.From)
			seed := first
			for ; seed < first+k.Seeds && err == nil; seed++ {
				err = play(seed)
			}
			mutant.Set(mutant.None)
			require.Error(t, err, "mutant %s survived %d seeds", k.Mutant.Name, seed-first)
			t.Log(err)
			check := "scenario"
			if v := new(sim.Violation); errors.As(err, &v) {
				check = v.Check
			}
			t.Attr("check", check)
			t.Attr("seeds", strconv.FormatUint(seed-cmp.Or(*firstSeed, 1), 10)) // those before the learned one count
			require.Equal(t, cmp.Or(k.Check, check), check, "%v", err)
			require.NoError(t, play(seed-1), "seed %d must pass without mutant %s", seed-1, k.Mutant.Name)
		})
	}
}

var worldSeeds = flag.Uint64("seeds", 10, "the number of seeds in TestWorldsHold of a campaign with 20 seeds in set check; others have more or fewer, as there")

// TestWorldsHold plays all campaigns and scenarios. The campaign of mutants runs it
// to find out whether a bug of a patch is noticed.
func TestWorldsHold(t *testing.T) {
	hold := func(name string, play func(uint64) error, first, last uint64) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := first; seed <= last; seed++ {
				if err := play(seed); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	first := cmp.Or(*firstSeed, 1)
	last := first + *worldSeeds - 1
	for _, name := range slices.Sorted(maps.Keys(sim.Scenarios)) {
		hold(name, sim.Scenarios[name], first, min(last, sim.ScenarioSeeds))
	}
	for _, c := range campaign.In(campaign.Check) {
		const usual = 20
		before := (first - 1) * c.Check / usual
		hold(c.Name, seedOf(&c), before+1, before+max(*worldSeeds*c.Check/usual, 1))
	}
}
