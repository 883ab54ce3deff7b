package replicate_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
)

// Over real sockets: a joiner gets a large state while others write, and the member
// that sends it is killed in the middle. Every acknowledged write is there at the end.
func TestReplicasOverUDP(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	const size = 2 << 20
	var all []*holder
	var peers []failaware.Peer
	start := func(app *words) *holder {
		h := start(t, failaware.Config{ID: failaware.NodeID(len(all) + 1), Peers: slices.Clone(peers),
			Timing:    failaware.WAN(), // which bears a machine that is busy with other tests
			Broadcast: &failaware.BroadcastConfig{}}, replicate.Config{Rate: 2 << 20}, app)
		all = append(all, h)
		peers = append(peers, failaware.Peer{ID: h.Node().ID(), Addr: h.Node().Addr().String()})
		return h
	}
	wait := func(what string, ok func() bool) {
		t.Helper()
		await(ctx, t, all, what, ok)
	}
	for _, app := range applications(3, size) {
		start(app)
	}
	for _, h := range all {
		wait("one view", func() bool { return h.Read(func() {}).UpToDate && h.Node().View().View.Set.Len() == 3 })
	}
	acked, writer := make(chan string, 1<<16), all[1]
	stop := keepWriting(ctx, writer, acked)
	defer stop()
	wait("writes", func() bool { return len(acked) > 20 })
	joiner := start(&words{})
	// Should views fall apart all the same, states are merged, or the transfer is over
	// before anybody looks. The same must hold then.
	has := func() bool { return joiner.restored.Load() > 0 || len(joiner.merged()) > 0 }
	wait("a transfer", func() bool { return joiner.Progress().Bytes > size/3 || has() })
	killed := 0
	if joiner.Progress().From == 3 { // node 2 writes, and must live
		killed = 2
	}
	require.NoError(t, all[killed].Close())
	wait("the state", has)
	_, err := joiner.Submit(ctx, []byte("last"))
	require.NoError(t, err)
	stop()
	close(acked)
	for i, h := range all {
		if i == killed {
			continue
		}
		wait("one view at the end", func() bool { return h.Node().View().View.Set.Len() == 3 && h.Read(func() {}).UpToDate })
		_, err := h.ReadLatest(ctx, func() { require.Len(t, h.app.ballast, size) })
		require.NoError(t, err)
	}
	lists := [2][]string{joiner.latest(t), writer.latest(t)}
	require.Equal(t, lists[0], lists[1])
	for word := range acked {
		require.Contains(t, lists[0], word)
	}
	require.Contains(t, lists[0], "last")
}

// await waits until ok returns true. When ctx ends first, it fails the test and logs how
// far each node has come.
func await(ctx context.Context, t *testing.T, all []*holder, what string, ok func() bool) {
	t.Helper()
	for !ok() {
		if ctx.Err() != nil {
			for _, h := range all {
				t.Logf("node %v: %+v, restored %d", h.Node().ID(), h.Progress(), h.restored.Load())
			}
			require.FailNow(t, "in vain: "+what)
		}
		time.Sleep(time.Millisecond)
	}
}

// keepWriting submits a word every two milliseconds until stop is called, and sends each
// acknowledged word to acked. After stop it sends no more.
func keepWriting(ctx context.Context, writer *holder, acked chan<- string) (stop func()) {
	writing, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; writing.Err() == nil; i++ {
			word := fmt.Sprintf("w%05d", i)
			if _, err := writer.Submit(writing, []byte(word)); err == nil {
				acked <- word
			}
			time.Sleep(2 * time.Millisecond)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
