package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/sim/memory"
)

// Three users see the same lines in the same order.
func TestThreeUsersSeeTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		net := memory.New(memory.Options{Seed: 1})
		var wait time.Duration
		var keys [3]*io.PipeWriter
		var screens [3]strings.Builder
		for i := range screens {
			n, err := failaware.Start(ctx, failaware.Config{ID: failaware.NodeID(i + 1), Transport: net.Transport(),
				Broadcast: &failaware.BroadcastConfig{}})
			require.NoError(t, err)
			wait = n.Bounds().Rejoin + n.Bounds().View
			in, out := io.Pipe()
			keys[i] = out
			running.Go(func() { _ = chat(ctx, n, in, &screens[i]) })
		}
		time.Sleep(wait)
		for k := range 9 {
			fmt.Fprintln(keys[k%3], "line", k)
		}
		time.Sleep(time.Second)
		for i := range keys {
			require.NoError(t, keys[i].Close())
		}
		stop()
		running.Wait()
		said := func(i int) string {
			_, lines, _ := strings.Cut(screens[i].String(), "-- here are {1 2 3}\n")
			return lines
		}
		require.Equal(t, 9, strings.Count(said(0), "line"), screens[0].String())
		require.Equal(t, said(0), said(1))
		require.Equal(t, said(0), said(2))
	})
}

// A user hears of lines that may be missing.
func TestLostLinesAreTold(t *testing.T) {
	id := func(sequence uint64) failaware.MessageID {
		return failaware.MessageID{Sender: 2, Boot: 7, Sequence: sequence}
	}
	for want, c := range map[string]failaware.Change{
		"-- 3 of your lines may be missing: ":    failaware.OutcomeLost{From: id(4), Through: id(6)},
		"-- your last lines may be missing: new": failaware.NewIncarnation{Boot: 8},
		"":                                       failaware.TransitionBegins{Next: &failaware.View{}},
	} {
		var out strings.Builder
		show(&out, &failaware.Delivery{Change: c})
		require.True(t, strings.HasPrefix(out.String(), want), out.String())
		require.Equal(t, want == "", out.String() == "")
	}
}

// A line that is too long does not end the chat without a word.
func TestLongLines(t *testing.T) {
	n, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Transport: memory.New(memory.Options{}).Transport(),
		Broadcast: &failaware.BroadcastConfig{}})
	require.NoError(t, err)
	defer n.Close()
	require.NoError(t, send(t.Context(), n, strings.NewReader(strings.Repeat("x", longest/2)+"\nhello\n")))
	require.ErrorIs(t, send(t.Context(), n, strings.NewReader(strings.Repeat("x", 2*longest))), bufio.ErrTooLong)
}
