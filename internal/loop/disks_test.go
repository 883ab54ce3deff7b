package loop

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/loop/statedir"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/race"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// disks is what a world has whose nodes have state directories. A disk is slow, full for a
// while, or fails, and its machine crashes before or after a write: always in the middle of a
// turn, in which the others go on. Processes are stopped between publishing and sending, too, and
// start again with another MaxLockTime.
type disks struct {
	group  timed.Set
	starts []start
	sound  bool              // every disk works at once
	cast   *broadcast.Config // of all nodes; nil: none broadcasts
}

// start is a process that begins at a time.
type start struct {
	at int64
	*machine
}

// machine is what outlives the processes of a node.
type machine struct {
	id    timed.NodeID
	drift int64
	dir   string
	state *statedir.Dir
	full  int      // attempts to write that find the disk full
	later []func() // what processes have given to Config.Go
	busy  bool     // a turn waits for the disk
	died  bool     // the machine has crashed meanwhile
	said
}

// said is what others may have heard of a node.
type said struct {
	sequence uint64                  // of views
	boots    map[uint64]timed.BootID // by the number of the incarnation
	epoch    uint64
	phase    epoch.Phase
	votes    time.Duration // the longest that may bind it
}

// powerOff is the panic that ends a turn of a process whose machine crashes.
type powerOff struct{}

var (
	errDiskFull = fmt.Errorf("a test: %w", durable.ErrFull)
	errDisk     = errors.New("a test: the disk fails")
)

// newDisks returns a world whose nodes have state directories and a quorum system that changes.
func newDisks(t testing.TB, seed uint64, count int) *world {
	w := emptyWorld(t, seed)
	w.disks = &disks{}
	if w.random.IntN(3) == 0 {
		cast := broadcast.Config{PacketBytes: 1000}.WithDefaults()
		w.disks.cast = &cast
	}
	for id := range timed.NodeID(count) {
		w.disks.group.Add(id + 1)
	}
	for id := range w.disks.group.All() {
		m := &machine{id: id, drift: w.random.Int64N(180_001) - 90_000, dir: t.TempDir(), said: said{boots: map[uint64]timed.BootID{}}}
		w.disks.starts = append(w.disks.starts, start{w.now + w.random.Int64N(int64(10*time.Millisecond)), m})
	}
	return w
}

// startDue starts the processes that are due.
func (w *world) startDue() {
	due, rest := []start(nil), w.disks.starts[:0]
	for _, s := range w.disks.starts {
		if s.at <= w.now {
			due = append(due, s)
		} else {
			rest = append(rest, s)
		}
	}
	w.disks.starts = rest
	for _, s := range due {
		w.startOn(s.machine)
	}
}

// startOn starts a process on a machine, which remembers all that it has said, as a node does.
func (w *world) startOn(m *machine) {
	n := &inhabitant{w: w, id: m.id, drift: m.drift, machine: m}
	timing := timed.LAN()
	timing.MaxLockTime *= time.Duration(1 + w.random.IntN(3))
	var err error
	m.state, err = statedir.Open(m.dir, statedir.Owner{ID: m.id, Group: "a group"}, timing.MaxLockTime)
	require.NoError(w.t, err, "node %v does not start again", m.id)
	m.state.WriteBy(func(path string, k durable.Kind, b []byte) error { return w.writeFile(n, path, k, b) })
	system, err := quorum.Majority(w.disks.group)
	require.NoError(w.t, err)
	epochs, err := m.state.ReadEpoch(statedir.Configured{Quorum: system, Epoch: 1})
	require.NoError(w.t, err, "node %v does not start again", m.id)
	w.remembers(m, epochs)
	crashed := w.crashes(n, func() { err = m.state.Begin() })
	if crashed || err != nil {
		w.end(n, "starts fail")
		return
	}
	n.l, _ = newLoop(func(cfg *Config) {
		n.fakeConn = cfg.Conn.(*fakeConn)
		n.local = at7(m.id)
		cfg.Stack.Self.Node, cfg.Stack.Timing, cfg.Stack.Broadcast, cfg.Stack.Epochs, cfg.State = m.id, timing, w.disks.cast, epochs, m.state
		cfg.Conn, cfg.Sink, cfg.Random, cfg.Clock, cfg.Wall = n, n, w.random.Uint64, hwclock.Of(n.show), n.wall
		cfg.Go, cfg.Sleep = func(f func()) { m.later = append(m.later, f) }, func(d time.Duration) { w.wait(n, d) }
		var list []peers.Peer
		for id := range w.disks.group.All() {
			list = append(list, peers.Peer{ID: id, Addr: at7(id).String()})
		}
		cfg.Peers = peers.NewResolver(peers.Options{Self: m.id, Changed: func() {}}, list)
	})
	n.next = w.now
	w.nodes, w.at[n.local] = append(w.nodes, n), n
	w.ends["started"]++
}

