package sim

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// calm returns a world without random faults in which start is the application,
// after it has settled.
func calm(t *testing.T, nodes int, start func(*Node) Handlers) *World {
	t.Helper()
	w, err := New(1, Options{Calm: true, Nodes: nodes, RankBy: leader.ByID, App: only(start)})
	require.NoError(t, err)
	require.NoError(t, w.RunUntil(time.Minute, func() bool { return w.Leaders() == timed.SetOf(1) && w.Nodes()[0].Support() == w.all() }))
	return w
}

func only(start func(*Node) Handlers) func(*World) App {
	return func(*World) App { return App{Start: start} }
}

// An application that listens, reads everything, and runs timers does not change
// the run.
func TestListeningChangesNothing(t *testing.T) {
	heard := 0
	listen := func(n *Node) Handlers {
		look := func() {
			heard++
			n.View()
			n.Leads()
			n.LeadsUntil()
			n.Support()
			n.Follows()
			n.Alive()
			n.Clock()
			n.Instant()
		}
		var again func()
		again = func() { look(); n.After(time.Duration(n.Random(int64(50*time.Millisecond))), again) }
		n.After(0, again)
		return Handlers{View: func(*membership.View, bool) { look() }, Leader: func(bool, timed.NodeID) { look() },
			Clock: func(clocksync.Reading) { look() }, Peer: func(timed.NodeID, bool) { look() },
			Restarted: func(timed.BootID) { look() }, Stop: look}
	}
	app := func(w *World) App {
		return App{Start: listen, Invariants: []Invariant{{"reads", func() error {
			for _, n := range w.Nodes() {
				n.Leads()
				n.Alive()
				n.Follows()
			}
			return nil
		}}}}
	}
	for seed := uint64(1); seed <= 30; seed++ {
		opt := Options{Roughness: 3, Duration: 6 * time.Second, BrokenClocks: seed%3 == 0}
		plain, err := Run(seed, opt)
		require.NoError(t, err)
		opt.App = app
		with, err := Run(seed, opt)
		require.NoError(t, err)
		require.Nil(t, with.Violation)
		require.Equal(t, plain.Hash, with.Hash, "seed %d", seed)
		require.Equal(t, plain.Events, with.Events, "seed %d", seed)
	}
	require.NotZero(t, heard)
}

// chatter says something at every occasion.
func chatter(what string) func(*Node) Handlers {
	return func(n *Node) Handlers {
		n.SendAll([]byte("start " + what))
		return Handlers{
			Leader:  func(bool, timed.NodeID) { n.SendAll([]byte(what)) },
			View:    func(*membership.View, bool) { n.After(time.Millisecond, func() { n.SendAll([]byte(what)) }) },
			Deliver: func(m Message) { n.After(time.Duration(n.Random(1e9)), func() { n.Send(m.From.Node, []byte(what)) }) },
		}
	}
}

func TestSameSeedSameHashWithApplication(t *testing.T) {
	for seed := uint64(1); seed <= 10; seed++ {
		run := func(what string, codec bool) Result {
			r, err := Run(seed, Options{Roughness: 3, Duration: 5 * time.Second, Codec: codec, App: only(chatter(what))})
			require.NoError(t, err)
			require.Nil(t, r.Violation)
			return r
		}
		a := run("a", false)
		require.Equal(t, a, run("a", false))
		require.Equal(t, a.Hash, run("a", true).Hash)
		require.NotEqual(t, a.Hash, run("b", false).Hash, "what is said is part of the hash")
	}
}

// Messages of an application begin turns of the platform's nodes: after the packets that
// wait, as in the loop of a node.
func TestApplicationsThatSpeakBreakNoPromise(t *testing.T) {
	for seed := uint64(1); seed <= 40; seed++ {
		r, err := Run(seed, Options{App: only(chatter("hello"))})
		require.NoError(t, err)
		require.Nil(t, r.Violation)
	}
}

