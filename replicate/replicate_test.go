package replicate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// words is a list of words; merged lists are sorted. ballast makes snapshots large.
type words struct {
	list    []string
	ballast []byte
	fail    error
	gate    chan struct{} // "wait" is applied when it is closed
}

func (w *words) Apply(op replicate.Operation) any {
	if w.gate != nil && string(op.Command) == "wait" {
		<-w.gate
	}
	w.list = append(w.list, string(op.Command))
	return len(w.list)
}

func (w *words) Snapshot(to io.Writer) error {
	_, err := to.Write(append([]byte(strings.Join(w.list, " ")+"\n"), w.ballast...))
	return err
}

func (w *words) Hash() uint64 { return uint64(len(w.list)) }

func (w *words) Restore(from io.Reader) error {
	b, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	text, ballast, _ := bytes.Cut(b, []byte("\n"))
	w.list, w.ballast = strings.Fields(string(text)), slices.Clone(ballast)
	return w.fail
}

func (w *words) Merge(branches []replicate.Branch) error {
	var all []string
	for _, b := range branches {
		one := words{}
		_ = one.Restore(b.State)
		all = append(all, one.list...)
		w.ballast = one.ballast
	}
	slices.Sort(all)
	w.list = slices.Compact(all)
	return w.fail
}

// holder is a node with its replica.
type holder struct {
	*replicate.Replica
	app      *words
	restored atomic.Int64
	mu       sync.Mutex
	merges   []replicate.Merged
	begun    []replicate.Begun
	awaits   []replicate.AwaitsMemory
	hangs    []replicate.Hanging
	silents  []replicate.AwaitsReports
	differs  []string
	lost     []failaware.Set // whose disks were rolled back
	limits   []uint64        // that states exceeded
}

// merged returns the merges of the node so far, in the order of its views.
func (h *holder) merged() []replicate.Merged {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.merges)
}

// differed returns the reports of members with other settings.
func (h *holder) differed() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.differs)
}

// begins returns the reports of views that went on without a quorum that remembers.
func (h *holder) begins() []replicate.Begun {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.begun)
}

// hung returns the reports of calls of the application that lasted.
func (h *holder) hung() []replicate.Hanging {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.hangs)
}

// silent returns the reports of members that have not reported their states.
func (h *holder) silent() []replicate.AwaitsReports {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.silents)
}

// awaited returns the reports of views that waited for members that remember.
func (h *holder) awaited() []replicate.AwaitsMemory {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.awaits)
}

// declined returns how many states the node has not taken.
func (h *holder) declined() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.limits)
}

// rolledBack returns whose disks were said to be rolled back.
func (h *holder) rolledBack() []failaware.Set {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.lost)
}

// latest returns the words of the node, with all that was submitted before.
func (h *holder) latest(t testing.TB) (list []string) {
	t.Helper()
	_, err := h.ReadLatest(within(t, time.Minute), func() { list = slices.Clone(h.app.list) })
	require.NoError(t, err)
	return list
}

