package main

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// held is a counter that stops at long commands until its gate opens.
type held struct {
	counter
	gate chan struct{}
}

func (h held) Apply(op replicate.Operation) any {
	if len(op.Command) > 100 {
		<-h.gate
	}
	return h.counter.Apply(op)
}

// A node whose process goes on in another incarnation, as after a suspend of the machine,
// counts nothing twice. Here its application is too slow for a while.
func TestAnotherIncarnationCountsNothingTwice(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
	defer cancel()
	g := &group{ctx: ctx, net: memory.New(memory.Options{Seed: 1})}
	defer g.close()
	gate := make(chan struct{})
	for id := failaware.NodeID(1); id <= 3; id++ {
		n, err := failaware.Start(ctx, failaware.Config{ID: id, Transport: g.net.Transport(), Timing: failaware.WAN(),
			Broadcast: &failaware.BroadcastConfig{Backlog: 8 << 10, Window: 48 << 10, MaxPayload: 1 << 10, SlowAfter: 50 * time.Millisecond}})
		require.NoError(t, err)
		c := counter{}
		var app replicate.Application = c
		if id == 1 {
			app = held{c, gate}
		}
		r, err := replicate.Start(n, app, replicate.Config{})
		require.NoError(t, err)
		g.nodes, g.all, g.state = append(g.nodes, n), append(g.all, r), append(g.state, c)
	}
	require.NoError(t, g.until(io.Discard, 0, 1, 2, 3))
	require.NoError(t, g.add(1, 10))
	require.NoError(t, g.until(io.Discard, 10, 1, 2, 3))
	sender, stop := context.WithCancel(ctx)
	for range 64 {
		go func() {
			for sender.Err() == nil { // commands that change nothing
				_, _ = g.all[1].Submit(sender, bytes.Repeat([]byte("x"), 900))
			}
		}()
	}
	for e := range g.nodes[0].EventsSince(ctx, 0) {
		if r, ok := e.(event.Restarted); ok {
			t.Log(r)
			break
		}
	}
	stop()
	close(gate)
	require.NoError(t, ctx.Err())
	for ctx.Err() == nil && !(g.all[0].Read(func() {}).UpToDate && g.nodes[0].View().View.Set.Len() == 3) {
		time.Sleep(10 * time.Millisecond)
	}
	require.NoError(t, g.add(1, 1))
	require.NoError(t, g.until(io.Discard, 11, 1, 2, 3))
}
