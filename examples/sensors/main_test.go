package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/sim/memory"
)

// All nodes write the same log, in the order of time.
func TestOneLogInTheOrderOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		net := memory.New(memory.Options{Seed: 1})
		var nodes []*failaware.Node
		logs := make([]strings.Builder, 3)
		for i := range logs {
			n, err := failaware.Start(ctx, failaware.Config{ID: failaware.NodeID(i + 1), Transport: net.Transport(),
				Broadcast: &failaware.BroadcastConfig{}})
			require.NoError(t, err)
			nodes = append(nodes, n)
			running.Go(func() { _ = follow(ctx, n, &logs[i]) })
		}
		b := nodes[0].Bounds()
		time.Sleep(b.Rejoin + b.View)
		for k := range 20 {
			require.NoError(t, report(ctx, nodes[k%3], fmt.Sprint("reading ", k)))
			time.Sleep(3 * time.Millisecond)
		}
		time.Sleep(time.Second)
		stop()
		running.Wait()
		readings := func(i int) (lines []string) {
			for line := range strings.Lines(logs[i].String()) {
				if strings.Contains(line, "reading") {
					lines = append(lines, line)
				}
			}
			return lines
		}
		require.Len(t, readings(0), 20)
		require.True(t, slices.IsSorted(readings(0)), "each line begins with its time")
		require.Equal(t, readings(0), readings(1))
		require.Equal(t, readings(0), readings(2))
	})
}
