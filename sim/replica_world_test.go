package sim

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// stateWorld runs a replicated state on every node of a world with a broadcast.
// Applications take their time with every call.
type stateWorld struct {
	w       *World
	opt     stateOptions
	temper  stateTemper
	rand    random.Stream
	members []*stateMember // by node
	check   stateCheck
	tally   stateTally
	done    bool // nobody broadcasts operations any more
}

// stateOptions choose what a run does.
type stateOptions struct {
	tight  bool // little may wait
	timed  bool // some operations are Timed
	quorum bool // states go on in quorums only
}

// stateTemper is how hard a seed is.
type stateTemper struct {
	nodes                       int
	roughness                   float64
	chunk, rate, window, queued int
	untidy                      bool
	refuse                      float64
	slow                        int64   // what a call of an application takes at most
	pace                        float64 // how often a second each node broadcasts, up to three operations
	mix                         []broadcast.Options
	cast                        broadcast.Config
}

// stateTally counts what a run has seen.
type stateTally struct {
	ops, restores, merges, over, discarded, refused, lost, diverged int
	lasting, barriers, skipped, broken                              int
}

// stateMember is one incarnation.
type stateMember struct {
	n       *Node
	inc     timed.Incarnation
	r       *replica.Replica
	app     *stateApp
	view    *membership.View
	line    []replica.Effect // calls of the application
	busy    bool
	outbox  []replica.Effect
	pumping bool
	alarm   Timer
	ops     uint64
	refused bool

	queuedOps []opID        // delivered in the view
	must      map[opID]bool // what the state must contain
	merged    bool          // in the present view
	promises  statePromises
}

func newStateWorld(seed uint64, opt stateOptions) *stateWorld {
	r := random.New(seed, random.Apps<<8)
	s := &stateWorld{opt: opt, rand: r}
	t := &s.temper
	t.nodes, t.roughness = int(r.Between(2, 6)), r.LogUniform(0.5, 4)
	t.chunk = int(r.LogUniform(64, 2000))
	t.rate = int(r.LogUniform(100_000, 20_000_000))
	t.window = max(t.chunk*int(r.Between(1, 8)), 1000)
	t.queued = int(r.LogUniform(5_000, 1_000_000))
	t.pace = r.LogUniform(5, 150)
	if opt.tight {
		t.chunk, t.rate, t.queued = 100, 80_000, 1200
		t.window, t.pace = 400, math.Inf(1)
	}
	t.untidy = r.Chance(0.3)
	if r.Chance(0.3) {
		t.refuse = 0.1
	}
	t.slow = int64(r.LogUniform(10_000, 3_000_000))
	t.pace = min(t.pace, t.bearable())
	t.mix = slices.DeleteFunc(allOptions(), func(o broadcast.Options) bool {
		return o.Order == broadcast.Unordered || o.Order == broadcast.Timed && !opt.timed
	})
	if r.Chance(0.4) {
		i := r.Below(int64(len(t.mix)))
		t.mix = t.mix[i : i+1]
	}
	t.cast = broadcast.Config{Window: int(r.LogUniform(1<<13, 1<<18)), PacketBytes: broadcast.MinPacketBytes,
		MaxPayload: 4000, MaxMessages: 256, Backlog: 1 << 20}
	if opt.quorum {
		t.cast.RequireQuorum = group(t.nodes)
	}
	s.members = make([]*stateMember, t.nodes)
	s.check = newStateCheck(s)
	return s
}

// bearable returns the pace with which all states are one in time when the world
// has become peaceful: no more operations come than applications can take, and the
// state of all of them passes through the rate and the window of a source in a
// second.
func (t *stateTemper) bearable() float64 {
	const (
		perTurn   = 2    // operations, on average
		lateness  = 2e-4 // of a timer, in seconds, on average
		roundTrip = 0.03 // of a piece and its confirmation, in seconds
	)
	calls := 0.7 / (float64(t.slow)/2e9 + lateness)
	bytes := min(float64(t.rate), float64(t.window)/roundTrip)
	operations := bytes / float64(len(opID{})) / (stateRage + stateTail).Seconds()
	return min(calls, operations) / perTurn / float64(t.nodes)
}

// options are those of the world. Two processes with one id are two replicas that
// say they are the same, of which nothing can be promised.
func (s *stateWorld) options() Options {
	t := &s.temper
	return Options{Nodes: t.nodes, Roughness: t.roughness, Duration: stateRage, Without: []Class{ClassRival, ClassClone},
		Broadcast: &Broadcast{Config: &t.cast, Quiet: true}, App: func(w *World) App {
			s.w = w
			return App{Start: s.start}
		}}
}

