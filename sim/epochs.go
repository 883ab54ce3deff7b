package sim

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// changing is the state of a world whose quorum systems are replaced.
type changing struct {
	w                   *World
	rand                random.Stream
	proposals           float64
	forces, contradicts bool // the habits of this world's administrator

	drafts []draft // of the edicts under way; slots are not used again
	made   uint64
	forced forcing
}

// stateDir is the state directory of a process, which outlives it.
type stateDir struct {
	epoch epoch.State
	dead  uint64 // the last epoch in which it was declared so: it is off until that is over
	lost  bool   // it was wiped, then or before, and nothing was written since
}

// declare notes that the node was declared dead in an epoch.
func (s *stateDir) declare(number uint64, wiped bool) {
	if s.dead = number; wiped {
		s.epoch, s.lost = epoch.State{}, true
	}
}

// Shares of the actions of administrators, applications and machines.
const (
	joiningWorlds = 0.5  // of nodes that are no members begin without an epoch
	forcingWorlds = 0.3  // have changes forced when members are down
	doubleForcing = 0.3  // of those, several, which contradict each other
	eagerWorlds   = 0.4  // have administrators that give every new leader a task
	proposals     = 0.03 // of a global leader's timeouts
	eagerly       = 0.5  // of them, there
	forcings      = 0.03 // of timeouts while members are down
	appForcings   = 0.3  // of them, where an application has a state
	decisions     = 0.3  // of a global leader's timeouts begin an edict
	writeCrashes  = 0.04 // of writes, before or after the disk has it
	proposerFalls = 0.3  // of leaders that have proposed are gone, or mute, soon after
	stoppedDrafts = 8    // of edicts are under way in a leader that is stopped
)

// byEpochs reports whether messages are ordered by the quorums of epochs.
func (w *World) byEpochs() bool {
	return w.opt.Epochs && w.opt.Broadcast != nil && w.opt.Broadcast.ByEpochs
}

// newChanging returns nil where quorum systems stay.
func (w *World) newChanging() *changing {
	if w.global == nil || !w.opt.Epochs {
		return nil
	}
	c := &changing{w: w, rand: random.New(w.seed, random.Epochs)}
	w.check.FollowEpochs()
	c.forces = !w.opt.Calm && !w.byEpochs() && c.rand.Chance(forcingWorlds)
	c.contradicts = c.forces && c.rand.Chance(doubleForcing)
	c.proposals = proposals
	if c.rand.Chance(eagerWorlds) {
		c.proposals = eagerly
	}
	return c
}

// asksApp reports whether changes are forced when the application wants that ([App].MayForce).
func (c *changing) asksApp() bool { return c.w.app.MayForce != nil }

// configure gives a starting node the contents of its state directory.
func (c *changing) configure(n *Node, cfg *stack.Config) {
	if n.starts == 1 && !n.state.lost && (c.w.global.system.Members().Has(n.proc.ID) || !c.rand.Chance(joiningWorlds)) {
		n.state.epoch = epoch.State{Epoch: 1, System: c.w.check.Change.Systems[1]}
	}
	state := n.state.epoch
	cfg.Quorum, cfg.Epochs = nil, &state
}

// banned reports whether a node has lost its state directory in an epoch in which
// another node still is. It could learn that epoch from the other, and vote in it again. One
// that was declared dead and has its state waits for those that were not.
func (c *changing) banned(n *Node) bool {
	over := n.state.dead
	if over == 0 {
		return false
	}
	for _, m := range c.w.nodes {
		if !n.state.lost && m.state.dead == over {
			continue
		}
		at := m.state.epoch.Epoch
		if m.proc.Up {
			at = m.proc.Stack.Epoch().Epoch
		}
		if m != n && at != 0 && at <= over {
			return true
		}
	}
	return c.w.check.Change.Systems[over+1] == ""
}

// waits reports whether a node is banned. Where an application has a state, it starts later.
func (c *changing) waits(n *Node) bool {
	banned := c.banned(n)
	if banned && c.asksApp() {
		c.w.crashFor(n, c.w.opt.Timing.Expires)
	}
	return banned
}

