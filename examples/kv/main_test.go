package main

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestTheScriptEndsEqualEverywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		require.NoError(t, play(t.Context(), &out))
		require.Equal(t, 12, strings.Count(out.String(), "\n"))
	})
}
