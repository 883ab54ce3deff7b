package sim

import (
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

var castWorlds = flag.Uint64("broadcast.seeds", 3, "seeds of each campaign with a broadcast")
var castFrom = flag.Uint64("broadcast.first", 1, "the first of them")

func TestCampaignWithBroadcast(t *testing.T) {
	for _, mode := range []leader.Mode{leader.Available, leader.Strict} {
		for _, by := range []leader.RankBy{leader.Stable, leader.ByID} {
			for _, roughness := range []float64{1, 2, 4} {
				t.Run(fmt.Sprintf("%v/%v/%v", mode, by, roughness), func(t *testing.T) {
					t.Parallel()
					for seed := *castFrom; seed < *castFrom+*castWorlds; seed++ {
						for _, timing := range []timed.Timing{timed.LAN(), timed.Local(), timed.WAN()} {
							r, err := Run(seed, Options{Mode: mode, RankBy: by, Roughness: roughness, Timing: timing,
								Duration: 150 * timing.Expires, Nodes: 2 + int(seed%6), Broadcast: &Broadcast{}})
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

// Whatever clocks do, messages keep their order, come at most once, and are none
// that nobody sent.
func TestBroadcastWithBrokenClocks(t *testing.T) {
	for seed := *castFrom; seed < *castFrom+2**castWorlds; seed++ {
		for _, mode := range []leader.Mode{leader.Available, leader.Strict} {
			r, err := Run(seed, Options{Mode: mode, Roughness: 3, BrokenClocks: true, Nodes: 3 + int(seed%4), Broadcast: &Broadcast{}})
			require.NoError(t, err)
			if r.Violation != nil {
				t.Fatal(r.Violation)
			}
		}
	}
}