// start begins the replica of a process, and a new one whenever the platform
// gives the process a new incarnation.
func (s *stateWorld) start(n *Node) Handlers {
	s.begin(n)
	return Handlers{
		Broadcast: BroadcastHandlers{
			Delivered: func(d broadcast.Delivery, _ *membership.View) { s.delivered(n, d) },
			Entered:   func(v *membership.View) { s.entered(n, v) },
		},
		Restarted: func(timed.BootID) { s.begin(n) },
	}
}

func (s *stateWorld) begin(n *Node) {
	m := &stateMember{n: n, inc: n.Incarnation(), app: newStateApp(), must: map[opID]bool{}, promises: newStatePromises()}
	t := &s.temper
	cfg := replica.Config{Self: m.inc, MaxPayload: t.cast.MaxPayload, ChunkBytes: t.chunk, Rate: t.rate, Window: t.window, MaxQueued: t.queued, HashEvery: 3,
		RequireQuorum: t.cast.RequireQuorum}
	if err := cfg.Validate(); err != nil {
		s.check.fail("config", m, "%v", err)
	}
	m.r = replica.New(cfg)
	if t.untidy {
		m.app.untidy = &s.rand
	}
	s.members[n.id-1] = m
	s.check.forgets()
	s.talk(m)
}

// runs reports whether an incarnation still does.
func (m *stateMember) runs() bool { return m.n.up && !m.n.upset && m.n.Incarnation() == m.inc }

// after does something in a turn of the incarnation, if it lasts so long.
func (m *stateMember) after(d time.Duration, do func()) Timer {
	return m.n.After(d, func() {
		if m.runs() {
			do()
		}
	})
}

// talk makes a node broadcast operations now and then.
func (s *stateWorld) talk(m *stateMember) {
	m.after(time.Duration(s.rand.Exponential()/s.temper.pace*1e9), func() {
		if s.done {
			return
		}
		for range s.rand.Between(1, 3) {
			s.operate(m)
		}
		if s.rand.Chance(0.2) {
			s.bar(m)
		}
		s.talk(m)
	})
}

// operate broadcasts one operation, if the replica takes any; a window that is full
// is no fault.
func (s *stateWorld) operate(m *stateMember) {
	if !m.r.Accepting() {
		return
	}
	m.ops++
	op := binary.BigEndian.AppendUint64(nil, uint64(m.inc.Boot))
	op = binary.BigEndian.AppendUint64(op, m.ops)
	op = append(op, make([]byte, s.rand.Below(64))...)
	if _, err := m.n.Broadcast(replica.AppendOp(nil, op), s.temper.mix[s.rand.Below(int64(len(s.temper.mix)))]); err == nil {
		s.tally.ops++
	}
}

func (s *stateWorld) delivered(n *Node, d broadcast.Delivery) {
	m := s.members[n.id-1]
	if !m.runs() {
		return
	}
	if d.Payload[0] == 1 && d.Class == broadcast.ClassOrdered {
		m.queuedOps = append(m.queuedOps, opID(d.Payload[1:17]))
		s.check.owes(m, &d)
	}
	s.perform(m, m.r.HandleDelivery(n.Instant(), d, nil))
	if m.r.Settled() && m.r.Standing() == replica.Pending && m.r.Queued() > s.temper.queued {
		s.check.fail("queue", m, "%d bytes wait, more than %d", m.r.Queued(), s.temper.queued)
	}
}

func (s *stateWorld) entered(n *Node, v *membership.View) {
	m := s.members[n.id-1]
	if !m.runs() {
		return
	}
	s.check.leaves(m, v)
	m.view, m.merged, m.queuedOps = v, false, nil
	s.perform(m, m.r.HandleInstalled(n.Instant(), v, nil))
}

// perform does what a replica wants, the calls of the application one after the
// other.
func (s *stateWorld) perform(m *stateMember, out []replica.Effect) {
	for i := range out {
		switch e := &out[i]; e.Kind {
		case replica.Broadcast:
			m.outbox = append(m.outbox, *e)
			s.pump(m, 0)
		case replica.Notify:
			s.event(m, &e.Event)
		default:
			m.line = append(m.line, *e)
			s.check.decides(m, e)
			if e.Kind == replica.Merge {
				m.merged = true
				s.check.merges(m, e)
			}
		}
	}
	s.work(m)
	m.alarm.Stop()
	if at := m.r.Deadline(); at != timed.Never {
		m.alarm = m.after(at.Sub(m.n.Instant()), func() { s.perform(m, m.r.HandleTimeout(m.n.Instant(), nil)) })
	}
}