// What handlers are told changes at every call, and is so.
func TestHandlersAreToldChanges(t *testing.T) {
	calls := 0
	start := func(n *Node) Handlers {
		var leads, fresh bool
		var follows timed.NodeID
		var view *membership.View
		return Handlers{
			Leader: func(l bool, f timed.NodeID) {
				calls++
				require.False(t, l == leads && f == follows, "told twice")
				require.True(t, !l || n.Leads())
				require.True(t, !l || f == n.ID())
				leads, follows = l, f
			},
			View: func(v *membership.View, f bool) {
				calls++
				require.NotNil(t, v)
				require.False(t, v == view && f == fresh, "told twice")
				now, up := n.View()
				require.True(t, !f || up && now == v)
				view, fresh = v, f
			},
		}
	}
	for seed := uint64(1); seed <= 20; seed++ {
		r, err := Run(seed, Options{Roughness: 3, Duration: 8 * time.Second, App: only(start)})
		require.NoError(t, err)
		require.Nil(t, r.Violation)
	}
	require.Greater(t, calls, 500)
}

func TestNodeAndWorldTellTheirState(t *testing.T) {
	w := calm(t, 3, nil)
	require.NoError(t, w.RunUntil(time.Second, func() bool { _, fresh := w.Node(2).View(); return fresh && w.Node(2).Follows() == 1 }))
	one, two := w.Node(1), w.Node(2)
	require.Equal(t, timed.NodeID(2), two.ID())
	require.Same(t, w, two.World())
	require.Equal(t, timed.SetOf(1, 3), two.Alive())
	require.Equal(t, timed.SetOf(1, 2, 3), one.Support())
	require.Equal(t, timed.Set{}, two.Support())
	require.Equal(t, timed.NodeID(1), two.Follows())
	require.Greater(t, one.LeadsUntil(), one.Instant())
	require.Zero(t, two.LeadsUntil())
	require.Equal(t, clocksync.Internal, two.Clock().Status)
	require.Equal(t, leader.Available, w.Mode())
	require.Equal(t, uint64(1), w.Seed())
	require.Equal(t, w.Time(), w.Result().Simulated)
	require.False(t, two.Resign())

	was := two.Incarnation()
	require.NoError(t, w.Inject(fault.Fault{Kind: fault.Crash, Node: 2, For: time.Second}))
	v, fresh := two.View()
	require.Nil(t, v)
	require.False(t, fresh || two.Up() || two.Leads() || two.Resign())
	require.Equal(t, timed.Set{}, two.Alive())
	require.Zero(t, two.Follows())
	require.Equal(t, clocksync.Unsynchronized, two.Clock().Status)
	require.Equal(t, Timer{}, two.After(0, func() { t.Error("a process that is down") }))
	require.NoError(t, w.Run(2*time.Second))
	require.True(t, two.Up())
	require.NotEqual(t, was, two.Incarnation())
	require.PanicsWithValue(t, "sim: there is no node 4 among 3", func() { w.Node(4) })
	require.PanicsWithValue(t, "sim: Random(0): must be at least 1", func() { two.Random(0) })
}

// A process that injects its own crash says no more.
func TestWhatIsAskedHappensInOrder(t *testing.T) {
	var got []string
	stopped := false
	w := calm(t, 2, func(n *Node) Handlers {
		return Handlers{
			Deliver: func(m Message) { got = append(got, string(m.Payload)) },
			Stop:    func() { stopped = true; n.SendAll([]byte("from the dead")) },
		}
	})
	n := w.Node(1)
	n.After(0, func() {
		n.Send(2, []byte("before"))
		require.NoError(t, w.Inject(fault.Fault{Kind: fault.Crash, Node: 1, For: time.Second}))
		require.True(t, n.Up() && !stopped, "the turn has not ended")
		n.Send(2, []byte("after"))
		n.After(0, func() { t.Error("a timer of the dead") })
	})
	require.NoError(t, w.Run(5*time.Second))
	require.True(t, stopped)
	require.Equal(t, []string{"before"}, got)
}

// Handlers are not called inside of each other.
func TestNoHandlerRunsInsideOfAnother(t *testing.T) {
	inside, resigned := false, 0
	w, err := New(1, Options{Calm: true, Nodes: 3, App: only(func(n *Node) Handlers {
		enter := func() {
			require.False(t, inside)
			inside = true
		}
		return Handlers{
			Leader: func(leads bool, _ timed.NodeID) {
				enter()
				if leads && resigned < 3 {
					resigned++
					require.True(t, n.Resign())
					require.True(t, n.Leads(), "the turn has not ended")
				}
				inside = false
			},
			View: func(*membership.View, bool) { enter(); n.Resign(); inside = false },
		}
	})})
	require.NoError(t, err)
	require.NoError(t, w.Run(10*time.Second))
	require.Equal(t, 3, resigned)
	require.NotZero(t, w.Result().Counters.Sometimes[situation.HandedOver])
}

