package store

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/timed"
)

// rung reports whether f wakes who waits for a change.
func rung(a *application, f func()) bool {
	next := a.bell.wait()
	f()
	select {
	case <-next:
		return true
	default:
		return false
	}
}

// restoreRings reports whether a state that replaces another wakes its watchers.
func restoreRings(t testing.TB, state []byte) bool {
	a := &application{state: kv.New(kv.Partitionable)}
	return rung(a, func() { require.NoError(t, a.Restore(bytes.NewReader(state))) })
}

// Whatever changes a state wakes its watchers.
func TestWatchersHearOfEachChange(t *testing.T) {
	put := kv.Command{Op: kv.Put, Dot: kv.Dot{Writer: 1, Number: 1}, Key: "a"}
	a := &application{state: kv.New(kv.Partitionable)}
	earlier := a.bell.wait()
	require.True(t, rung(a, func() { a.Apply(replicate.Operation{Command: put.Encode()}) }))
	<-earlier // whoever waited before wakes too
	var state bytes.Buffer
	require.NoError(t, a.Snapshot(&state))
	require.True(t, restoreRings(t, state.Bytes()))
	c := &application{state: kv.New(kv.Partitionable)}
	require.True(t, rung(c, func() {
		require.NoError(t, c.Merge([]replicate.Branch{{State: bytes.NewReader(state.Bytes())}, {State: bytes.NewReader(state.Bytes())}}))
	}))
	require.NotNil(t, c.state.Get("a"))
	require.Error(t, c.Merge([]replicate.Branch{{State: bytes.NewReader(state.Bytes()[1:])}}))
}

// tracedWhole returns what is kept of an operation, and what it should be.
func tracedWhole() (got, want api.Operation) {
	at := func(n clocksync.Time) failaware.Reading { return failaware.Reading{Time: n} }
	op := replicate.Operation{ID: failaware.MessageID{Sender: 1, Boot: 2, Sequence: 3}, Stamp: 7, Deviation: 9}
	want = api.Operation{ID: op.ID, Submitted: at(1), Sent: 7, Deviation: 9, Ordered: at(3), Applied: at(4)}
	return traced(op, at(1), at(3), at(4)), want
}

// An operation is traced if its command can be read, and if group time is known before and
// after it.
func TestOperationsAreTracedInGroupTime(t *testing.T) {
	known := failaware.Reading{Timeline: clocksync.TimelineID{Leader: 1}, Time: 5}
	var readings []failaware.Reading
	var kept []api.Operation
	a := &application{state: kv.New(kv.Partitionable)}
	a.keep = func(op api.Operation) { kept = append(kept, op) }
	a.clock = func() (r failaware.Reading) {
		r, readings = readings[0], readings[1:]
		return r
	}
	put := kv.Command{Op: kv.Put, Dot: kv.Dot{Writer: 1, Number: 1}, Key: "a"}
	traces := func(command []byte, ordered, applied failaware.Reading) bool {
		kept, readings = nil, []failaware.Reading{ordered, applied}
		a.Apply(replicate.Operation{Command: command})
		return len(kept) > 0
	}
	require.True(t, traces(put.Encode(), known, known))
	require.False(t, traces(put.Encode(), failaware.Reading{}, known))
	require.False(t, traces(put.Encode(), known, failaware.Reading{}))
	require.False(t, traces(nil, known, known))
}

func TestTracesHaveAllOfAnOperation(t *testing.T) {
	got, want := tracedWhole()
	require.Equal(t, want, got)
}

// answersFresh returns the wire form of the freshness of three reads, and what it should be. A read
// of the own state is not of the latest one, however fresh its view is.
func answersFresh() (got, want [3]api.KVFresh) {
	view := &failaware.View{ID: failaware.ViewID{Sequence: 4, Leader: 2, Boot: 9}, Set: timed.SetOf(2, 5)}
	f := replicate.Freshness{UpToDate: true, AtMost: 7, AsOf: 8, View: view, Situation: replicate.Working, Behind: 3}
	s := &Store{}
	got = [3]api.KVFresh{s.fresh(f, true), s.fresh(f, false), s.fresh(replicate.Freshness{Situation: replicate.NoView}, false)}
	latest := api.KVFresh{Latest: true, UpToDate: true, AtMostNS: 7, AsOfNS: 8, View: view.ID.String(), Members: []int{2, 5}, Situation: "at work", Behind: 3}
	own := latest
	own.Latest = false
	return got, [3]api.KVFresh{latest, own,
		{Members: []int{}, Situation: replicate.NoView.String()}}
}

func TestAnswersHaveAllOfAFreshness(t *testing.T) {
	got, want := answersFresh()
	require.Equal(t, want, got)
}
