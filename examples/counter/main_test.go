package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

func TestNothingIsLostOrCountedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in virtual time
		var out strings.Builder
		require.NoError(t, play(t.Context(), &out), out.String())
		require.Equal(t, 5, strings.Count(out.String(), " counts 17\n"))
	})
}

// Nodes that stand still when they start have no incarnation yet. Each still has an entry of
// its own, or what one adds would hide what another does.
func TestEachProcessHasItsOwnEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 1})
		for id := failaware.NodeID(1); id <= 5; id++ {
			net.Pause(id)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		g, err := start(ctx, net)
		defer g.close()
		require.NoError(t, err)
		for id := failaware.NodeID(1); id <= 5; id++ {
			net.Resume(id)
		}
		for i, n := range g.nodes {
			require.NotEqual(t, n.Status().Boot.String(), g.entry[i], "which may be zero at the start, of several nodes")
		}
		for node := 1; node <= 5; node++ {
			require.NoError(t, g.add(node, 1))
		}
		require.NoError(t, g.until(io.Discard, 5, 1, 2, 3, 4, 5))
	})
}

func TestMergeTakesTheLargerEntry(t *testing.T) {
	var branches []replicate.Branch
	for _, c := range []counter{{"1/a": 11, "2/b": 2}, {"1/a": 10, "1/c": 3, "5/d": 4}} {
		var b bytes.Buffer
		require.NoError(t, c.Snapshot(&b))
		branches = append(branches, replicate.Branch{State: &b})
	}
	merged := counter{"6/e": 9}
	require.NoError(t, merged.Merge(branches))
	require.Equal(t, counter{"1/a": 11, "1/c": 3, "2/b": 2, "5/d": 4}, merged, "node 1 started again in the second part")
	require.EqualValues(t, 20, merged.sum())
}

func TestALostCommandIsMadeGoodByTheNext(t *testing.T) {
	c := counter{}
	apply := func(entry string, value uint64) {
		require.EqualValues(t, c.Apply(replicate.Operation{Command: command(entry, value)}), c.sum())
	}
	for _, value := range []uint64{1, 4, 2, 4} { // 2 was late, and one came twice
		apply("a", value)
	}
	require.EqualValues(t, 4, c.sum())
	apply("b", 1)
	require.EqualValues(t, 5, c.sum(), "the next process counts from 0")
	require.Error(t, c.Apply(replicate.Operation{Command: []byte("a -1")}).(error))
}
