package loop

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// Event implements [Sink]: an event is news to nobody who reads the snapshot.
func (n *inhabitant) Event(e *stack.Event) {
	w, s := n.w, n.l.Snapshot()
	_, _ = w.digest.Write([]byte(e.String()))
	switch e.Kind {
	case stack.EventElected:
		atOnce := slices.ContainsFunc(n.l.driver.report.events, func(e stack.Event) bool { return e.Kind == stack.EventLeadLost })
		w.demand(s.Phase != n.before.Phase || atOnce, "node %v tells first that it was elected", n.id)
		w.ends["elected"]++
	case stack.EventLeadLost:
		require.True(w.t, over(n.before.Phase), "node %v tells first that its lead is over", n.id)
		n.ended, n.leadUntil = n.ended+1, 0
		if e.Lost == leader.Distrusted {
			require.True(w.t, n.before.Trust.Lost(), "node %v tells that it distrusts its clock, and still trusts it", n.id)
			w.ends["distrusted"]++
		}
	case stack.EventGlobalLost:
		require.True(w.t, over(n.before.GlobalPhase), "node %v tells first that its global lead is over", n.id)
		n.endGlobal, n.global = n.endGlobal+1, 0
	case stack.EventReady:
		if n.machine != nil {
			n.votes = n.l.cfg.Stack.Timing.MaxLockTime // longer ones are over
		}
	case stack.EventEpoch:
		w.ends["epochs"]++
	case stack.EventViewInstalled:
		require.GreaterOrEqual(w.t, s.View.ID.Sequence, e.View.ID.Sequence, "node %v tells first of its view", n.id)
	}
}

// Restarted implements [Sink].
func (n *inhabitant) Restarted(why life.Reason, _, _ timed.BootID) {
	require.Equal(n.w.t, why.Discredits(), n.before.Trust.Lost())
}

// Warn implements [Sink].
func (n *inhabitant) Warn(string, ...any) {}

// check looks at all nodes as their users do, and holds it against the truth.
func (w *world) check() {
	if len(w.nodes) == 0 {
		return // all processes are down
	}
	kept := w.uses[:0]
	for _, u := range w.uses {
		if u.seldom && w.random.IntN(1000) > 0 || u.lasts() {
			kept = append(kept, u)
		} else {
			w.ends["contexts ended"]++
		}
	}
	w.uses = kept
	n := w.nodes[w.random.IntN(len(w.nodes))]
	if n.machine != nil && n.busy {
		return // its events have not come yet
	}
	global := w.random.IntN(2) == 0
	phase, _ := n.l.Snapshot().Lease(global)
	u := &use{of: n, phase: phase, global: global, lead: n.ended, seldom: w.random.IntN(4) == 0}
	if global {
		u.lead = n.endGlobal
	}
	if len(w.uses) < 20 && u.lasts() {
		w.uses = append(w.uses, u)
	}
}

// lasts reports whether the context lasts, as the façade does, and demands that the lead
// does: that it is the same lead, that it lasts for the margin, and that no other node
// leads.
func (u *use) lasts() bool {
	n, w := u.of, u.of.w
	s, now, margin := n.l.Snapshot(), timed.Instant(n.show()), n.l.cfg.Stack.Timing.SchedulingDelay
	if s.Trust.Lost() || s.Lasts(u.phase, u.global, now, margin) == 0 {
		return false
	}
	n.noteLeads()
	until, ended := n.leadUntil, n.ended
	if u.global {
		until, ended = n.global, n.endGlobal
	}
	w.demand(u.lead == ended, "a context of node %v is of a lead that is over", n.id)
	w.demand(until > now.Add(margin), "a context of node %v ends after its lead", n.id)
	for _, m := range w.nodes {
		if other := timed.Instant(m.show()); m != n && m.l.driver.stack != nil {
			e := m.l.driver.stack.Election()
			w.demand(!u.global || !e.LeadsGlobally(other), "nodes %v and %v lead globally", n.id, m.id)
			w.demand(w.joins != nil && w.joins.claims || !e.Leads(other) || !e.Support().Intersects(s.Support), "nodes %v and %v lead the same nodes", n.id, m.id)
		}
	}
	return true
}

