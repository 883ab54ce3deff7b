package sim

import (
	"testing"
	"time"

	"github.com/failaware/failaware/leader"
)

func TestCampaign(t *testing.T) {
	for _, mode := range []leader.Mode{leader.Available, leader.Strict} {
		for _, by := range []leader.RankBy{leader.Stable, leader.ByID} {
			t.Run(mode.String()+"-"+by.String(), func(t *testing.T) {
				t.Parallel()
				for seed := uint64(1); seed <= 40; seed++ {
					r, err := Run(seed, Options{Mode: mode, RankBy: by, Duration: 20 * time.Second})
					if err != nil {
						t.Fatal(err)
					}
					if r.Violation != nil {
						t.Fatal(r.Violation)
					}
				}
			})
		}
	}
}
