package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// log is an application that writes down what it hears, and broadcasts when it
// enters a view and now and then.
type log struct {
	n      *Node
	lines  []string // of the view it is in
	marked bool     // the rest of the view is transitional
	byView map[string][]string
	bad    error
	own    int // outcomes of own messages
}

func (l *log) handlers() Handlers {
	var say func()
	say = func() {
		_, _ = l.n.Broadcast(fmt.Appendf(nil, "%d at %d", l.n.ID(), l.n.Instant()), broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.WeakAtomicity})
		l.n.After(7*time.Millisecond, say)
	}
	say()
	entered := membership.ViewID{}
	return Handlers{
		View: func(v *membership.View, _ bool) {
			if entered != v.ID {
				l.bad = fmt.Errorf("hears of view %v while in %v", v.ID, entered)
			}
		},
		Broadcast: BroadcastHandlers{
			Entered: func(v *membership.View) {
				entered, l.lines, l.marked = v.ID, nil, false
			},
			Transition: func(v, next *membership.View, along timed.Set) {
				if l.marked || v.ID != entered || !along.Has(l.n.ID()) || !next.Has(l.n.Incarnation()) {
					l.bad = fmt.Errorf("leaves %v for %v with %v", v.ID, next.ID, along)
				}
				l.marked = true
			},
			Delivered: func(d broadcast.Delivery, v *membership.View) {
				if v.ID != entered || d.Transitional != l.marked {
					l.bad = fmt.Errorf("delivers %v of %v in %v, transitional %v", d.ID, v.ID, entered, d.Transitional)
				}
				if d.Sender == l.n.ID() {
					l.own++
				}
				l.lines = append(l.lines, string(d.Payload))
				l.byView[fmt.Sprint(v.ID)] = l.lines
			},
			Elsewhere: func(_ broadcast.Class, from, to uint64) { l.own += int(to - from + 1) },
		},
	}
}

// Applications hear of deliveries, transitions and views in their order, and the
// same of each view.
func TestApplicationsBroadcast(t *testing.T) {
	logs := map[timed.NodeID]*log{}
	w, err := New(3, Options{Nodes: 4, Calm: true, Broadcast: &Broadcast{Quiet: true}, App: func(*World) App {
		return App{Start: func(n *Node) Handlers {
			logs[n.ID()] = &log{n: n, byView: map[string][]string{}}
			return logs[n.ID()].handlers()
		}}
	}})
	require.NoError(t, err)
	require.NoError(t, w.Run(time.Second))
	require.NoError(t, w.Inject(fault.Fault{Kind: fault.Split, Blocks: []timed.Set{timed.SetOf(1, 2), timed.SetOf(3, 4)}, For: time.Second}))
	require.NoError(t, w.Run(3*time.Second))
	common := 0
	for _, l := range logs {
		require.NoError(t, l.bad)
		require.Greater(t, l.own, 100)
		for v, lines := range l.byView {
			for _, o := range logs {
				k := min(len(lines), len(o.byView[v]))
				require.Equal(t, append([]string{}, lines[:k]...), append([]string{}, o.byView[v][:k]...))
				if o != l {
					common += k
				}
			}
		}
	}
	require.Greater(t, common, 1000)
	require.Zero(t, w.Result().Counters.Casts-uint64(w.cast.check.Count), "nobody else broadcasts")
}

func TestCastRefuses(t *testing.T) {
	w, err := New(1, Options{Calm: true})
	require.NoError(t, err)
	_, err = w.Node(1).Broadcast(nil, broadcast.Options{Order: broadcast.Unordered, Atomicity: broadcast.WeakAtomicity})
	require.ErrorContains(t, err, "Broadcast")
	require.ErrorContains(t, w.Inject(fault.Fault{Kind: fault.Burst, Node: 1, Size: 1}), "Broadcast")
	w, err = New(1, Options{Calm: true, Broadcast: &Broadcast{Quiet: true}})
	require.NoError(t, err)
	_, err = w.Node(1).Broadcast(make([]byte, 1<<21), broadcast.Options{Order: broadcast.Unordered, Atomicity: broadcast.WeakAtomicity})
	require.ErrorIs(t, err, broadcast.ErrTooLarge)
	require.NoError(t, w.Inject(fault.Fault{Kind: fault.Crash, Node: 1}))
	_, err = w.Node(1).Broadcast(nil, broadcast.Options{Order: broadcast.Unordered, Atomicity: broadcast.WeakAtomicity})
	require.Error(t, err)
}
