//go:build mutants

package api

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/api", map[mutant.ID]func(testing.TB){
		mutant.HoldFromTheAnswer: holdCountsFromTheQuestion,
	})
}