func TestInvariantsMustNotChangeTheWorld(t *testing.T) {
	var running Timer
	for what, change := range map[string]func(*Node){
		"Send":       func(n *Node) { n.SendAll(nil) },
		"After":      func(n *Node) { n.After(0, func() {}) },
		"Timer.Stop": func(*Node) { running.Stop() },
		"Resign":     func(n *Node) { n.Resign() },
		"Random":     func(n *Node) { n.Random(2) },
		"Inject":     func(n *Node) { _ = n.World().Inject(fault.Fault{Kind: fault.Cut}) },
		"Mend":       func(n *Node) { n.World().Mend() },
		"Run":        func(n *Node) { _ = n.World().Run(1) },
		"RunUntil":   func(n *Node) { _ = n.World().RunUntil(1, func() bool { return true }) },
	} {
		_, err := New(1, Options{Calm: true, App: func(w *World) App {
			return App{
				Start:      func(n *Node) Handlers { running = n.After(time.Hour, func() {}); return Handlers{} },
				Invariants: []Invariant{{"changes", func() error { change(w.Node(1)); return nil }}},
			}
		}})
		var v *Violation
		require.ErrorAs(t, err, &v, what)
		require.Equal(t, "panic", v.Check)
		require.Equal(t, "sim: "+what+" from an invariant, which must not change the world", v.Detail)
	}
}

func TestTimeDoesNotPassInsideOfTheWorld(t *testing.T) {
	w := calm(t, 1, nil)
	w.Node(1).After(0, func() { _ = w.Run(time.Second) })
	require.ErrorContains(t, w.Run(time.Second), "sim: Run from inside of the world")
}

func TestInvariantIsViolation(t *testing.T) {
	opt := Options{Calm: true, Nodes: 2, App: func(w *World) App {
		return App{Invariants: []Invariant{{"early", func() error {
			if w.Time() > time.Second {
				return errors.New("it is late")
			}
			return nil
		}}}}
	}}
	w, err := New(7, opt)
	require.NoError(t, err)
	err = w.Run(time.Minute)
	var v *Violation
	require.ErrorAs(t, err, &v)
	require.Equal(t, "early", v.Check)
	require.Equal(t, uint64(7), v.Seed)
	require.Equal(t, w.Time(), v.At)
	require.Regexp(t, `^seed 7: early broken after 1\.\d+s: it is late$`, err.Error())
	events := w.Result().Events
	require.Same(t, v, w.Run(time.Minute), "the world does not go on")
	require.Same(t, v, w.RunUntil(time.Minute, func() bool { return false }))
	require.Same(t, v, w.Inject(fault.Fault{Kind: fault.Crash, Node: 1}))
	require.Equal(t, events, w.Result().Events)
	require.True(t, w.Node(1).Up())

	for _, bad := range []Invariant{{Name: "nothing"}, {Check: func() error { return nil }}} {
		_, err := New(1, Options{App: func(*World) App { return App{Invariants: []Invariant{bad}} }})
		require.ErrorContains(t, err, "an invariant needs a Name and a Check")
	}
}

func TestPanicIsViolation(t *testing.T) {
	boom := func() { panic("boom") }
	for name, app := range map[string]func(*World) App{
		"App":       func(*World) App { boom(); return App{} },
		"Start":     only(func(*Node) Handlers { boom(); return Handlers{} }),
		"Leader":    only(func(*Node) Handlers { return Handlers{Leader: func(bool, timed.NodeID) { boom() }} }),
		"View":      only(func(*Node) Handlers { return Handlers{View: func(*membership.View, bool) { boom() }} }),
		"Peer":      only(func(*Node) Handlers { return Handlers{Peer: func(timed.NodeID, bool) { boom() }} }),
		"Clock":     only(func(*Node) Handlers { return Handlers{Clock: func(clocksync.Reading) { boom() }} }),
		"Restarted": only(func(*Node) Handlers { return Handlers{Restarted: func(timed.BootID) { boom() }} }),
		"Stop":      only(func(*Node) Handlers { return Handlers{Stop: boom} }),
		"Deliver": only(func(n *Node) Handlers {
			n.After(time.Second, func() { n.SendAll(nil) })
			return Handlers{Deliver: func(Message) { boom() }}
		}),
		"timer":     only(func(n *Node) Handlers { n.After(time.Second, boom); return Handlers{} }),
		"invariant": func(*World) App { return App{Invariants: []Invariant{{"x", func() error { boom(); return nil }}}} },
	} {
		t.Run(name, func(t *testing.T) {
			opt := Options{Nodes: 3, Calm: true, App: app, Faults: []fault.Fault{{Kind: fault.Suspend, Node: 1, At: 2 * time.Second, For: time.Second},
				{Kind: fault.Crash, Node: 2, At: 5 * time.Second}}}
			_, v, err := Campaign{Options: opt, First: 3, Seeds: 2}.Run(t.Context())
			require.NoError(t, err)
			require.NotNil(t, v)
			require.Equal(t, "panic", v.Check)
			require.Equal(t, uint64(3), v.Seed)
			require.Equal(t, "boom", v.Detail)
			require.Equal(t, name != "App" && name != "invariant", v.Node != 0)
			require.Contains(t, v.Stack, "TestPanicIsViolation")
			require.Contains(t, v.Error(), v.Stack)
		})
	}
}

