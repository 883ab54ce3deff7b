//go:build mutants

package handler

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/handler", map[string]func(testing.TB){
		"HandlerMissOverwritten": missesAddUp,
		"HandlerOutputBegins":    outputEnds,
		"HandlerFloodsTheLog":    overflowsAreLoggedOnce,
	})
}
