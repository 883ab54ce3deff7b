//go:build mutants

package api

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

func TestATakenSocketIsNoticed(t *testing.T) {
	mutant.Set("SocketOfTheBusy")
	defer mutant.Set(mutant.None)
	stays, err := askForBusySocket(t)
	require.False(t, err != nil && stays)
}
