package replicate_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// allKilled has all processes of a group in memory end, and others begin in its state
// directories. It returns how the groups began, and the log of a node of the second one.
func allKilled(t *testing.T) (first, second []replicate.Begun, log string) {
	synctest.Test(t, func(t *testing.T) {
		net, dir := memory.New(memory.Options{Seed: 11}), t.TempDir()
		config := func(id failaware.NodeID) failaware.Config {
			return failaware.Config{ID: id, Transport: net.Transport(), StateDir: filepath.Join(dir, "node"), Quorum: majority(t, 3),
				Broadcast: &failaware.BroadcastConfig{RequireQuorum: true}}
		}
		group := func(ids ...failaware.NodeID) (all []*holder) {
			for _, id := range ids {
				all = append(all, start(t, config(id), replicate.Config{}, &words{}))
			}
			return all
		}
		all := group(1, 2, 3)
		require.True(t, submit(t, all[0], "one").Lasting)
		for _, h := range all {
			require.Equal(t, []string{"one"}, h.latest(t))
			first = append(first, h.begins()...)
		}
		closeAll(t, all)

		all = group(1, 2)
		var written text
		third := config(3)
		third.LogHandler = slog.NewTextHandler(&written, nil)
		n, err := failaware.Start(context.Background(), third)
		require.NoError(t, err)
		r, err := replicate.Start(n, &words{}, replicate.Config{})
		require.NoError(t, err)
		t.Cleanup(func() { _ = r.Close() })
		for _, h := range all {
			require.Empty(t, h.latest(t))
			second = append(second, h.begins()...)
		}
		_, err = r.ReadLatest(within(t, time.Minute), func() {})
		require.NoError(t, err)
		synctest.Wait() // nothing waits for the log
		log = written.String()
	})
	return first, second, log
}

// A group in memory loses everything when all its processes end. It must not look like a new
// one.
func TestAGroupInMemoryThatBeginsAnewWarns(t *testing.T) {
	first, second, log := allKilled(t)
	require.NotEmpty(t, first)
	for _, b := range first {
		require.False(t, b.Lossy, "%v", b)
	}
	require.NotEmpty(t, second)
	for _, b := range second {
		require.True(t, b.Lossy, "%v", b)
		require.True(t, b.Remember.Empty())
	}
	require.Regexp(t, `level=WARN msg="replicated state: the state begins in view \S+, as no member has one: what the group has acknowledged before, if anything, is gone\.`, log)
}
