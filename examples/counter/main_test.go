package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/replicate"
)

func TestNothingIsLostOrCountedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in virtual time
		var out strings.Builder
		require.NoError(t, play(t.Context(), &out), out.String())
		require.Equal(t, 5, strings.Count(out.String(), " counts 17\n"))
	})
}

func TestMergeTakesTheLargerEntry(t *testing.T) {
	var branches []replicate.Branch
	for _, c := range []counter{{1: 11, 2: 2}, {1: 10, 5: 4}} {
		var b bytes.Buffer
		require.NoError(t, c.Snapshot(&b))
		branches = append(branches, replicate.Branch{State: &b})
	}
	var merged counter
	require.NoError(t, merged.Merge(branches))
	require.Equal(t, counter{1: 11, 2: 2, 5: 4}, merged)
}
