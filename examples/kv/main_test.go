package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheScriptEndsEqualEverywhere(t *testing.T) {
	var out strings.Builder
	require.NoError(t, play(t.Context(), &out), out.String())
	require.Equal(t, 20, strings.Count(out.String(), " has "))
	require.Equal(t, 5, strings.Count(out.String(), " has again=one colour=yellow left=1 right=2 "))
	require.True(t, strings.HasSuffix(out.String(), "all five are equal, and hold the writes of both sides\n"))
}