// pump broadcasts what waits, as far as the window lets it.
func (s *stateWorld) pump(m *stateMember, after time.Duration) {
	if m.pumping {
		return
	}
	m.pumping = true
	m.after(after, func() {
		m.pumping = false
		for len(m.outbox) > 0 {
			e := &m.outbox[0]
			_, err := m.n.Broadcast(e.Payload, e.Options)
			if errors.Is(err, broadcast.ErrWindowFull) || errors.Is(err, errNotRunning) {
				s.pump(m, time.Millisecond)
				return
			}
			if err != nil && !errors.Is(err, broadcast.ErrNoQuorum) && !errors.Is(err, broadcast.ErrLeaving) {
				s.check.fail("refused", m, "%v", err)
			}
			m.outbox = m.outbox[1:]
		}
	})
}

// work lets the application do its next call.
func (s *stateWorld) work(m *stateMember) {
	if m.busy || len(m.line) == 0 {
		return
	}
	m.busy = true
	m.after(time.Duration(s.rand.Below(s.temper.slow)), func() {
		e := m.line[0]
		m.line = m.line[1:]
		m.busy = false
		s.call(m, &e)
		s.work(m)
	})
}

// call is one call of an application.
func (s *stateWorld) call(m *stateMember, e *replica.Effect) {
	now := m.n.Instant()
	if s.w.opt.Trace != nil {
		s.w.trace(m.n, "* call %d name %v at %v pos %d %v, history %x", e.Kind, e.Name, e.At, e.Delivery.Position, e.Delivery.ID, m.app.history)
	}
	switch e.Kind {
	case replica.Apply:
		m.app.apply(e.Delivery.Payload)
	case replica.Barrier:
		s.check.passes(m, e)
	case replica.Snapshot:
		b := m.app.snapshot()
		if s.rand.Chance(s.temper.refuse) && !s.done {
			m.refused = true
			s.tally.refused++
			s.perform(m, m.r.HandleSnapshot(now, e.Name, nil, replica.Digest{}, errors.New("not now"), nil))
			return
		}
		s.check.snapshot(m, e.Name, b)
		s.perform(m, m.r.HandleSnapshot(now, e.Name, b, replica.DigestOf(b), nil, nil))
	case replica.Restore:
		s.tally.restores++
		s.check.snapshot(m, e.Name, e.State)
		m.app.restore(e.State)
	case replica.Merge:
		s.tally.merges++
		s.check.inputs(m, e)
		m.app.merge(e.Branches)
	case replica.Hash:
		s.perform(m, m.r.HandleHash(now, e.At, m.app.history, nil))
	}
}

// event takes notice of what happens to the state of a node.
func (s *stateWorld) event(m *stateMember, e *replica.Event) {
	if s.w.opt.Trace != nil {
		s.w.trace(m.n, "* event %d %+v", e.Kind, *e)
	}
	switch e.Kind {
	case replica.EventStartedOver:
		s.tally.over++
	case replica.EventDiscarded:
		s.tally.discarded++
		clear(m.must) // it is told that its state is not the group's
		if s.w.cast.check.quorum.Empty() {
			s.check.fail("discard", m, "discards its state without RequireQuorum")
		}
	case replica.EventStateLost:
		s.tally.lost++
	case replica.EventStuck:
		if m.refused { // what its operator would do
			s.restart(m)
		}
	case replica.EventDiverged:
		s.tally.diverged++
		// Two ways to write down one state may be taken for two inputs of a merge.
		if !s.temper.untidy || !e.At.View.None() {
			s.check.fail("diverged", m, "at %v from node %d: %x, %x there", e.At, e.Member, e.Ours, e.Theirs)
		}
	case replica.EventCorrupt:
		s.check.fail("corrupt", m, "%v from %d", e.Name, e.Member)
	}
}

// idle reports whether all replicas are at work, and nothing waits.
func (s *stateWorld) idle() bool {
	return !slices.ContainsFunc(s.members, func(m *stateMember) bool {
		return !m.r.Current() || len(m.line) > 0 || len(m.outbox) > 0
	})
}

// restart ends a process that is stuck, and starts it again, as soon as the world
// is not held still.
func (s *stateWorld) restart(m *stateMember) {
	if s.w.still {
		m.after(s.w.opt.Timing.Expires, func() { s.restart(m) })
		return
	}
	if err := s.w.Inject(Fault{Kind: Crash, Node: m.n.id, For: 10 * time.Millisecond}); err != nil {
		s.check.fail("restart", m, "%v", err)
	}
}