// persist writes a node's state down, and reports whether the machine crashes at
// that.
func (w *World) persist(n *Node, s *epoch.State) bool {
	c := w.change
	w.check.CheckWrite(&n.proc, &n.state.epoch, s)
	w.check.Live.Begins()
	crash := !w.stable && !w.opt.Calm && !n.proc.Upset && c.rand.Chance(writeCrashes)
	if !crash || c.rand.Chance(0.5) {
		n.state.epoch, n.state.lost = *s, false
	}
	return crash
}

// dropUnsent drops the packets of a turn beyond the first ones, which were sent.
func (w *World) dropUnsent(sent int) {
	for _, slot := range w.writing[sent:] {
		w.drop(slot)
	}
}

// dies crashes a machine in the middle of a turn. The unsent packets and unreported events
// of the turn are lost.
func (w *World) dies(n *Node, sent int) {
	w.dropUnsent(sent)
	w.out, w.writing = w.out[:0], w.writing[:0]
	w.crashFor(n, time.Duration(w.change.rand.LogUniform(0.2, 10)*float64(w.opt.Timing.Expires)))
}

// falls lets a leader that has just proposed crash or become mute soon, now and then. The
// others must then decide the proposal.
func (w *World) falls(n *Node) {
	c := w.change
	if w.stable || w.opt.Calm || !c.rand.Chance(proposerFalls) {
		return
	}
	f := fault.Fault{At: w.Time(), Kind: fault.Crash, Node: n.proc.ID,
		For: time.Duration(c.rand.LogUniform(1, 10) * float64(w.opt.Timing.LockTime))}
	if c.rand.Chance(0.5) {
		f.Kind = fault.Mute
	}
	w.faults = append(w.faults, f)
	w.schedule(w.now+c.rand.Below(int64(2*w.opt.Timing.FastThreshold)), begins, n.proc.Index, int32(len(w.faults)-1))
}

// administers lets an administrator look at a node that just ran, and its
// application decide something.
func (w *World) administers(n *Node) {
	c := w.change
	if !n.proc.Up || n.proc.Upset {
		return
	}
	if w.check.LeadsGlobally(n.proc.Index) && c.rand.Chance(decisions) {
		c.prepare(n)
	}
	if w.stable {
		return
	}
	if n.proc.Stack.LeadsGlobally(n.tick(w.now)) && c.rand.Chance(c.proposals) {
		if next := drawQuorum(c.rand, w.opt.Nodes); w.app.MayReplace == nil || w.app.MayReplace(n, next) {
			// That it rules already, or that another is under way, are no mistakes.
			_ = n.proc.Stack.Propose(n.tick(w.now), next.String())
			w.arm(n, 0)
		}
		return
	}
	if c.forces && c.rand.Chance(forcings) || c.asksApp() && c.rand.Chance(appForcings) {
		c.force(n)
	}
}

// force replaces the quorum system at a survivor, if nothing that the documents
// warn of is the case. The state directories of the dead are gone.
func (c *changing) force(n *Node) {
	at := n.proc.Stack.Epoch()
	if c.forced.at == n && c.asksApp() {
		c.repeat(at)
		return
	}
	if at.Epoch == 0 || c.w.check.Change.Forced && !c.contradicts || c.asksApp() && !c.w.app.MayForce(n) {
		return
	}
	system, _ := quorum.Parse(at.System)
	dead := system.Members()
	for _, m := range c.w.nodes {
		s := &m.state.epoch
		if m.proc.Up || m.held { // it runs, and will go on by what its disk holds
			dead.Remove(m.proc.ID)
		}
		if m.proc.Up {
			s = m.proc.Stack.Epoch()
		}
		if s.Epoch > at.Epoch || !m.proc.Up && s.Phase != epoch.Idle {
			return
		}
	}
	if c.asksApp() && system.IsQuorum(system.Members().Minus(dead)) {
		return // they can agree without force
	}
	next := drawQuorum(c.rand, c.w.opt.Nodes)
	if c.asksApp() {
		next, _ = quorum.Majority(c.w.all().Minus(dead)) // in most cases they are no quorum of another one
	}
	c.perform(&forcing{at: n, epoch: at.Epoch, next: next.String(), dead: dead}, func() {
		c.lose(at.Epoch, system, dead)
	})
}