// A goroutine that ends leaves its seed behind.
func TestGoexitIsViolation(t *testing.T) {
	opt := Options{Calm: true, App: only(func(*Node) Handlers { runtime.Goexit(); return Handlers{} })}
	_, v, err := Campaign{Options: opt, First: 5, Seeds: 3, Jobs: 1}.Run(t.Context())
	require.NoError(t, err)
	require.NotNil(t, v)
	require.Equal(t, uint64(5), v.Seed)
	require.Contains(t, v.Detail, "ended its goroutine")
}

// A machine that sleeps keeps its process, which learns of its new incarnation
// before it does anything else.
func TestProcessOutlivesSuspension(t *testing.T) {
	starts, stops, restarts, ticks := 0, 0, 0, 0
	var was timed.Incarnation
	w := calm(t, 3, func(n *Node) Handlers {
		if n.ID() != 1 {
			return Handlers{}
		}
		starts++
		return Handlers{Stop: func() { stops++ }, Restarted: func(previous timed.BootID) {
			restarts++
			require.Equal(t, was.Boot, previous)
			require.NotEqual(t, was, n.Incarnation())
			require.False(t, n.Leads())
		}}
	})
	n := w.Node(1)
	was = n.Incarnation()
	n.After(time.Second, func() {
		ticks++
		require.Equal(t, 1, restarts)
		require.False(t, n.Leads())
	})
	require.NoError(t, w.Inject(fault.Fault{Kind: fault.Suspend, Node: 1, For: 3 * time.Second}))
	require.False(t, n.Leads(), "it will notice before it looks")
	require.NoError(t, w.Run(4*time.Second))
	require.Equal(t, []int{1, 0, 1, 1}, []int{starts, stops, restarts, ticks})
}

func TestCrashEndsTheProcess(t *testing.T) {
	var starts, stops, messages int
	w := calm(t, 2, func(n *Node) Handlers {
		if n.ID() != 2 {
			return Handlers{}
		}
		starts++
		return Handlers{Stop: func() { stops++ }, Deliver: func(Message) { messages++ }}
	})
	n := w.Node(2)
	n.After(time.Second, func() { t.Error("a timer outlives its process") })
	require.NoError(t, w.Inject(fault.Fault{Kind: fault.Crash, Node: 2, For: 2 * time.Second}))
	require.Equal(t, []int{1, 1}, []int{starts, stops}, "at once")
	w.Node(1).Send(2, nil)
	require.NoError(t, w.Run(time.Second))
	require.Zero(t, messages)
	require.NoError(t, w.Run(4*time.Second))
	require.Equal(t, []int{2, 1}, []int{starts, stops})
	w.Node(1).Send(2, nil)
	require.NoError(t, w.Run(time.Second))
	require.Equal(t, 1, messages)
}

// A rival is a process of its own.
func TestRivalHasItsOwnProcess(t *testing.T) {
	starts, stops := 0, 0
	w := calm(t, 2, func(n *Node) Handlers { starts++; return Handlers{Stop: func() { stops++ }} })
	require.NoError(t, w.Inject(fault.Fault{Kind: fault.Rival, Node: 2, For: time.Minute}))
	require.Equal(t, 3, starts)
	require.Len(t, w.Nodes(), 3)
	require.NotSame(t, w.Node(2), w.Nodes()[2])
	require.Equal(t, timed.NodeID(2), w.Nodes()[2].ID())
	require.NoError(t, w.RunUntil(30*time.Second, func() bool { return stops == 1 }), "one of the two notices")
}