// start starts a node with a replica of an application.
func start(t testing.TB, cfg failaware.Config, c replicate.Config, app *words) *holder {
	t.Helper()
	n, err := failaware.Start(context.Background(), cfg)
	require.NoError(t, err)
	h := &holder{app: app}
	c.OnEvent = func(e replicate.Event) {
		h.mu.Lock()
		defer h.mu.Unlock()
		switch e := e.(type) {
		case replicate.Restored:
			h.restored.Add(1)
		case replicate.Merged:
			h.merges = append(h.merges, e)
		case replicate.Begun:
			h.begun = append(h.begun, e)
		case replicate.Hanging:
			h.hangs = append(h.hangs, e)
		case replicate.AwaitsReports:
			h.silents = append(h.silents, e)
		case replicate.AwaitsMemory:
			h.awaits = append(h.awaits, e)
		case replicate.Differs:
			h.differs = append(h.differs, e.String())
		case replicate.RolledBack:
			h.lost = append(h.lost, e.Members)
		case replicate.TooLarge:
			h.limits = append(h.limits, e.Limit)
		case replicate.Diverged, replicate.Corrupt:
			t.Errorf("node %v: %v", cfg.ID, e)
		}
	}
	h.Replica, err = replicate.Start(n, h.app, c)
	require.NoError(t, err)
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// inMemory starts nodes in a network in memory, each with some application. With
// RequireQuorum their quorums are majorities.
func inMemory(t testing.TB, net *memory.Network, b failaware.BroadcastConfig, c replicate.Config, apps ...*words) (all []*holder) {
	cfg := failaware.Config{Transport: net.Transport(), Broadcast: &b}
	if b.RequireQuorum {
		cfg.Quorum = majority(t, len(apps))
	}
	for i, app := range apps {
		cfg.ID = failaware.NodeID(i + 1)
		all = append(all, start(t, cfg, c, app))
	}
	return all
}

// meet waits until a node and those that were started with it are in one view.
func meet(n *failaware.Node) failaware.Bounds {
	b := n.Bounds()
	time.Sleep(b.Ready + b.View)
	return b
}

// restart ends a node's process, and starts another without a state.
func restart(t testing.TB, net *memory.Network, b failaware.BroadcastConfig, all []*holder, i int) {
	t.Helper()
	require.NoError(t, all[i].Close())
	cfg := failaware.Config{ID: failaware.NodeID(i + 1), Transport: net.Transport(), Broadcast: &b, Quorum: majority(t, len(all))}
	all[i] = start(t, cfg, replicate.Config{}, &words{})
}

// majority returns the quorum system of the majorities of a number of nodes.
func majority(t testing.TB, count int) quorum.System {
	var ids failaware.Set
	for i := range count {
		ids.Add(failaware.NodeID(i + 1))
	}
	q, err := quorum.Majority(ids)
	require.NoError(t, err)
	return q
}

// applications returns applications whose state is large from the start.
func applications(count, ballast int) (apps []*words) {
	for range count {
		apps = append(apps, &words{ballast: bytes.Repeat([]byte{'b'}, ballast)})
	}
	return apps
}

// within returns a context that ends after some virtual time.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func submit(t testing.TB, h *holder, word string) replicate.Applied {
	t.Helper()
	a, err := h.Submit(within(t, time.Minute), []byte(word))
	require.NoError(t, err)
	return a
}

func TestReplicasSplitAndMerge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 1})
		all := inMemory(t, net, failaware.BroadcastConfig{}, replicate.Config{HashEvery: 5}, applications(5, 0)...)
		b := meet(all[0].Node())
		require.Equal(t, 1, submit(t, all[0], "one").Result)
		require.Equal(t, 2, submit(t, all[4], "two").Result)
		net.Partition([]failaware.NodeID{1, 2, 3}, []failaware.NodeID{4, 5})
		time.Sleep(2 * b.View)
		submit(t, all[2], "left")
		a := submit(t, all[3], "right")
		require.False(t, a.Transitional)
		require.Equal(t, 3, a.Result)
		fresh, err := all[4].ReadLatest(within(t, time.Minute), func() {
			require.Equal(t, []string{"one", "two", "right"}, all[4].app.list)
		})
		require.NoError(t, err)
		require.True(t, fresh.UpToDate)
		require.Positive(t, fresh.AtMost)
		require.Equal(t, 2, fresh.View.Set.Len())
		net.Heal()
		time.Sleep(4 * b.View)
		submit(t, all[1], "whole")
		meeting := replicate.Merged{}
		for _, h := range all {
			_, err := h.ReadLatest(within(t, time.Minute), func() {
				require.Equal(t, []string{"left", "one", "right", "two", "whole"}, h.app.list)
			})
			require.NoError(t, err)
			require.True(t, h.Read(func() {}).UpToDate)
			// While the network splits and heals, some may part and meet again on the
			// way. But no view merges twice, and in the end all meet in one.
			merges := h.merged()
			require.NotEmpty(t, merges)
			for i := range merges[1:] {
				require.NotEqual(t, merges[i].View, merges[i+1].View, "node %v", h.Node().ID())
			}
			last := merges[len(merges)-1]
			if meeting.View.None() {
				meeting = last
			}
			require.Equal(t, meeting, last, "node %v", h.Node().ID())
		}
		met := failaware.Set{}
		for _, branch := range meeting.Branches {
			met = met.Union(branch)
		}
		require.Equal(t, len(all), met.Len(), "%v", meeting.Branches)
	})
}

