//go:build mutants

package replicate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/mutant"
)

func TestAttemptsNoticeSessionForgetsAttempts(t *testing.T) {
	mutant.Set("SessionForgetsAttempts")
	defer mutant.Set(mutant.None)
	require.NotErrorIs(t, failsAfterUnknown(), failaware.ErrOutcomeUnknown)
}
