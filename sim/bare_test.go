package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// gossip is an application that answers everything once, and counts.
type gossip struct {
	heard, restarted, started int
	last                      time.Duration
}

func (c *gossip) app(*World) App {
	return App{Start: func(n *Node) Handlers {
		c.started++
		var tick func()
		tick = func() {
			n.SendAll([]byte{1})
			n.After(50*time.Millisecond, tick)
		}
		n.After(time.Millisecond, tick)
		return Handlers{
			Deliver: func(m Message) {
				c.heard++
				c.last = n.World().Time()
				if m.Payload[0] == 1 {
					n.Send(m.From.Node, []byte{2})
				}
			},
			Restarted: func(timed.BootID) { c.restarted++ },
		}
	}, Says: func(payload []byte) string { return fmt.Sprint("no. ", payload[0]) }}
}

func TestBareWorldHasNoPlatform(t *testing.T) {
	c := new(gossip)
	w, err := New(1, Options{Nodes: 3, Calm: true, Bare: true, App: c.app})
	require.NoError(t, err)
	rec := w.Record()
	require.NoError(t, w.Run(time.Second))
	require.Equal(t, w.Counters().Sent, w.Counters().Delivered+uint64(w.flying()))
	require.Zero(t, w.Counters().Timeouts)
	require.Zero(t, w.Counters().Elections)
	// Every node sends twenty times to two others, and is answered.
	require.InDelta(t, 3*20*2*2, c.heard, 30)
	require.Contains(t, []string{"no. 1", "no. 2"}, rec.Messages[0].Says)
	for _, n := range w.Nodes() {
		v, fresh := n.View()
		require.False(t, n.Leads() || fresh || n.Follows() != 0 || n.FollowsUntil() != 0 || n.LeadsUntil() != 0 || v != nil)
		require.True(t, n.Alive().Empty() && n.Support().Empty() && !n.Resign())
		require.Equal(t, clocksync.UnknownBound, n.Clock().Deviation)
	}
}

// flying counts the messages that are on their way.
func (w *World) flying() (n int) {
	for i := range w.queue.heap {
		if w.queue.heap[i].kind() == eventDeliver {
			n++
		}
	}
	return n
}

func TestBareWorldSurvivesAllFaults(t *testing.T) {
	restarted := 0
	for seed := range uint64(30) {
		hash := [2]uint64{}
		for i := range hash {
			c := new(gossip)
			r, err := Run(seed, Options{Nodes: 4, Duration: 10 * time.Second, Roughness: 3, Bare: true, App: c.app})
			require.NoError(t, err)
			require.Nil(t, r.Violation)
			hash[i] = r.Hash
			restarted += c.restarted
		}
		require.Equal(t, hash[0], hash[1])
	}
	require.NotZero(t, restarted, "no machine slept")
}

func TestBareWorldsOfCertainFaults(t *testing.T) {
	for _, f := range []fault.Fault{
		{Kind: fault.Resign, Node: 1}, {Kind: fault.Clone, Node: 1}, {Kind: fault.Rival, Node: 2}, {Kind: fault.BlackHole, Size: 1}, {Kind: fault.Heal, For: time.Second},
		{Kind: fault.Corrupt, Rate: 1}, {Kind: fault.Forge, Rate: 1}, {Kind: fault.SocketError, Node: 1, Rate: 1}, {Kind: fault.Stall, Node: 1, For: time.Second},
	} {
		c := new(gossip)
		w, err := New(3, Options{Nodes: 2, Calm: true, Bare: true, App: c.app})
		require.NoError(t, err)
		require.NoError(t, w.Inject(f), f.Kind)
		require.NoError(t, w.Run(3*time.Second), f.Kind)
		if f.Kind == fault.BlackHole || f.Kind == fault.Corrupt {
			require.Zero(t, c.heard, f.Kind)
		} else {
			require.NotZero(t, c.heard, f.Kind)
		}
	}
}

