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

// administrator replaces the quorum systems of a world, and creates its edicts.
type administrator struct {
	w                   *World
	rand                random.Stream
	proposals           float64
	forces, contradicts bool // the habits of this world's administrator

	drafts []draft // of the edicts under way; slots are not used again
	made   uint64
	forced forcedChange
}

// stateDir is the state directory of a process, which outlives it.
type stateDir struct {
	epoch epoch.State
	dead  uint64 // the last epoch in which the node was declared dead: it stays down until that is over
	lost  bool   // it was wiped, and nothing was written since
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
	forcingWorlds = 0.3  // of worlds have changes forced while members are down
	doubleForcing = 0.3  // of those have several, which contradict each other
	eagerWorlds   = 0.4  // of worlds have an administrator that proposes to most new leaders
	proposals     = 0.03 // of a global leader's timeouts propose a change
	eagerly       = 0.5  // of them in eager worlds
	forcings      = 0.03 // of timeouts while members are down force a change
	appForcings   = 0.3  // of them where an application has a state
	decisions     = 0.3  // of a global leader's timeouts begin an edict
	writeCrashes  = 0.04 // of writes crash the machine, before or after the disk has them
	proposerFalls = 0.3  // of leaders crash or become mute soon after they propose
	stoppedDrafts = 8    // edicts are under way in a leader that is stopped
)

// byEpochs reports whether messages are ordered by the quorums of epochs.
func (w *World) byEpochs() bool {
	return w.opt.Epochs && w.opt.Broadcast != nil && w.opt.Broadcast.ByEpochs
}

// newAdministrator returns nil if the quorum system never changes.
func (w *World) newAdministrator() *administrator {
	if w.global == nil || !w.opt.Epochs {
		return nil
	}
	c := &administrator{w: w, rand: random.New(w.seed, random.Epochs)}
	w.check.FollowEpochs()
	c.forces = !w.opt.Calm && !w.byEpochs() && c.rand.Chance(forcingWorlds)
	c.contradicts = c.forces && c.rand.Chance(doubleForcing)
	c.proposals = proposals
	if c.rand.Chance(eagerWorlds) {
		c.proposals = eagerly
	}
	return c
}

// appForces reports whether the application decides when changes are forced ([App].MayForce).
func (c *administrator) appForces() bool { return c.w.app.MayForce != nil }

// configure gives a starting node the contents of its state directory.
func (c *administrator) configure(n *Node, cfg *stack.Config) {
	if n.starts == 1 && !n.state.lost && (c.w.global.system.Members().Has(n.proc.ID) || !c.rand.Chance(joiningWorlds)) {
		n.state.epoch = epoch.State{Epoch: 1, System: c.w.check.Change.Systems[1]}
	}
	state := n.state.epoch
	cfg.Quorum, cfg.Epochs = nil, &state
}

// banned reports whether a node that was declared dead must stay down, because another node
// is still in that epoch. Without its state directory it could learn the epoch from the
// other, and vote in it again. With its state it waits only for nodes not declared dead.
func (c *administrator) banned(n *Node) bool {
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

// delaysStart reports whether a node is banned. Where an application has a state, it
// schedules another start.
func (c *administrator) delaysStart(n *Node) bool {
	banned := c.banned(n)
	if banned && c.appForces() {
		c.w.crashFor(n, c.w.opt.Timing.Expires)
	}
	return banned
}

// persist writes a node's state to its disk. It reports whether the machine crashes, before
// or after the write.
func (w *World) persist(n *Node, s *epoch.State) bool {
	c := w.admin
	w.check.CheckWrite(&n.proc, &n.state.epoch, s)
	w.check.Live.Begins()
	crash := !w.stable && !w.opt.Calm && !n.proc.Upset && c.rand.Chance(writeCrashes)
	if !crash || c.rand.Chance(0.5) {
		n.state.epoch, n.state.lost = *s, false
	}
	return crash
}

// dropUnsent drops the packets of a turn after the first ones, which were sent.
func (w *World) dropUnsent(sent int) {
	for _, slot := range w.writing[sent:] {
		w.drop(slot)
	}
}

// crashMidTurn crashes a machine in the middle of a turn. The unsent packets and unreported events
// of the turn are lost.
func (w *World) crashMidTurn(n *Node, sent int) {
	w.dropUnsent(sent)
	w.out, w.writing = w.out[:0], w.writing[:0]
	w.crashFor(n, time.Duration(w.admin.rand.LogUniform(0.2, 10)*float64(w.opt.Timing.Expires)))
}

// failProposer sometimes makes a leader that has just proposed crash or become mute soon. The
// others must then decide the proposal.
func (w *World) failProposer(n *Node) {
	c := w.admin
	if w.stable || w.opt.Calm || !c.rand.Chance(proposerFalls) {
		return
	}
	f := fault.Fault{At: w.Time(), Kind: fault.Crash, Node: n.proc.ID,
		For: time.Duration(c.rand.LogUniform(1, 10) * float64(w.opt.Timing.LockTime))}
	if c.rand.Chance(0.5) {
		f.Kind = fault.Mute
	}
	w.faults = append(w.faults, f)
	w.schedule(w.now+c.rand.Below(int64(2*w.opt.Timing.FastThreshold)), eventFaultBegins, n.proc.Index, int32(len(w.faults)-1))
}

// administer sometimes begins an edict, a proposal or a forced change at a node that just
// ran.
func (w *World) administer(n *Node) {
	c := w.admin
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
			// The system may rule already, or another change be under way.
			_ = n.proc.Stack.Propose(n.tick(w.now), next.String())
			w.arm(n, 0)
		}
		return
	}
	if c.forces && c.rand.Chance(forcings) || c.appForces() && c.rand.Chance(appForcings) {
		c.force(n)
	}
}

