//go:build mutants

package sim

import (
	"flag"
	"maps"
	"slices"
	"testing"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

var worldSeeds = flag.Uint64("seeds", 10, "the number of seeds of each kind of world in TestWorldsHold")

// otherWorlds differ from those that planted bugs need: an unforeseen bug may
// show only there.
var otherWorlds = map[string]world{
	"rough-id":          {play: campaign, opt: Options{Roughness: 4, RankBy: leader.ByID}},
	"strict-id":         {play: campaign, opt: Options{Roughness: 2, Mode: leader.Strict, RankBy: leader.ByID}},
	"local":             {play: campaign, opt: Options{Timing: timed.Local(), Codec: true}},
	"broken-clocks":     {play: campaign, opt: Options{Roughness: 2, BrokenClocks: true}},
	"global-strict":     {play: campaign, opt: Options{Roughness: 2, Quorum: RandomQuorum, Mode: leader.Strict, RankBy: leader.ByID}},
	"epochs-collated":   {play: campaign, opt: Options{Roughness: 2, Nodes: 7, Quorum: RandomQuorum, Epochs: true, Codec: true, Collation: leader.Collation{Above: 3, Fanout: 2}}},
	"broadcast-wire":    {play: campaign, opt: Options{Roughness: 2, Broadcast: &Broadcast{}, Codec: true}},
	"broadcast-servers": {play: campaign, opt: Options{Roughness: 2, Broadcast: &Broadcast{}, Servers: &Servers{}}},
}

// TestWorldsHold plays all kinds of worlds. The campaign runs it to find out
// whether a bug of a patch is noticed.
func TestWorldsHold(t *testing.T) {
	all := maps.Clone(worlds)
	maps.Copy(all, otherWorlds)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := all[name]
			last := *firstSeed + *worldSeeds - 1
			if w.seeds > 0 {
				last = min(last, w.seeds)
			}
			for seed := *firstSeed; seed <= last; seed++ {
				if err := mayPanic(w.play)(seed, w.opt); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
