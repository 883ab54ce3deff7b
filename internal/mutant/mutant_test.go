//go:build !mutants

package mutant

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A test of a planted bug must fail in a build without planted bugs.
func TestAnOrdinaryBuildRefusesBugs(t *testing.T) {
	require.False(t, On("VoteTwice"))
	require.PanicsWithValue(t, `mutant: this build contains no planted bugs, so not "VoteTwice": build it with go run ./internal/mutant/plant`,
		func() { Set("VoteTwice") })
	require.NotPanics(t, func() { Set(None) })

	names = []string{"VoteTwice"}
	defer func() { names = nil }()
	require.PanicsWithValue(t, `mutant: there is no planted bug "VoteThrice"`, func() { Set("VoteThrice") })
	Set("VoteTwice")
	require.True(t, On("VoteTwice"))
	Set(None)
	require.False(t, On("VoteTwice"))
}