// force replaces the quorum system at a survivor, unless that is unsafe as documented: the
// members that are down are declared dead, and none of them may know of a change.
func (c *administrator) force(n *Node) {
	at := n.proc.Stack.Epoch()
	if c.forced.at == n && c.appForces() {
		c.repeatForce(at)
		return
	}
	if at.Epoch == 0 || c.w.check.Change.Forced && !c.contradicts || c.appForces() && !c.w.app.MayForce(n) {
		return
	}
	system, _ := quorum.Parse(at.System)
	dead := system.Members()
	for _, m := range c.w.nodes {
		s := &m.state.epoch
		if m.proc.Up || m.held { // it runs, and has what its disk holds
			dead.Remove(m.proc.ID)
		}
		if m.proc.Up {
			s = m.proc.Stack.Epoch()
		}
		if s.Epoch > at.Epoch || !m.proc.Up && s.Phase != epoch.Idle {
			return
		}
	}
	if c.appForces() && system.IsQuorum(system.Members().Minus(dead)) {
		return // they can agree without force
	}
	next := drawQuorum(c.rand, c.w.opt.Nodes)
	if c.appForces() {
		next, _ = quorum.Majority(c.w.all().Minus(dead)) // a drawn system would rarely have a quorum of them
	}
	c.performForce(&forcedChange{at: n, epoch: at.Epoch, next: next.String(), dead: dead}, func() {
		c.loseMembers(at.Epoch, system, dead)
	})
}

// forcedChange is a forced change.
type forcedChange struct {
	at    *Node
	epoch uint64
	next  string
	dead  timed.Set
}

// performForce forces a change, and calls done if the node accepts it.
func (c *administrator) performForce(o *forcedChange, done func()) {
	now := o.at.tick(c.w.now)
	out, err := o.at.proc.Stack.Force(now, o.next, o.dead, c.w.out[:0])
	if err == nil {
		c.forced = *o
		done()
	}
	c.w.finishTurn(o.at, now, out)
}

// repeatForce forces the change again if the node crashed before its disk held it.
func (c *administrator) repeatForce(at *epoch.State) {
	if o := c.forced; at.Epoch == o.epoch && at.Phase < epoch.Chosen {
		c.performForce(&o, func() {})
	}
}

// loseMembers takes the state directories of members that are declared dead in an epoch. Where an
// application has a state, some of them keep theirs.
func (c *administrator) loseMembers(number uint64, system quorum.System, dead timed.Set) {
	wiped := dead
	if c.appForces() {
		wiped = c.drawWiped(system, dead)
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
		if c.appForces() {
			m.sequence = 0 // it was there too
		}
	}
}

// drawWiped draws the dead that lose their disks. The others must be no quorum, or they
// could continue the epoch that is over.
func (c *administrator) drawWiped(system quorum.System, dead timed.Set) (wiped timed.Set) {
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

// prepare begins an edict. The application runs in another thread than the node's loop,
// and reads the clock some time later.
func (c *administrator) prepare(n *Node) {
	cl := &c.w.check.Claims[n.proc.Index]
	c.drafts = append(c.drafts, draft{n.proc.Boot, cl.Stamps, cl.GlobalEnd})
	delay := int64(c.rand.LogUniform(1000, 2*float64(c.w.opt.Timing.LockTime)))
	c.w.schedule(c.w.now+delay, eventDecide, n.proc.Index, int32(len(c.drafts)-1))
}

// decide reads the clock, and makes the edict if the node has led all the while.
func (w *World) decide(e event) {
	c, n := w.admin, w.nodes[e.node()]
	if n.stalledUntil > w.now {
		w.schedule(n.stalledUntil+n.jitter(w), eventDecide, e.node(), e.arg)
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
	c.made++ // one count for all leaders orders the edicts of one round too
	made := edict.Edict{Epoch: d.stamps.Epoch, Counter: c.made, Digest: edict.Sum(fmt.Append(nil, c.made)), Stamps: d.stamps.Stamps}
	w.check.CheckEdict(&n.proc, &made)
}