// demand ends the test unless ok. It costs little where it is called often.
func (w *world) demand(ok bool, format string, args ...any) {
	if !ok {
		require.FailNow(w.t, w.String()+": "+fmt.Sprintf(format, args...))
	}
}

// strike cuts or mends links, stops a node, ends its trust in its clock, or has it resign.
func (w *world) strike() {
	if w.joins != nil && w.random.IntN(2) == 0 {
		w.joins.strike(w)
		return
	}
	if w.disks != nil && w.random.IntN(2) == 0 {
		w.disks.strike(w)
		return
	}
	if len(w.nodes) == 0 {
		return
	}
	n := w.nodes[w.random.IntN(len(w.nodes))]
	m := w.nodes[w.random.IntN(len(w.nodes))]
	switch w.random.IntN(8) {
	case 0:
		w.cut[[2]timed.NodeID{n.id, m.id}] = true
	case 1:
		for _, x := range w.nodes {
			w.cut[[2]timed.NodeID{n.id, x.id}], w.cut[[2]timed.NodeID{x.id, n.id}] = true, true
		}
	case 2, 3:
		clear(w.cut)
	case 4:
		n.next = w.now + w.random.Int64N(int64(300*time.Millisecond))
	case 5:
		n.l.do(func(d *driver) { d.judgeRate(hwclock.RateFaulty) })
		n.l.do(func(d *driver) { d.judgeRate(hwclock.RateFine) })
	default:
		for _, x := range w.nodes {
			if x.leadUntil != 0 {
				n = x
			}
		}
		to := timed.NoNode
		if m != n && w.random.IntN(2) == 0 {
			to = m.id
		}
		n.l.do(func(d *driver) {
			written, alone := n.written, d.stack != nil && d.stack.Election().Support().Len() < 2
			d.resign(to, func(err error) {
				if err == nil {
					require.True(w.t, over(n.before.Phase), "node %v has resigned, and leads", n.id)
					require.True(w.t, n.written > written || alone, "node %v has resigned, and nobody hears of it", n.id)
					w.ends["resigned"]++
				}
			})
		})
	}
}

// worldsOfUsers plays worlds of loops, and describes what has happened.
func worldsOfUsers(t testing.TB) (behaviour string) {
	seen := map[string]int{}
	for seed := range uint64(24) {
		w := newWorld(t, seed+1, 3+int(seed%3), nil)
		w.run(8*time.Second, true)
		clear(w.cut)
		w.run(time.Second, false)
		led := 0
		for _, n := range w.nodes {
			if n.l.Snapshot().Lead(timed.Instant(n.show())).Leads {
				led++
			}
		}
		require.Equal(t, 1, led, "seed %d: one leader in the end", seed+1)
		behaviour += w.behaviour(fmt.Sprint("seed ", seed+1))
		for what, n := range w.ends {
			seen[what] += n
		}
	}
	for _, what := range []string{"elected", "distrusted", "contexts ended", "resigned"} {
		require.NotZero(t, seen[what], what)
	}
	return behaviour
}

func TestUsersAreToldTheTruthInAllWorlds(t *testing.T) {
	checkBehaviour(t, "users.txt", worldsOfUsers(t))
}

// worldsOfReaders plays worlds of loops that broadcast, and describes what has happened.
func worldsOfReaders(t testing.TB) (behaviour string) {
	seen := 0
	for seed := range uint64(8) {
		cast := broadcast.Config{PacketBytes: 1000}.WithDefaults()
		w := newWorld(t, seed+1, 3, &cast)
		w.run(2*time.Second, true)
		seen += w.ends["messages"]
		behaviour += w.behaviour(fmt.Sprint("seed ", seed+1))
	}
	require.Positive(t, seen)
	return behaviour
}

func TestReadersKnowWhatIsAcknowledged(t *testing.T) {
	checkBehaviour(t, "readers.txt", worldsOfReaders(t))
}
