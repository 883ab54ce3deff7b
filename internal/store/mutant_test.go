//go:build mutants

package store

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/planted"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// Each planted bug of the store is noticed by a world of its test.
func TestMutantsAreKilled(t *testing.T) {
	for name, noticed := range map[string]func(*testing.T) bool{
		"KvKindOfTheLog":  func(t *testing.T) bool { return !oneKind(t) },
		"KvKindUnwritten": func(t *testing.T) bool { return unnotedKind(t) == nil },
		"KvReadsLocally": func(t *testing.T) bool {
			for seed := range uint64(40) {
				if ok, _ := play(t, seed); !ok {
					return true
				}
			}
			return false
		},
		"KvSessionIgnored": func(t *testing.T) bool {
			for seed := range uint64(40) {
				if ok, _ := playSessions(t, seed); !ok {
					return true
				}
			}
			return false
		},
		"KvHeldUpTaken":        func(*testing.T) bool { return !heldUpIsTold() },
		"KvLagTaken":           func(t *testing.T) bool { return holdTheStoreUp(t, 0) != "" },
		"KvStaleTaken":         func(t *testing.T) bool { return staleIsTold(t) != "" },
		"KvOwnDiskOfOthers":    func(*testing.T) bool { return ownDiskIsToldApart() != "" },
		"KvNameTwice":          func(*testing.T) bool { return !namesDiffer() },
		"KvMixedUnnoticed":     func(t *testing.T) bool { mixed, _ := saysInMixedViews(t); return mixed },
		"KvCertainClock":       func(t *testing.T) bool { return !tellsItsClock(t) },
		"KvFreshnessCut":       func(*testing.T) bool { got, want := answersFresh(); return !reflect.DeepEqual(got, want) },
		"KvTransitionalUntold": func(*testing.T) bool { got, want := outcomesAreTold(); return !reflect.DeepEqual(got, want) },
		"KvTraceCut":           func(*testing.T) bool { got, want := tracedWhole(); return got != want },
		"KvKindUnchecked":      func(t *testing.T) bool { return !refusesItsOpposite(t, kv.Linearizable) },
		"KvRefusalHidesUnknown": func(t *testing.T) bool {
			s := startStore(t, failaware.Config{ID: 1, Transport: memory.New(memory.Options{}).Transport(), Broadcast: &failaware.BroadcastConfig{}}, Config{Kind: kv.Partitionable})
			defer s.Close()
			return !saysUnknown(s, &replicate.NotAcceptingError{})
		},
		"KvNoStandIn": func(t *testing.T) bool { return !endsWithoutTheFirst(t) },
		"KvRestoreUnheard": func(t *testing.T) bool {
			var state bytes.Buffer
			require.NoError(t, kv.New(kv.Partitionable).Snapshot(&state))
			return !restoreRings(t, state.Bytes())
		},
	} {
		t.Run(name, func(t *testing.T) {
			mutant.Set(name)
			defer mutant.Set(mutant.None)
			if !noticed(t) {
				t.Error("not noticed")
			}
		})
	}
	if planted.TestName != "TestMutantsAreKilled" {
		t.Error("the table names another test")
	}
}