// A joiner gets a snapshot that takes thousands of messages, while the others write.
func TestAJoinerGetsALargeStateWhileOthersWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 2, Buffer: 1 << 13})
		const size = 2 << 20
		cast := failaware.BroadcastConfig{Window: 256 << 10, MaxPayload: 4 << 10}
		cfg := replicate.Config{Rate: 1 << 20, Window: 64 << 10}
		all := inMemory(t, net, cast, cfg, applications(2, size)...)
		meet(all[0].Node())
		submit(t, all[0], "first")
		ctx, stop := context.WithCancel(t.Context())
		var sent atomic.Int64
		over := make(chan struct{})
		go func() {
			defer close(over)
			for i := 0; ctx.Err() == nil; i++ {
				if _, err := all[i%2].Submit(ctx, fmt.Appendf(nil, "w%05d", i)); err == nil {
					sent.Add(1)
				}
				time.Sleep(5 * time.Millisecond)
			}
		}()
		joiner := start(t, failaware.Config{ID: 3, Transport: net.Transport(), Broadcast: &cast}, cfg, &words{})
		for joiner.Progress().Bytes < size/4 {
			time.Sleep(time.Millisecond)
		}
		began, writes := time.Now(), sent.Load()
		require.Equal(t, replicate.Transferring, joiner.Progress().Situation)
		require.False(t, joiner.Read(func() {}).UpToDate)
		for joiner.restored.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		took := time.Since(began)
		require.Greater(t, took, time.Second, "the rate")
		require.Less(t, took, 4*time.Second, "the rate")
		require.Greater(t, sent.Load(), writes+50)
		stop()
		<-over
		submit(t, joiner, "last")
		want := all[0].latest(t)
		require.Equal(t, want, all[1].latest(t))
		require.Equal(t, want, joiner.latest(t))
		require.Len(t, joiner.app.ballast, size)
	})
}

// The member that sends a snapshot is killed in the middle; another goes on with it
// where it stood.
func TestATransferGoesOnWhenItsSenderIsKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 3, Buffer: 1 << 13})
		const size = 3 << 20
		cast := failaware.BroadcastConfig{Window: 256 << 10, MaxPayload: 4 << 10}
		cfg := replicate.Config{Rate: 1 << 20, Window: 64 << 10}
		all := inMemory(t, net, cast, cfg, applications(3, size)...)
		b := meet(all[0].Node())
		submit(t, all[0], "first")
		joiner := start(t, failaware.Config{ID: 4, Transport: net.Transport(), Broadcast: &cast}, cfg, &words{})
		for joiner.Progress().Bytes < 2*size/3 {
			time.Sleep(time.Millisecond)
		}
		p := joiner.Progress()
		require.NoError(t, all[p.From-1].Close())
		began := time.Now()
		for low := p.Bytes; joiner.restored.Load() == 0; time.Sleep(time.Millisecond) {
			if q := joiner.Progress(); q.Total > 0 {
				require.GreaterOrEqual(t, q.Bytes, low, "what has come is kept")
				low = q.Bytes
			}
		}
		// All of it again would take three seconds.
		require.Less(t, time.Since(began), 4*b.View+2*time.Second)
		submit(t, joiner, "last")
		require.Equal(t, []string{"first", "last"}, joiner.latest(t))
		require.Len(t, joiner.app.ballast, size)
	})
}

func TestSubmitSaysWhyNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 4})
		all := inMemory(t, net, failaware.BroadcastConfig{RequireQuorum: true}, replicate.Config{}, applications(3, 0)...)
		b := all[0].Node().Bounds()
		_, err := all[0].SubmitWith(t.Context(), []byte("x"), failaware.BroadcastOptions{Order: failaware.TotalOrder, NoWait: true, Atomicity: failaware.WeakAtomicity})
		var not *replicate.NotAcceptingError
		require.ErrorAs(t, err, &not)
		require.Equal(t, replicate.NoView, not.Situation)
		time.Sleep(b.Ready + b.View)
		_, err = all[0].SubmitWith(t.Context(), nil, failaware.BroadcastOptions{Order: failaware.Unordered, Atomicity: failaware.WeakAtomicity})
		require.ErrorIs(t, err, failaware.ErrMessageOptions)
		_, err = all[0].Submit(t.Context(), make([]byte, 2<<20))
		require.ErrorIs(t, err, failaware.ErrTooLarge)
		a := submit(t, all[0], "lasts")
		require.True(t, a.Lasting)
		net.Partition([]failaware.NodeID{1, 2}, []failaware.NodeID{3})
		time.Sleep(2 * b.View)
		_, err = all[2].Submit(within(t, time.Second), []byte("x"))
		require.ErrorIs(t, err, replicate.ErrNotAccepting)
		require.ErrorIs(t, err, failaware.ErrNoQuorum)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = all[2].ReadLatest(within(t, time.Second), func() { t.Error("read without a quorum") })
		require.ErrorIs(t, err, failaware.ErrNoQuorum)
		require.False(t, all[2].Read(func() {}).UpToDate)
		submit(t, all[1], "more")
		net.Heal()
		time.Sleep(2 * b.View)
		_, err = all[2].ReadLatest(within(t, time.Minute), func() { require.Equal(t, []string{"lasts", "more"}, all[2].app.list) })
		require.NoError(t, err)
		require.NoError(t, all[0].Close())
		require.NoError(t, all[0].Err())
		_, err = all[0].Submit(t.Context(), []byte("x"))
		require.ErrorIs(t, err, failaware.ErrClosed)
	})
}

// A message that the others have ordered without its sender is in their state. Nodes
// that get this state by transfer, and meet the sender without the others, must not apply
// the message again.
func TestAnOperationOfAnAbsentNodeIsAppliedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 1})
		cast := failaware.BroadcastConfig{RequireQuorum: true}
		all := inMemory(t, net, cast, replicate.Config{}, applications(5, 0)...)
		b := meet(all[0].Node())
		submit(t, all[0], "first")
		for id := range failaware.NodeID(4) {
			net.Cut(id+1, 5)
		}
		go func() {
			_, err := all[4].Submit(t.Context(), []byte("absent"))
			assert.ErrorIs(t, err, failaware.ErrOutcomeUnknown)
		}()
		time.Sleep(b.View / 10)
		net.Partition([]failaware.NodeID{1, 2, 3, 4}, []failaware.NodeID{5})
		time.Sleep(2 * b.View)
		submit(t, all[0], "last")
		for _, i := range []int{2, 3} { // one after the other, so that a quorum remembers
			restart(t, net, cast, all, i)
			time.Sleep(b.Ready + 4*b.View)
		}
		net.Partition([]failaware.NodeID{3, 4, 5}, []failaware.NodeID{1, 2})
		for id := range failaware.NodeID(4) {
			net.Mend(id+1, 5)
		}
		time.Sleep(4 * b.View)
		require.Equal(t, []string{"first", "absent", "last"}, all[3].latest(t))
		require.Equal(t, all[3].latest(t), all[4].latest(t))
	})
}

func TestAnApplicationThatFailsEndsItsNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 5})
		all := inMemory(t, net, failaware.BroadcastConfig{}, replicate.Config{}, applications(1, 0)...)
		meet(all[0].Node())
		submit(t, all[0], "one")
		joiner := start(t, failaware.Config{ID: 2, Transport: net.Transport(), Broadcast: &failaware.BroadcastConfig{}},
			replicate.Config{}, &words{fail: errors.New("disk full")})
		<-joiner.Done()
		require.ErrorIs(t, joiner.Err(), joiner.app.fail)
		<-joiner.Node().Done()
		submit(t, all[0], "two")
	})
}

// A node whose application is too slow loses its incarnation, and misses what comes until
// the next one.
func TestAnotherIncarnationGetsTheStateAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 6})
		slow := failaware.BroadcastConfig{Backlog: 1 << 12, SlowAfter: 100 * time.Millisecond}
		apps := applications(2, 0)
		apps[1].gate = make(chan struct{})
		all := inMemory(t, net, slow, replicate.Config{MaxQueued: 1 << 10}, apps...)
		meet(all[0].Node())
		submit(t, all[1], "one")
		boot := all[1].Node().Status().Boot
		submit(t, all[0], "wait")
		weak := failaware.BroadcastOptions{Order: failaware.TotalOrder, Atomicity: failaware.WeakAtomicity}
		for i := range 3000 {
			_, err := all[0].SubmitWith(within(t, time.Minute), fmt.Appendf(nil, "w%d", i), weak)
			require.NoError(t, err)
		}
		time.Sleep(time.Second)
		close(all[1].app.gate)
		for all[1].restored.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		require.NotEqual(t, boot, all[1].Node().Status().Boot)
		submit(t, all[1], "last")
		require.Equal(t, all[0].latest(t), all[1].latest(t))
		require.Len(t, all[1].app.list, 3003)
	})
}

func TestReplicateRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 7})
		start := func(id failaware.NodeID, b *failaware.BroadcastConfig) *failaware.Node {
			n, err := failaware.Start(t.Context(), failaware.Config{ID: id, Transport: net.Transport(), Broadcast: b})
			require.NoError(t, err)
			t.Cleanup(func() { _ = n.Close() })
			return n
		}
		try := func(n *failaware.Node, app replicate.Application, c replicate.Config) error {
			_, err := replicate.Start(n, app, c)
			return err
		}
		require.ErrorIs(t, try(start(1, nil), &words{}, replicate.Config{}), failaware.ErrBroadcastOff)
		require.ErrorIs(t, try(start(2, &failaware.BroadcastConfig{SendOnly: true}), &words{}, replicate.Config{}), failaware.ErrSendOnly)
		n := start(3, &failaware.BroadcastConfig{MaxPayload: 1000})
		require.ErrorContains(t, try(n, &words{}, replicate.Config{ChunkBytes: 1000}), "ChunkBytes")
		require.ErrorContains(t, try(n, &words{}, replicate.Config{Rate: 1}), "Rate")
		require.ErrorContains(t, try(n, nil, replicate.Config{}), "it is nil")
		type plain struct{ replicate.Application }
		require.ErrorContains(t, try(n, plain{&words{}}, replicate.Config{}), "no method Merge")
		type mergeable struct {
			replicate.Application
			replicate.Merger
		}
		require.ErrorContains(t, try(n, mergeable{&words{}, &words{}}, replicate.Config{HashEvery: 1}), "HashEvery")
		for _, err := range n.Deliveries(t.Context()) {
			require.NoError(t, err)
			break
		}
		require.ErrorIs(t, try(n, &words{}, replicate.Config{}), replicate.ErrLate)
		small := start(5, &failaware.BroadcastConfig{MaxPayload: 300})
		require.ErrorContains(t, try(small, &words{}, replicate.Config{}),
			fmt.Sprintf("replicate: Broadcast.MaxPayload: 300 is below %d", replica.LeastPayload))
		m := start(4, &failaware.BroadcastConfig{MaxPayload: 1000})
		require.NoError(t, try(m, &words{}, replicate.Config{}), "chunks become as small as they must")
		require.ErrorIs(t, try(m, &words{}, replicate.Config{}), failaware.ErrConsumer)
	})
}
