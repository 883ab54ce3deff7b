package failaware

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync/clockbound"
	"github.com/failaware/failaware/clocksync/serve"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/attach"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/loop"
	"github.com/failaware/failaware/internal/loop/sendqueue"
	"github.com/failaware/failaware/internal/loop/statedir"
	"github.com/failaware/failaware/internal/outputs"
	"github.com/failaware/failaware/internal/pause"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

// loopConfig returns the configuration of the loop. epochs is nil if the quorum system
// cannot be replaced.
func (n *Node) loopConfig(epochs *epoch.State, random func() uint64, gate *pause.Gate) loop.Config {
	c := &n.cfg
	l := loop.Config{
		Stack: stack.Config{Self: timed.Incarnation{Node: c.ID}, Group: c.groupDigest(),
			Timing: c.Timing, Mode: c.Mode, RankBy: c.RankBy, Weight: c.Weight, Collation: c.collation(),
			Quorum: c.Quorum, Epoch: c.QuorumEpoch, Epochs: epochs,
			MaxDeviation: c.Clock.MaxDeviation, MaxSlew: c.Clock.MaxSlew, StepThreshold: c.Clock.StepThreshold,
			MaxUTCError: c.Clock.MaxUTCError, MinReferences: c.Clock.MinReferences},
		MaxPeers: c.MaxPeers, MaxPacket: c.MaxPacket, Ring: n.ring, Insecure: c.Insecure,
		Conn: n.conn, Clock: n.clock, Wall: time.Now, Random: random, State: n.state, Claim: n.claim, Peers: n.peers, Join: n.finder, Labels: c.labels(), Settings: c.settings(), Gate: gate,
		Sink: (*sink)(n),
	}
	if b := c.Broadcast; b != nil {
		m := b.machine(c.Quorum)
		l.Stack.OrderByEpoch = b.RequireQuorum && epochs != nil
		if q := c.Quorum; l.Stack.OrderByEpoch && q != nil && q.String() == epochs.System && c.QuorumEpoch == epochs.Epoch {
			l.Stack.Former = c.formerDigest()
		}
		l.Stack.Broadcast, l.Deliver, l.Backlog, l.CheckLent = &m, !b.SendOnly, b.Backlog, b.CheckLent || n.test
	}
	if c.OnPublish != nil {
		l.OnPublish = (*sink)(n).published
	}
	return l
}

// receiveBuffer is the size of the socket's receive buffer with broadcast, in bytes,
// which the system may limit. It holds what the other members send while a loop is
// held up.
const receiveBuffer = 4 << 20

// quietOneIn says that one in so many quiet packets wakes the node. It is less than a receive
// buffer of the usual size holds, and so large that packets hardly wake a group at rest.
const quietOneIn = 64

// socket returns the options of the node's socket.
func (c *Config) socket() (o udp.Options) {
	o.MaxPacket = c.largestPacket()
	if c.Broadcast != nil {
		o.ReceiveBuffer = receiveBuffer
		return o
	}
	offset, bit := wire.QuietMark()
	o.Quiet = &udp.Quiet{Offset: offset, Mask: bit, OneIn: quietOneIn}
	return o
}

// largestPacket returns the size of the largest packet that the node reads, in
// bytes.
func (c *Config) largestPacket() int {
	n := c.MaxPacket
	if c.Broadcast != nil {
		n = max(n, wire.MaxBroadcast)
	}
	if c.KeyFile != "" {
		n += seal.SharedOverhead
	}
	return n
}

// sink is the node as its loop sees it: it turns the reports of the loop into events. Its
// methods, and the functions of the event table that they call, are the only code of this
// package that runs in turns of the loop.
type sink Node

// header returns the header of the next event.
func (s *sink) header() event.Header {
	return event.Header{Sequence: s.events.Last() + 1, Time: time.Now(), Names: (*Node)(s)}
}

// Event implements [loop.Sink].
func (s *sink) Event(e *stack.Event) {
	if r := eventOf[e.Kind]; r != nil {
		s.events.Add(r.make((*Node)(s), s.header(), e))
	}
	if e.Kind == stack.EventClockAdopted || e.Kind == stack.EventClockStepped {
		s.timeline = e.Timeline
	}
}

// Restarted implements [loop.Sink].
func (s *sink) Restarted(why life.Reason, previous, boot BootID) {
	s.timeline = TimelineID{}
	s.events.Add(event.Restarted{Header: s.header(), Reason: restartReasons[why], Previous: previous, Boot: boot})
}

// Warn implements [loop.Sink].
func (s *sink) Warn(text string, args ...any) { (*Node)(s).logLater(hclog.Warn, text, args...) }

// published calls Config.OnPublish.
func (s *sink) published(x *loop.Snapshot, turn, done timed.Instant) {
	s.cfg.OnPublish(Published{Turn: turn, Done: done, Era: x.Era, Self: x.Self,
		Leading: x.Leading, LeadUntil: x.Expiration, Support: x.Support,
		Global: x.Global, GlobalUntil: x.GlobalUntil,
		View: someView(x.View), ViewUntil: x.ValidUntil})
}

func init() {
	attach.FormerViews, attach.StateFile = statedir.FormerViews, statedir.File
	attach.TakeDeliveries = func(node any) (attach.Deliveries, error) {
		n := node.(*Node)
		q, err := n.consume()
		send := func(ctx context.Context, payload []byte, opt broadcast.Options) error {
			_, err := n.send(ctx, sendqueue.State, payload, BroadcastOptions{Order: opt.Order, Atomicity: opt.Atomicity}, nil)
			return err
		}
		submit := func(ctx context.Context, payload []byte, opt broadcast.Options, noWait bool, queued func(broadcast.ID)) (broadcast.ID, error) {
			return n.send(ctx, sendqueue.Application, payload, BroadcastOptions{Order: opt.Order, Atomicity: opt.Atomicity, NoWait: noWait}, queued)
		}
		return attach.Deliveries{Queue: q, Send: send, Submit: submit, RecallOrdered: n.loop.RecallOrdered, Reach: n.loop.Reach, Views: n.state.FormerViews, Guard: n.guardQuorum, Wake: n.loop.Wake, Log: n.logLater}, err
	}
}

// outputs returns how time is served to other programs.
func (c *Config) outputs() (o outputs.Config) {
	if n := c.NTP; n != nil {
		o.Listen, o.NTP = n.Listen, n.options(c.Group)
	}
	if b := c.ClockBound; b != nil {
		o.Path, o.Bound = b.Path, clockbound.Options{Drift: c.Timing.MaxDrift, Slew: b.MaxSlew}
	}
	return o
}

// utc is the answer that other programs get.
func (n *Node) utc() serve.Answer { return serve.Of(n.Clock()) }
