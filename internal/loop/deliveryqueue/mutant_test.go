//go:build mutants

package deliveryqueue

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
	"pgregory.net/rapid"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/loop/deliveryqueue", map[string]func(testing.TB){
		"DeliveriesShrinkStaged":  shrinksLater,
		"DeliveriesUnreadAll":     unreadKeepsOne,
		"DeliveriesForgetReturns": func(t testing.TB) { accountedFor(t.(rapid.TB)) },
	})
}
