//go:build mutants

package sim

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/leader"
)

func TestExplore(t *testing.T) {
	if os.Getenv("EXPLORE") == "" {
		t.Skip()
	}
	for id := mutant.ID(1); int(id) < mutant.Count; id++ {
		mutant.Set(id)
		line := fmt.Sprintf("%2d", id)
		for _, mode := range []leader.Mode{leader.Available, leader.Strict} {
			for _, by := range []leader.RankBy{leader.Stable, leader.ByID} {
				for _, rough := range []float64{1, 4} {
					hit := "-"
					for seed := uint64(1); seed <= 150; seed++ {
						r, _ := Run(seed, Options{Mode: mode, RankBy: by, Roughness: rough, Duration: 20 * time.Second})
						if r.Violation != nil {
							hit = fmt.Sprintf("%d:%s", seed, r.Violation.Check)
							break
						}
					}
					line += fmt.Sprintf(" %12s", hit)
				}
			}
		}
		fmt.Println(line)
	}
	mutant.Set(mutant.None)
}