func TestBareOptionsAreChecked(t *testing.T) {
	_, err := New(1, Options{Bare: true})
	require.ErrorContains(t, err, "Bare: needs an App")
	_, err = New(1, Options{Bare: true, App: new(gossip).app, Broadcast: &Broadcast{}})
	require.ErrorContains(t, err, "neither Broadcast nor Servers")
}

func TestConnectedFollowsTheFaults(t *testing.T) {
	w, err := New(1, Options{Nodes: 3, Calm: true, Bare: true, App: new(gossip).app})
	require.NoError(t, err)
	require.True(t, w.Connected(1, 2) && w.Connected(1, 1) && !w.Disconnected(1, 2, 0))
	inject := func(f fault.Fault) {
		was := w.Changes()
		require.NoError(t, w.Inject(f))
		require.Greater(t, w.Changes(), was, f.Kind)
	}
	inject(fault.Fault{Kind: fault.Cut, Node: 1, Peer: 2})
	require.False(t, w.Connected(1, 2) || w.Connected(2, 1) || w.Disconnected(1, 2, 0), "one direction works")
	inject(fault.Fault{Kind: fault.Cut, Node: 2, Peer: 1})
	require.True(t, w.Disconnected(1, 2, 0) && w.Connected(1, 3))
	w.Mend()
	require.True(t, w.Connected(1, 2))

	delta := timed.LAN().FastThreshold
	inject(fault.Fault{Kind: fault.Slow, Node: 1, Peer: 2, Extra: 2 * delta})
	inject(fault.Fault{Kind: fault.Slow, Node: 2, Peer: 1, Extra: 2 * delta})
	require.True(t, !w.Connected(1, 2) && !w.Disconnected(1, 2, 0) && w.Disconnected(1, 2, delta))
	w.Mend()
	for _, f := range []fault.Fault{{Kind: fault.Loss, Rate: 0.1}, {Kind: fault.Flap, Extra: time.Second}, {Kind: fault.Clog}, {Kind: fault.SlowProcess, Node: 1, Extra: time.Second},
		{Kind: fault.SocketError, Node: 2, Rate: 0.1}, {Kind: fault.Reorder, Rate: 0.1}, {Kind: fault.Stall, Node: 1, For: time.Second}, {Kind: fault.Crash, Node: 2}} {
		inject(f)
		require.False(t, w.Connected(1, 2), f.Kind)
		w.Mend()
	}
	require.True(t, w.Disconnected(1, 2, 0), "node 2 is down")
	require.Len(t, w.Faults(), 12)
}

func TestWhenIsTheInverseOfTheClock(t *testing.T) {
	w, err := New(1, Options{Nodes: 1, Calm: true, Bare: true, App: new(gossip).app})
	require.NoError(t, err)
	n := w.Node(1)
	at := n.When(n.Instant().Add(time.Second))
	require.InDelta(t, time.Second, at, float64(time.Millisecond))
	h := n.Instant().Add(time.Second)
	require.NoError(t, w.Run(at))
	require.GreaterOrEqual(t, n.Instant(), h)
	require.Equal(t, Never, n.When(timed.Never))
}

// What a test of a bare world finds is shrunk, kept and run again as a bare world.
func TestTestOfABareWorld(t *testing.T) {
	t.Chdir(t.TempDir())
	fragile := func(w *World) App {
		return App{Invariants: []Invariant{{"all run", func() error {
			for _, n := range w.Nodes() {
				require.False(t, n.hasStack())
				if !n.Up() {
					return fmt.Errorf("node %d does not run", n.ID())
				}
			}
			return nil
		}}}}
	}
	c := Campaign{Seeds: 20, Options: Options{Duration: 4 * time.Second, Bare: true, App: fragile}}
	bad := &fakeT{name: "bare"}
	Test(bad, c)
	require.Regexp(t, `^sim: seed \d+: all run broken`, bad.fatal)
	again := &fakeT{name: "bare"}
	Test(again, c)
	require.Contains(t, again.fatal, "the kept case testdata/sim/bare/all-run-")
}
