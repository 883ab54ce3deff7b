// Package replicated runs replicated state in simulated worlds. Every node has a
// replica and an application that takes its time with every call, and whose state
// contains its history. When the random faults are over, all states must become
// the same, and contain every operation that somebody was told to last.
package replicated

import (
	"slices"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// Options choose a kind of replicated state.
type Options struct {
	Tight  bool // little may wait
	Timed  bool // some operations are Timed
	Quorum bool // states continue in quorums only
	Disks  bool // machines keep the state
	Damage bool // and lose it at times, or a part
	// Change: the quorum system is replaced now and then.
	Change bool
	// Force: when a quorum is lost, an operator forces the change. The dead come back later.
	Force bool
	// Sessions: operations are of clients that submit them again.
	Sessions bool
	// Loaded: windows are full of large payloads, incarnations end while a state comes to
	// them, and nodes forget peers.
	Loaded bool
	// Limits: nodes take states of different sizes.
	Limits bool
	// Apart: nodes that do not hear that the others have ordered their messages meet those that
	// have forgotten it.
	Apart bool
	// Clocks: all clocks are slewed at once beyond ρ, as by a common time server that is wrong.
	Clocks bool
	// Corrupt: some pieces of snapshots are damaged before they are sent.
	Corrupt bool
	// Wipes: machines lose their disks with their state directories, and operators let others go
	// on meanwhile.
	Wipes bool
	// Preempted: processes are stopped between a turn and its packets.
	Preempted bool
	// Parts: what has come of a snapshot outlives a process with a disk, and may be damaged.
	Parts bool
}

// The phases of a run.
const (
	rage = 6 * time.Second // random faults strike
	// tail is how long operations come after the last fault.
	tail = 400 * time.Millisecond
	// peace covers the longest reboot, a view, and the delivery of all broadcasts.
	peace = 3 * time.Second
	// patience covers the calls that slow applications still have to make, and the transfers of the
	// state to several nodes that began them at different positions.
	patience = time.Minute
)

// Situations that a run counts.
const (
	Operated    = "an operation was broadcast"
	Merged      = "states were merged"
	Restored    = "a state was restored"
	StartedOver = "a transfer of state started over"
	Discarded   = "a state was discarded"
	Refused     = "a snapshot was refused"
	Lost        = "a state was lost"
	Diverged    = "two ways to write a state differed"
	Lasted      = "an operation was known to last"
	Passed      = "a barrier was passed"
	Leased      = "a state was read by lease"
	Skipped     = "an operation was skipped"
	Begun       = "too few remembered, and nobody was absent"
	Waited      = "a quorum waited for members that remember"
	Together    = "all machines slept"
	Continued   = "an incarnation went on with an earlier state"
	Recovered   = "a process found a state on its disk"
	Torn        = "a process ended while its disk was written, and found that"
	Failed      = "a disk failed"
	Full        = "a disk was full"
	Compacted   = "a snapshot was written to a disk"
	EndedEarly  = "a process ended while it opened its store"
	PowerLost   = "a machine lost its power"
	Forgotten   = "a node had nothing on its disk any more"
	Unread      = "a disk could not be read when a process began"

	NoticedRollback = "members noticed that a disk had gone back"
	MissedRollback  = "no member could notice that a disk had gone back"

	FullForSnapshot = "a disk was full for a snapshot"
	Unconfirmed     = "a disk was full when a process found a snapshot that nothing follows"
	EndedTogether   = "all processes ended"
	Repeated        = "an attempt had been applied before"
	Expired         = "a session had expired"
	Changed         = "an incarnation began in a later epoch"
	Declared        = "an operator let a view go on that would have waited for ever"
	DeclaredApart   = "an operator let a view go on while nodes were absent"
	DeclaredAgain   = "an operator let another view go on while nodes were absent"
	MissedWord      = "a member left a view without the word of an operator by which others went on"
	Wiped           = "a machine lost its disk and its state directory"
	Forced          = "an operator forced an epoch"
	LostWithDead    = "what was said to last was lost with members that were declared dead"
	Inherited       = "what was said to last outlived a forced epoch"
	CameBack        = "a member came back with its state that was declared dead"
	CameBackEmpty   = "a member came back without its state that was declared dead"
	Cramped         = "there was no room for a piece of a snapshot"
	Reused          = "blocks of an earlier transfer were used"
	CutShort        = "an incarnation ended while a state came to it"
	Filled          = "a window was full of operations"
	DeclinedState   = "a node did not take a state"
	Corrupt         = "a snapshot came that did not have its digest"
	MissedMerger    = "a node ended at the merger of a state that it did not take"
)

// run is one seed under way.
type run struct {
	seed    uint64
	w       *sim.World
	opt     Options
	load    load
	rand    random.Stream
	members []*member // by node
	disks   []*disk   // by node
	again   []bool    // by node: an earlier process was in views
	check   check
	clients clients
	forced  forced
	wipes   wipes
	done    bool // the members broadcast no more operations
}

// Play runs a seed. Of the options it uses those of the run itself, such as Trace:
// the seed determines the world. It is a [sim.Campaign.Play].
func (o Options) Play(seed uint64, opt sim.Options) (sim.Result, error) {
	s := &run{seed: seed, opt: o, rand: random.New(seed, random.Apps<<8)}
	s.load = drawLoad(s.rand, o)
	s.wipes.rand = random.New(seed, random.Apps<<8|3)
	s.load.replica.NewBytes = s.newSpool(seed).newBytes
	s.members = make([]*member, s.load.nodes)
	s.disks = make([]*disk, s.load.nodes)
	s.again = make([]bool, s.load.nodes)
	s.check = newCheck(s)
	s.clients = clients{sent: map[opID]sent{}, lasting: map[attempt]uint64{}}
	for range s.load.clients {
		s.clients.all = append(s.clients.all, &client{})
	}
	c, err := sim.CaseOf(seed, s.options(opt))
	if err != nil {
		return sim.Result{}, err
	}
	c.Schedule.Traffic.Mix = s.load.mix
	if s.w, err = c.World(); err != nil {
		return sim.Result{}, err
	}
	if s.pass(rage) {
		s.unlimit()
		s.w.Mend()
		if s.pass(tail) {
			s.done = true
			if s.pass(peace) {
				_ = s.w.RunUntil(patience, s.idle) // the check of the end says more than this error
				s.check.end()
			}
		}
	}
	r := s.w.Result()
	if v := s.check.failed; v != nil && r.Violation == nil {
		v.Seed, v.At = seed, s.w.Time()
		r.Violation = v
	}
	return r, nil
}

// pass lets time pass. It returns false if the run ends before: a promise was
// broken, or the campaign was interrupted.
func (s *run) pass(d time.Duration) bool {
	end := s.w.Time() + d
	return s.w.Run(d) == nil && s.w.Time() == end
}

// options returns the options of the world. It has no rivals and clones: they are
// two replicas under one name, of which nothing can be promised.
func (s *run) options(opt sim.Options) sim.Options {
	opt.Nodes, opt.Roughness, opt.Duration, opt.Preempted = s.load.nodes, s.load.roughness, rage, s.opt.Preempted
	opt.Without = []fault.Class{fault.ClassRival, fault.ClassClone}
	if s.opt.Clocks {
		opt.BrokenClocks, opt.Shared = true, true
		opt.Without = append(opt.Without, fault.ClassBrokenClock) // of single nodes
	}
	opt.Broadcast = &sim.Broadcast{Config: &s.load.cast, Quiet: true, ByEpochs: s.opt.Change}
	if s.opt.Apart {
		opt.Calm, opt.Faults = s.load.calm, s.apart()
	}
	if s.opt.Change {
		opt.Quorum, opt.Epochs = sim.RandomQuorum, true
	}
	opt.App = func(w *sim.World) sim.App {
		s.w = w
		app := sim.App{Start: s.start, MayReplace: s.mayReplace, Invariants: []sim.Invariant{{Name: "replicated state", Check: s.check.err}}}
		if s.opt.Force {
			app.MayForce, app.Forced = s.mayForce, s.force
		}
		return app
	}
	return opt
}

// start starts the replica of a process. Each new incarnation gets a new one, which
// goes on with the state of the one before. A process that was held back between two
// incarnations is still the same.
func (s *run) start(n *sim.Node) sim.Handlers {
	n.KeepDeliveries()
	if m := s.members[n.ID()-1]; m != nil && m.life == n.Process() {
		s.renew(n)
		s.resume(m.disk)
	} else {
		s.boot(n)
	}
	return sim.Handlers{
		Broadcast: sim.BroadcastHandlers{
			Delivered: func(d broadcast.Delivery, _ *membership.View) { s.delivered(n, d) },
			Remains:   func(d broadcast.Delivery, _ *membership.View) { s.delivered(n, d) },
			Base:      func(base []broadcast.Mark) { s.members[n.ID()-1].base = base },
			Entered:   func(v *membership.View) { s.entered(n, v) },
		},
		Restarted: func(timed.BootID) { s.renew(n) },
		Stop:      func() { s.ended(n.ID()) },
	}
}

// boot begins the first incarnation of a process, with what is on the disk of its
// machine.
func (s *run) boot(n *sim.Node) {
	before := s.members[n.ID()-1]
	if before != nil && before.views {
		s.again[n.ID()-1] = true
	}
	if !s.opt.Disks {
		s.begin(n, newState(s.load.sessions), replica.Earlier{})
		return
	}
	d := s.disks[n.ID()-1]
	if d == nil {
		d = newDisk(n, s.seed)
		s.disks[n.ID()-1] = d
	}
	app, has := s.recover(d)
	has.Spare = s.part(before)
	d.at = placed(d.keeper.Place())
	s.comesBack(d, has)
	m := s.begin(n, app, has)
	m.has, m.remembers, m.told.rank = d.at, has.Remembers, max(has.Rank, has.Promised)
	n.RecallOrdered(slices.Clone(d.keeper.Place().Ordered))
	for id := range app.ops {
		m.told.has[id] = true
	}
	s.beginDisk(d)
	if has.Label != (replica.Label{}) {
		s.w.Sometimes(Recovered)
	}
}

// renew replaces the replica of an incarnation that has ended.
func (s *run) renew(n *sim.Node) {
	m := s.members[n.ID()-1]
	if m.replica.Standing() == replica.Holder {
		s.check.delivers(m)
	}
	s.perform(m, m.replica.HandleEnd(n.Instant(), nil))
	s.check.resolved(m)
	next := s.begin(n, m.app, m.replica.Earlier())
	next.calls, next.must, next.process = m.calls, m.must, m.process
	next.told.has, next.told.rank = m.told.has, m.told.rank
	if m.replica.Earlier().Label != (replica.Label{}) {
		s.w.Sometimes(Continued)
	}
	s.work(next)
}

// begin begins an incarnation with a state.
func (s *run) begin(n *sim.Node, app *state, has replica.Earlier) *member {
	m := &member{n: n, life: n.Process(), inc: n.Incarnation(), app: app, disk: s.disks[n.ID()-1], must: map[opID]bool{}, told: newTold(),
		process: process{heard: map[timed.NodeID]reach{}}}
	cfg := s.load.replica
	cfg.Self, cfg.MaxSnapshot, cfg.Again, cfg.Began = m.inc, s.limit(m), s.again[n.ID()-1], s.wall()
	if s.opt.Change {
		cfg.Epoch, cfg.Quorum = n.Order()
		if cfg.Epoch > 1 {
			s.w.Sometimes(Changed)
		}
	}
	if err := cfg.Validate(); err != nil {
		s.check.fail("config", m, "%v", err)
	}
	m.replica, m.quorum = replica.New(cfg, has), cfg.Quorum
	if s.load.untidy {
		m.app.untidy = &s.rand
	}
	s.members[n.ID()-1] = m
	m.told.epoch = cfg.Epoch
	s.talk(m)
	s.sleepTogether(m)
	s.unlist(m)
	s.endTogether(m)
	s.loseQuorum(m)
	s.loseMachines(m)
	return m
}

// mayReplace reports whether the quorum system may be replaced at a node.
func (s *run) mayReplace(n *sim.Node, next quorum.System) bool {
	m := s.members[n.ID()-1]
	return s.w.Time() < rage && m != nil && m.runs() && m.replica.MayReplace(next)
}

// idle reports whether all replicas are at work and nothing waits, for a slow disk of another
// node neither.
func (s *run) idle() bool {
	for _, m := range s.members {
		if !m.idle() || s.stored() && len(m.told.held) > 0 {
			return false
		}
	}
	return true
}
