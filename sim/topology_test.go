package sim

import (
	"testing"

	"github.com/failaware/failaware/leader"
)

func TestTopologies(t *testing.T) {
	for _, mode := range []leader.Mode{leader.Available, leader.Strict} {
		for _, by := range []leader.RankBy{leader.Stable, leader.ByID} {
			t.Run(mode.String()+"-"+by.String(), func(t *testing.T) {
				t.Parallel()
				for seed := uint64(1); seed <= 100; seed++ {
					r, err := RunTopology(seed, Options{Mode: mode, RankBy: by, Nodes: 6})
					if err != nil {
						t.Fatal(err)
					}
					if r.Violation != nil {
						t.Errorf("%v: %v", r.Topology.Edges, r.Violation)
					}
				}
			})
		}
	}
}