// remembers demands that a process begins with all that an earlier one has said.
func (w *world) remembers(m *machine, e *epoch.State) {
	require.GreaterOrEqual(w.t, m.state.FormerViews(), m.sequence, "%v: node %v forgets its views", w, m.id)
	require.GreaterOrEqual(w.t, m.state.Earlier(), m.votes, "%v: node %v forgets how long its votes are", w, m.id)
	require.Empty(w.t, m.boots[m.state.Incarnation()], "%v: node %v numbers two incarnations alike", w, m.id)
	w.demand(e.Epoch > m.epoch || e.Epoch == m.epoch && e.Phase >= m.phase, "node %v forgets its epoch: it said %d %v, and begins with %d %v", m.id, m.epoch, m.phase, e.Epoch, e.Phase)
}

// note notes what a packet says.
func (m *machine) note(n *inhabitant, p *wire.Packet) {
	starts := n.l.driver.cfg.Starts
	if before := m.boots[starts]; before != 0 {
		n.w.demand(before == p.Header.Boot, "node %v numbers two incarnations alike", m.id)
	}
	m.boots[starts] = p.Header.Boot
	if p.Has(wire.FrameReply) {
		m.sequence = max(m.sequence, p.Report.Acknowledged.Sequence, p.Report.Installed.Sequence)
		if p.Reply.Support {
			m.votes = max(m.votes, n.l.cfg.Stack.Timing.MaxLockTime)
		}
	}
	if v := p.Part.View; p.Has(wire.FrameRequest) && v != nil {
		m.sequence = max(m.sequence, v.ID.Sequence)
	}
	if e := p.Epoch; p.Has(wire.FrameEpoch) {
		phase := e.Phase
		if phase == epoch.Chosen {
			phase = epoch.Idle // it has learnt that from others, and may forget it
		}
		if e.Epoch > m.epoch || e.Epoch == m.epoch && phase > m.phase {
			m.epoch, m.phase = e.Epoch, phase
		}
	}
}

// writeFile writes a file of a state directory, or fails.
func (w *world) writeFile(n *inhabitant, path string, k durable.Kind, b []byte) error {
	m := n.machine
	if w.disks.sound {
		return durable.Write(path, k, b)
	}
	if m.full == 0 && w.random.IntN(12) == 0 {
		m.full = 1 + w.random.IntN(3)
	}
	if m.full > 0 {
		m.full--
		w.ends["full"]++
		return errDiskFull
	}
	switch w.random.IntN(24) {
	case 0:
		w.wait(n, time.Duration(w.random.Int64N(int64(400*time.Millisecond))))
		w.ends["slow"]++
	case 1:
		w.ends["failed"]++
		if w.random.IntN(2) == 0 {
			return errors.Join(errDisk, durable.Write(path, k, b))
		}
		return errDisk
	case 2:
		panic(powerOff{})
	case 3:
		if err := durable.Write(path, k, b); err != nil {
			return err
		}
		panic(powerOff{})
	}
	return durable.Write(path, k, b)
}

// wait lets the others go on while a turn of a node waits for its disk. Its readers have the
// snapshot of the turn before, and nobody hears of this one.
func (w *world) wait(n *inhabitant, d time.Duration) {
	if n.busy || n.l == nil {
		return // it does not take a turn
	}
	before, written := n.l.Snapshot(), n.written
	n.busy = true
	w.run(d, true)
	n.busy = false
	if n.died {
		panic(powerOff{})
	}
	require.Same(w.t, before, n.l.Snapshot(), "%v: node %v publishes what is not written", w, n.id)
	require.Equal(w.t, written, n.written, "%v: node %v says what is not written", w, n.id)
	w.ends["waited"]++
}

// crashes calls a function, and reports whether the machine crashes meanwhile.
func (w *world) crashes(n *inhabitant, f func()) (crashed bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(powerOff); !ok {
				panic(r)
			}
			crashed = true
			w.ends["crashed"]++
		}
	}()
	f()
	return false
}

// turnOn has a node with a disk take a turn.
func (w *world) turnOn(n *inhabitant) {
	crashed := w.crashes(n, n.turn)
	if n.died || crashed || n.l.driver.life.Over() {
		if err := n.l.driver.failure; !crashed && !n.died {
			require.ErrorIs(w.t, err, errDisk, "node %v ends", n.id)
		}
		w.end(n, "ended")
		return
	}
	if len(n.arrived) > 0 {
		n.next = min(n.next, w.now+w.random.Int64N(int64(time.Millisecond)))
	}
	for i, a := range w.nodes {
		for _, b := range w.nodes[:i] {
			w.oneLeads(a, b)
		}
	}
}

