//go:build mutants

package replicate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "replicate", map[string]func(testing.TB){
		"BarrierAcrossRestore":     barrierAcrossRestore,
		"BarrierTransitionalShown": barriersShow,
		"BootstrapAtAReport":       bootstrapsAgain,
		"BootstrapOnce":            bootstrapsAgain,
		"ReplicaUnread":            readsAtItsPlace,
		"ReadOfAnotherView":        leasedInOneView,
		"ReadThroughAView":         staleSaysSo,
		"SessionPauseForgets":      pauseFails,
		"SessionsUncompared":       sessionsAreCompared,
		"SessionUnrecognized":      attemptsAreRecognized,
		"SessionsUnreadMerged":     damagedSessionsAreRefused,
		"BranchUnread":             branchUnread,
		"AppliedForCertain":        outcomesSayAll,
		"BesideIsRegular":          messagesSayAll,
	})
}

func TestAttemptsNoticeSessionForgetsAttempts(t *testing.T) {
	mutant.Set("SessionForgetsAttempts")
	defer mutant.Set(mutant.None)
	require.NotErrorIs(t, failsAfterUnknown(), failaware.ErrOutcomeUnknown)
}
