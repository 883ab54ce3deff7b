package replicate_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// joined returns how a node that has got the state of its view, and whose application is busy
// with a message before it, reads; and how it reads when it has loaded the state.
func joined(t testing.TB) (before, after replicate.Freshness) {
	net := memory.New(memory.Options{Seed: 1})
	cfg := failaware.Config{ID: 1, Transport: net.Transport(), Broadcast: &failaware.BroadcastConfig{}}
	one := start(t, cfg, replicate.Config{Rate: 1 << 20}, applications(1, 1<<20)[0])
	b := one.Node().Bounds()
	submit(t, one, "word")
	release := make(chan struct{})
	cfg.ID, cfg.Transport = 2, net.Transport()
	two := start(t, cfg, replicate.Config{OnMessage: func(replicate.Message) { <-release }}, &words{})
	time.Sleep(b.Ready + b.View)
	require.Equal(t, replicate.Transferring, two.Progress().Situation)
	_, err := one.Broadcast(t.Context(), []byte("hello"), failaware.BroadcastOptions{})
	require.NoError(t, err)
	time.Sleep(5 * time.Second)
	require.Equal(t, replicate.Working, two.Progress().Situation)
	var list []string
	read := func() { list = slices.Clone(two.app.list) }
	before = two.Read(read)
	require.Empty(t, list)
	close(release)
	time.Sleep(time.Second)
	after = two.Read(read)
	require.Equal(t, []string{"word"}, list)
	return before, after
}

// A state is up to date once the application has it, and not when the node has it.
func TestAStateIsUpToDateWhenItIsLoaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, after := joined(t)
		require.False(t, before.UpToDate)
		require.Zero(t, before.AtMost)
		require.True(t, after.UpToDate)
		require.Positive(t, after.AtMost)
	})
}
