package engine

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/journal/disktest"
	"github.com/failaware/failaware/internal/keep"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/membership"
)

func point(view, position uint64) replica.Point {
	return replica.Point{View: membership.ViewID{Sequence: view, Leader: 1, Boot: 1}, Position: position}
}

// verdictsWait has an engine with a disk apply an own operation. Its verdict waits until
// disks have it in the view in which it was applied.
func verdictsWait(t testing.TB) {
	e := &Engine{store: &Store{}}
	strict := broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.StrictAtomicity}
	waits := map[uint64]*Wait{}
	for _, n := range []uint64{3, 4} {
		waits[n] = waitFor(&e.Outcomes, messageID(n), nil)
		c := call{Effect: replica.Effect{Delivery: broadcast.Delivery{ID: messageID(n), Options: strict, Position: n}, At: point(7, n)}}
		e.settle(&c, n)
	}
	lasts := func(at replica.Point, lasting bool) {
		e.release(&call{Effect: replica.Effect{Kind: replica.Lasts, At: at, Lasting: lasting}})
	}
	lasts(point(7, 2), true)
	lasts(point(8, 9), true)
	require.Empty(t, waits[3].Given, "no disk is known to have it")
	lasts(point(7, 3), true)
	require.Len(t, waits[3].Given, 1)
	require.True(t, waits[3].Verdict.Lasting)
	require.Empty(t, waits[4].Given)
	lasts(replica.Point{}, false)
	require.Len(t, waits[4].Given, 1, "nothing more will be said")
	require.False(t, waits[4].Verdict.Lasting)
	w := waitFor(&e.Outcomes, messageID(5), nil)
	e.settle(&call{Effect: replica.Effect{Delivery: broadcast.Delivery{ID: messageID(5), Options: strict, Transitional: true}, At: point(7, 5)}}, nil)
	require.Len(t, w.Given, 1, "other members need not have it")
	require.False(t, w.Verdict.Lasting)
	w = waitFor(&e.Outcomes, messageID(6), nil)
	e.settle(&call{Effect: replica.Effect{Delivery: broadcast.Delivery{ID: messageID(6), Options: strict}, At: point(7, 6), Lasting: true}}, nil)
	require.Len(t, w.Given, 1, "it lasts, and nothing need be said about it")
}

func TestVerdictsWaitForTheDisks(t *testing.T) { verdictsWait(t) }

// heldForCallers has callers give up while no disk has their operations, except for one that waits
// on. Its verdict alone is kept.
func heldForCallers(t testing.TB) {
	e := &Engine{store: &Store{}}
	strict := broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.StrictAtomicity}
	settle := func(n uint64) {
		c := call{Effect: replica.Effect{Delivery: broadcast.Delivery{ID: messageID(n), Options: strict, Position: n}, At: point(7, n)}}
		e.settle(&c, n)
	}
	stays := waitFor(&e.Outcomes, messageID(1), nil)
	settle(1)
	const operations = 50_000
	for n := uint64(2); n < operations; n++ {
		waitFor(&e.Outcomes, messageID(n), nil)
		settle(n)
		require.True(t, e.Outcomes.Forget(messageID(n)))
	}
	require.LessOrEqual(t, len(e.held), leastHeld)
	e.release(&call{Effect: replica.Effect{Kind: replica.Lasts, At: point(7, operations), Lasting: true}})
	require.Len(t, stays.Given, 1)
	require.EqualValues(t, 1, stays.Verdict.Result)
	require.Empty(t, e.held)
}

func TestVerdictsAreHeldForWhoWaits(t *testing.T) { heldForCallers(t) }

// storedInTurn has a writer report records one after the other.
func storedInTurn(t testing.TB) {
	s := &Store{changed: make(chan struct{}), news: make(chan struct{}, 1)}
	for n := range uint64(3) {
		s.marks.Add(&keep.Step{Number: n + 1, At: point(7, 10*n)})
	}
	for n := range uint64(3) {
		s.onDurable(n + 1)
		at, _, _ := s.take()
		require.Equal(t, point(7, 10*n), at)
	}
}

func TestADiskHasWhatItsWriterHasFlushed(t *testing.T) { storedInTurn(t) }

// notedFirst requires that a store knows what a record stands for before its writer has the
// record: the writer may be quick, and then nothing would say again that the disk has it.
func notedFirst(t testing.TB) {
	disk := disktest.New()
	s := storeOn(t, disk, &words{})
	var flushed atomic.Bool
	disk.BeforeSync(func() { flushed.Store(true) })
	s.mu.Lock() // nothing can be noted
	appended := make(chan error)
	go func() {
		appended <- s.append(context.Background(), keep.Step{Record: []byte("x"), Number: 1, At: point(7, 3)})
	}()
	for i := 0; i < 10_000 && !flushed.Load(); i++ {
		runtime.Gosched()
	}
	early := flushed.Load()
	s.mu.Unlock()
	require.NoError(t, <-appended)
	require.False(t, early, "the record was written, and the store does not know what it stands for")
	require.NoError(t, s.Close())
	at, _, _ := s.take()
	require.Equal(t, point(7, 3), at)
}

func TestWhatARecordStandsForIsNotedFirst(t *testing.T) { notedFirst(t) }