// forcing is a forced change.
type forcing struct {
	at    *Node
	epoch uint64
	next  string
	dead  timed.Set
}

// perform forces a change, and calls done if that was right.
func (c *changing) perform(o *forcing, done func()) {
	now := o.at.tick(c.w.now)
	out, err := o.at.proc.Stack.Force(now, o.next, o.dead, c.w.out[:0])
	if err == nil {
		c.forced = *o
		done()
	}
	c.w.after(o.at, now, out)
}

// repeat forces the change again if the node crashed before its disk had it.
func (c *changing) repeat(at *epoch.State) {
	if o := c.forced; at.Epoch == o.epoch && at.Phase < epoch.Chosen {
		c.perform(&o, func() {})
	}
}

// lose takes the state directories of members that are declared dead in an epoch. Where an
// application has a state, some of them keep theirs.
func (c *changing) lose(number uint64, system quorum.System, dead timed.Set) {
	wiped := dead
	if c.asksApp() {
		wiped = c.wiped(system, dead)
		c.w.app.Forced(number, dead, wiped)
	}
	c.w.check.Force(number, wiped)
	for id := range dead.All() {
		m := c.w.node(id)
		m.state.declare(number, wiped.Has(id))
		if !wiped.Has(id) {
			continue
		}
		m.starts = 0
		if c.asksApp() {
			m.sequence = 0 // it was there too
		}
	}
}

// wiped draws those of the dead that lose their disks. The others are no quorum, or they could go
// on in the epoch that is over.
func (c *changing) wiped(system quorum.System, dead timed.Set) (wiped timed.Set) {
	all := c.rand.Chance(0.5)
	for id := range dead.All() {
		if all || c.rand.Chance(0.5) || system.IsQuorum(dead.Minus(wiped)) {
			wiped.Add(id)
		}
	}
	return wiped
}

// draft is an edict that an application prepares: the state that it read before it reads
// the clock.
type draft struct {
	boot   timed.BootID
	stamps *leader.QuorumStamp
	until  timed.Instant
}

// prepare begins an edict. The application is another thread than the node's loop,
// and reads the clock when the scheduler lets it.
func (c *changing) prepare(n *Node) {
	cl := &c.w.check.Claims[n.proc.Index]
	c.drafts = append(c.drafts, draft{n.proc.Boot, cl.Stamps, cl.GlobalEnd})
	delay := int64(c.rand.LogUniform(1000, 2*float64(c.w.opt.Timing.LockTime)))
	c.w.schedule(c.w.now+delay, decides, n.proc.Index, int32(len(c.drafts)-1))
}

// decide reads the clock, and makes the edict if the node has led all the while.
func (w *World) decide(e event) {
	c, n := w.change, w.nodes[e.node()]
	if n.stalledUntil > w.now {
		w.schedule(n.stalledUntil+n.jitter(w), decides, e.node(), e.arg)
		return
	}
	d := &c.drafts[e.arg]
	cl := &w.check.Claims[n.proc.Index]
	if !n.proc.Up || n.proc.Upset || n.proc.Boot != d.boot || cl.Stamps != d.stamps || cl.GlobalEnd != d.until {
		return
	}
	if n.proc.Clock.Show(w.now) >= d.until {
		return
	}
	c.made++ // one count for all orders those of one round as well as one of each leader
	made := edict.Edict{Epoch: d.stamps.Epoch, Counter: c.made, Digest: edict.Sum(fmt.Append(nil, c.made)), Stamps: d.stamps.Stamps}
	w.check.CheckEdict(&n.proc, &made)
}
