package main

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/sim/memory"
)

func TestALineSaysWhetherItHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 1})
		var nodes []*failaware.Node
		for id := failaware.NodeID(1); id <= 3; id++ {
			n, err := failaware.Start(t.Context(), failaware.Config{ID: id, Transport: net.Transport()})
			require.NoError(t, err)
			nodes = append(nodes, n)
		}
		bounds := nodes[0].Bounds()
		time.Sleep(bounds.Rejoin + bounds.View)
		for _, n := range nodes {
			require.Regexp(t, ` for at most .* \| view .* of \{1 2 3\}, up to date for at most `, line(n))
		}
		net.Pause(3) // it gets no processor: only its clock tells it
		time.Sleep(bounds.View)
		require.Regexp(t, `\| view .* of \{1 2 3\}, not up to date$`, line(nodes[2]))
	})
}