// oneLeads demands that two nodes do not both lead globally, in whatever epochs.
func (w *world) oneLeads(a, b *inhabitant) {
	leads := func(n *inhabitant) bool {
		return n.l.driver.stack != nil && n.l.driver.stack.Election().LeadsGlobally(timed.Instant(n.show()))
	}
	w.demand(!leads(a) || !leads(b), "nodes %v and %v lead globally", a.id, b.id)
}

// end ends a process. Another one begins on the machine after a while.
func (w *world) end(n *inhabitant, how string) {
	m := n.machine
	w.ends[how]++
	require.NoError(w.t, m.state.Close())
	m.died, m.busy, m.full = false, false, 0
	w.nodes = slices.DeleteFunc(w.nodes, func(x *inhabitant) bool { return x == n })
	w.uses = slices.DeleteFunc(w.uses, func(u *use) bool { return u.of == n })
	if w.at[at7(m.id)] == n {
		delete(w.at, at7(m.id))
	}
	delay := w.random.Int64N(int64(100 * time.Millisecond))
	if w.random.IntN(4) == 0 {
		delay *= 10
	}
	w.disks.starts = append(w.disks.starts, start{w.now + delay, m})
}

// strike does one of the things that only such a world has.
func (k *disks) strike(w *world) {
	if len(w.nodes) == 0 {
		return
	}
	n := w.nodes[w.random.IntN(len(w.nodes))]
	switch w.random.IntN(4) {
	case 0:
		if n.died = true; !n.busy {
			w.end(n, "killed")
		}
	case 1:
		if len(n.later) > 0 && !n.busy {
			f := n.later[0]
			n.later = n.later[1:]
			if w.crashes(n, f) {
				w.end(n, "killed")
			}
		}
	default:
		k.propose(w)
	}
}

// propose has a global leader propose another quorum system.
func (k *disks) propose(w *world) {
	next := timed.Set{}
	for id := range k.group.All() {
		if w.random.IntN(4) > 0 {
			next.Add(id)
		}
	}
	system, err := quorum.Majority(next)
	if err != nil {
		return
	}
	for _, n := range w.nodes {
		n.l.do(func(d *driver) {
			if d.stack != nil && d.stack.Election().LeadsGlobally(d.clock.now) {
				if err := d.proposeQuorum(d.cfg.Epochs.Epoch, system.String()); err == nil {
					w.ends["proposed"]++
				}
			}
		})
	}
}

// settled reports whether all nodes are in one view, which is up to date, in one epoch, and one
// of them leads globally.
func (w *world) settled() bool {
	leads, epochs := 0, map[uint64]bool{}
	for _, n := range w.nodes {
		s := n.l.Snapshot()
		if s.Epoch == nil {
			return false
		}
		epochs[s.Epoch.Epoch] = true
		if n.l.driver.stack != nil && n.l.driver.stack.Election().LeadsGlobally(timed.Instant(n.show())) {
			leads++
		}
	}
	return len(w.nodes) == w.disks.group.Len() && w.met() && leads == 1 && len(epochs) == 1
}

// worldsOfDisks plays worlds of nodes with disks, and describes what has happened.
func worldsOfDisks(t testing.TB) (behaviour string) {
	if dir := "/dev/shm"; os.Getenv("TMPDIR") == "" {
		if f, err := os.Stat(dir); err == nil && f.IsDir() {
			t.Setenv("TMPDIR", dir) // flushing it takes no time
		}
	}
	seen := map[string]int{}
	for seed := range uint64(24) {
		w := newDisks(t, seed+1, 3+int(seed%3))
		w.run(12*time.Second, true)
		clear(w.cut)
		w.still, w.disks.sound = true, true
		for end := w.now + int64(10*time.Second); !w.settled(); w.run(time.Second/4, false) {
			require.Less(t, w.now, end, "seed %d: %v", seed+1, w.views())
		}
		for _, n := range w.nodes {
			require.NoError(t, n.state.Close())
		}
		behaviour += w.behaviour(fmt.Sprint("seed ", seed+1))
		for what, n := range w.ends {
			seen[what] += n
		}
	}
	for _, what := range []string{"elected", "full", "slow", "failed", "crashed", "killed", "waited", "preempted", "ended", "starts fail", "proposed", "epochs", "messages"} {
		require.NotZero(t, seen[what], what)
	}
	return behaviour
}

func TestNothingSaidIsForgottenInAllWorlds(t *testing.T) {
	if race.Enabled {
		t.Skip("one goroutine: it is tested without the race detector")
	}
	checkBehaviour(t, "disks.txt", worldsOfDisks(t))
}
