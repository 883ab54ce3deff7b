//go:build mutants

package replicate_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// notLinearizable wants some world to show that a rule is missing.
func notLinearizable(t *testing.T, id string, by way) {
	mutant.Set(id)
	defer mutant.Set(mutant.None)
	const worlds = 1500 // ten times what is usually needed
	for seed := range uint64(worlds) {
		if ok, _ := playNumbers(t, seed, systems[0], by); !ok {
			t.Logf("noticed by seed %d", seed)
			return
		}
	}
	require.Fail(t, "not noticed")
}

func TestLinearizabilityNoticesUnconfirmed(t *testing.T) {
	notLinearizable(t, "ReplicaUnconfirmed", latest)
}

func TestLinearizabilityNoticesAnyBarrier(t *testing.T) {
	notLinearizable(t, "ReplicaAnyBarrier", latest)
}

func TestLinearizabilityNoticesReadUndelivered(t *testing.T) {
	notLinearizable(t, "ReadUndelivered", either)
}

func TestStorageNoticesStateOfUnknownViews(t *testing.T) {
	mutant.Set("StateOfUnknownViews")
	defer mutant.Set(mutant.None)
	withoutStateDirectory(t, func(t *testing.T, _ *memory.Network, _, _ string, first, _ error) {
		require.NoError(t, first, "noticed")
	})
}

func TestStorageNoticesStateRefusedOnce(t *testing.T) {
	mutant.Set("StateRefusedOnce")
	defer mutant.Set(mutant.None)
	withoutStateDirectory(t, func(t *testing.T, _ *memory.Network, _, _ string, first, second error) {
		require.Error(t, first)
		require.NoError(t, second, "noticed")
	})
}

func TestDecliningNoticesReplicaMissedEndsUnsure(t *testing.T) {
	mutant.Set("ReplicaMissedEndsUnsure")
	defer mutant.Set(mutant.None)
	require.NotEmpty(t, declinedAndCutOff(t))
}

func TestReadsNoticeReadUnloaded(t *testing.T) {
	mutant.Set("ReadUnloaded")
	defer mutant.Set(mutant.None)
	synctest.Test(t, func(t *testing.T) {
		before, _ := joined(t)
		require.True(t, before.UpToDate, "noticed")
	})
}

func TestStorageNoticesStoredNeedNotLast(t *testing.T) {
	mutant.Set("StoredNeedNotLast")
	defer mutant.Set(mutant.None)
	require.False(t, leftBehind(t).Lasting)
}

func TestChangesNoticeOrderAsConfigured(t *testing.T) { noticesChange(t, "OrderAsConfigured") }
func TestChangesNoticeChangeUnasked(t *testing.T)     { noticesChange(t, "ChangeUnasked") }
func TestChangesNoticeChangeEndsEarly(t *testing.T)   { noticesChange(t, "ChangeEndsEarly") }
func TestChangesNoticeNewEpochGoesOn(t *testing.T)    { noticesChange(t, "NewEpochGoesOn") }

func noticesChange(t *testing.T, id string) {
	mutant.Set(id)
	defer mutant.Set(mutant.None)
	require.NotEmpty(t, replaceQuorum(t, true))
}

func TestEventsNoticeEventOutside(t *testing.T) {
	mutant.Set("EventOutside")
	defer mutant.Set(mutant.None)
	require.NotEmpty(t, withinEvents(t, false))
}

func TestLeasesNoticeReadStale(t *testing.T) {
	mutant.Set("ReadStale")
	defer mutant.Set(mutant.None)
	_, stale := staleReads(t)
	require.NotZero(t, stale)
}

func TestGroupNoticesStorePositionsUnrestored(t *testing.T) {
	mutant.Set("StorePositionsUnrestored")
	defer mutant.Set(mutant.None)
	require.True(t, appliesTwice(t, false))
}

func TestGroupNoticesStoreLateState(t *testing.T) {
	mutant.Set("StoreLateState")
	defer mutant.Set(mutant.None)
	require.True(t, appliesTwice(t, true))
}

func TestSessionsNoticeSessionsUnsaved(t *testing.T) {
	mutant.Set("SessionsUnsaved")
	defer mutant.Set(mutant.None)
	require.ErrorIs(t, sessionAfterTransfer(t), replicate.ErrSessionExpired)
}

func TestSessionsNoticeSessionGivesUp(t *testing.T) {
	mutant.Set("SessionGivesUp")
	defer mutant.Set(mutant.None)
	var err error
	for range 40 { // the order of goroutines decides whether a split meets an operation on its way
		if err = submitThroughSplits(t); err != nil {
			break
		}
	}
	require.ErrorIs(t, err, failaware.ErrOutcomeUnknown)
}

// The node whose application hangs does not report its state to the next view.
func TestGroupNoticesReplicaHungUnread(t *testing.T) {
	mutant.Set("ReplicaHungUnread")
	defer mutant.Set(mutant.None)
	synctest.Test(t, func(t *testing.T) { require.ErrorIs(t, hang(t, hangs[1]), context.DeadlineExceeded) })
}

func TestFloodsNoticeLanesOneForAll(t *testing.T) {
	mutant.Set("LanesOneForAll")
	defer mutant.Set(mutant.None)
	require.Less(t, crowded.play(t).share, leastShare)
}

func TestFloodsNoticeLanesBulkFirst(t *testing.T) {
	mutant.Set("LanesBulkFirst")
	defer mutant.Set(mutant.None)
	require.Greater(t, leaving.play(t).submit, mostWait)
}

func TestMemoryNoticesReplicaAgainUnread(t *testing.T) {
	mutant.Set("ReplicaAgainUnread")
	defer mutant.Set(mutant.None)
	_, second, _ := allKilled(t)
	require.False(t, second[0].Lossy)
}

func TestSilentMembersNoticeSilentUntold(t *testing.T) {
	mutant.Set("SilentUntold")
	defer mutant.Set(mutant.None)
	soon, _ := silentIsNamed(t)
	require.Zero(t, soon)
}

func TestSilentMembersNoticeSilentToldOften(t *testing.T) {
	mutant.Set("SilentToldOften")
	defer mutant.Set(mutant.None)
	_, later := silentIsNamed(t)
	require.Greater(t, later, 2)
}
