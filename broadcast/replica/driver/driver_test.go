package driver_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/broadcast/replica"
	"github.com/failaware/failaware/broadcast/replica/driver"
	"github.com/failaware/failaware/broadcast/replica/local"
	"github.com/failaware/failaware/timed"
)

var total = broadcast.Options{Order: broadcast.Total}

// words is a list of words; merged lists are sorted.
type words struct {
	list []string
	fail error
	gate chan struct{} // if not nil, Apply waits until it is closed
}

func (w *words) Apply(op broadcast.Delivery) {
	if w.gate != nil {
		<-w.gate
	}
	w.list = append(w.list, string(op.Payload))
}
func (w *words) Snapshot() ([]byte, error) { return []byte(strings.Join(w.list, " ")), nil }
func (w *words) Hash() uint64              { return uint64(len(w.list)) }
func (w *words) Restore(b []byte) error {
	w.list = strings.Fields(string(b))
	return w.fail
}
func (w *words) Merge(bs []replica.Branch) error {
	var all []string
	for _, b := range bs {
		all = append(all, strings.Fields(string(b.State))...)
	}
	slices.Sort(all)
	w.list = slices.Compact(all)
	return w.fail
}

// member is a driver at work.
type member struct {
	*driver.Driver
	app   *words
	group *local.Member
	err   chan error
}

func join(t *testing.T, hub *local.Hub, id timed.NodeID) *member {
	m := &member{app: &words{}, group: hub.Join(id), err: make(chan error, 1)}
	d, err := driver.New(replica.Config{Self: m.group.Self(), HashEvery: 2}, m.group, m.app, nil)
	require.NoError(t, err)
	m.Driver = d
	go func() { m.err <- d.Run(t.Context()) }()
	return m
}

func TestGroupSplitsAndMerges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := local.NewHub()
		a, b, c := join(t, hub, 1), join(t, hub, 2), join(t, hub, 3)
		hub.View(a.group, b.group)
		require.NoError(t, a.Submit(t.Context(), []byte("one"), total))
		hub.View(a.group)
		hub.View(b.group, c.group)
		require.NoError(t, a.Submit(t.Context(), []byte("two"), total))
		require.NoError(t, c.Submit(t.Context(), []byte("three"), total))
		synctest.Wait()
		require.Equal(t, []string{"one", "three"}, c.app.list)
		hub.View(a.group, b.group, c.group)
		require.NoError(t, b.Submit(t.Context(), []byte("four"), total))
		time.Sleep(time.Second)
		synctest.Wait()
		for _, m := range []*member{a, b, c} {
			require.Equal(t, []string{"one", "three", "two", "four"}, m.app.list)
			status, _ := m.Status()
			require.Equal(t, replica.Working, status.Situation)
			require.False(t, status.Waits)
		}
	})
}

// Who lags makes no snapshots for others if somebody else can.
func TestAJoinerGetsTheStateFromWhoLagsLeast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := local.NewHub()
		slow, quick, joiner := join(t, hub, 1), join(t, hub, 2), join(t, hub, 3)
		slow.app.gate = make(chan struct{})
		hub.View(slow.group, quick.group)
		for _, word := range []string{"one", "two", "three"} {
			require.NoError(t, quick.Submit(t.Context(), []byte(word), total))
		}
		synctest.Wait()
		require.NotZero(t, slow.Behind())
		hub.View(slow.group, quick.group, joiner.group)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []string{"one", "two", "three"}, joiner.app.list)
		close(slow.app.gate)
		synctest.Wait()
		require.Equal(t, joiner.app.list, slow.app.list)
	})
}

func TestSubmitWaitsForAView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := join(t, local.NewHub(), 1)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- a.Submit(ctx, []byte("x"), total) }()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		require.Error(t, a.Submit(t.Context(), nil, broadcast.Options{}))
	})
}

func TestAnApplicationThatFailsEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := local.NewHub()
		a, b := join(t, hub, 1), join(t, hub, 2)
		b.app.fail = errors.New("disk full")
		hub.View(a.group)
		require.NoError(t, a.Submit(t.Context(), []byte("x"), total))
		synctest.Wait()
		hub.View(a.group, b.group)
		require.ErrorIs(t, <-b.err, b.app.fail)
	})
}

func TestManyOperationsOfASlowApplication(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := local.NewHub()
		a := join(t, hub, 1)
		hub.View(a.group)
		for range 5000 {
			require.NoError(t, a.Submit(t.Context(), []byte("x"), total))
		}
		synctest.Wait()
		require.Len(t, a.app.list, 5000)
	})
}

type plain struct{ driver.Application }

func TestHashEveryWantsAHash(t *testing.T) {
	_, err := driver.New(replica.Config{HashEvery: 1}, nil, plain{}, nil)
	require.ErrorIs(t, err, driver.ErrNoHasher)
}
