package sim

import (
	"errors"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/sim/internal/check"
	"github.com/failaware/failaware/sim/situation"
)

// ErrNotRunning is the error of a request to a process that has crashed or does not
// run at the moment.
var ErrNotRunning = errors.New("sim: the process does not run")

// broadcastState is the part of a world's state that serves the broadcast.
type broadcastState struct {
	traffic *fault.Traffic
	check   *check.Broadcasts
	streams []random.Stream // of the nodes' random messages
	payload []byte          // of the message that is being broadcast
	walls   random.Stream   // of the errors of wall clocks
}

func (w *World) newBroadcastState(t *fault.Traffic) *broadcastState {
	return &broadcastState{traffic: t, check: w.check.FollowBroadcast(t, w.opt.Duration), walls: random.New(w.seed, random.Walls)}
}

// configure configures the broadcast of a starting node.
func (k *broadcastState) configure(n *Node, c *stack.Config) {
	cfg := k.traffic.Config
	c.Ordered = n.ordered
	c.Broadcast = &cfg
	c.OrderByEpoch = n.w.byEpochs()
}

// started prepares a new incarnation.
func (k *broadcastState) started(n *Node) {
	n.owedBytes, n.owedCount, n.owedViews = 0, 0, 0
	n.owed, n.borrowed, n.slabs = nil, nil, [2]slab{} // with the memory of the process
	k.check.Started(n.Incarnation(), n.proc.Stack)
}

// performBroadcast performs an effect of a node's broadcast.
func (w *World) performBroadcast(n *Node, e *broadcast.Effect) {
	c, inc := w.cast.check, n.Incarnation()
	switch e.Kind {
	case broadcast.Deliver:
		for i := range e.Deliveries {
			d := &e.Deliveries[i]
			w.mix(uint64(d.Sender)<<56 ^ uint64(d.Class)<<48 ^ d.Sequence)
			if w.opt.Trace != nil {
				w.traceDelivery(n, e.View, d)
			}
			w.cast.check.Live.Delivered(e.View, d)
			c.Delivered(inc, e.View, d)
			n.owed = append(n.owed, borrowed{d.ID, n.proc.Stack.Borrow(d), d.Payload})
			n.owedBytes += len(d.Payload)
			n.owedCount++
			w.count.Deliveries++
		}
		c.Waits(n.proc.ID, n.owedBytes, n.owedCount, n.owedViews)
	case broadcast.Transition:
		c.Transition(inc, e.View, e.Next, e.Along)
	case broadcast.Installed:
		n.owedViews++
		c.Installed(inc, e.View)
		c.Based(e.View, e.Base)
	case broadcast.Elsewhere:
		if w.opt.Trace != nil {
			w.trace(n, "* its messages %d to %d of class %d are ordered elsewhere", e.From, e.Through, e.Class)
		}
		c.Elsewhere(inc, e.Class, e.From, e.Through)
	}
	if w.app.Start != nil {
		w.app.noteBroadcast(n, e)
	}
}

// consume lets a node's application take the waiting deliveries and give back the earlier
// ones.
func (w *World) consume(n *Node) {
	if n.owedCount > 0 && n.proc.Up {
		w.giveBack(n)
		n.proc.Stack.Consumed(n.tick(w.now), n.owedBytes, n.owedCount)
		n.owedBytes, n.owedCount, n.owedViews = 0, 0, 0
	}
}

// consumeAgain ends the fault SlowConsumer at a node.
func (w *World) consumeAgain(n *Node) {
	n.slowConsumer = false
	w.consume(n)
	if n.proc.Up && !n.proc.Upset {
		w.arm(n, 0)
	}
}

// startTraffic starts the random messages of a process.
func (w *World) startTraffic(n *Node) {
	k := w.cast
	k.streams = append(k.streams, random.New(w.seed, random.Traffic+uint64(n.proc.Index+1)<<8))
	w.scheduleTraffic(n)
}

// scheduleTraffic schedules the next random messages of a node.
func (w *World) scheduleTraffic(n *Node) {
	if k := w.cast; k.traffic.Rate > 0 {
		w.schedule(w.now+k.traffic.Gap(k.streams[n.proc.Index]), eventTraffic, n.proc.Index, 0)
	}
}

// mostAtOnce is the largest number of random messages that a node broadcasts in one turn
// without a burst.
const mostAtOnce = 3

// sendTraffic lets a node broadcast random messages.
func (w *World) sendTraffic(e event) {
	n := w.nodes[e.node()]
	w.scheduleTraffic(n)
	w.broadcastRandom(n, int(w.cast.streams[n.proc.Index].Between(1, mostAtOnce)))
}

// broadcastRandom broadcasts count random messages in one turn of a node. It draws them
// even if the node does not run, so that later draws do not depend on it.
func (w *World) broadcastRandom(n *Node, count int) {
	k := w.cast
	ready := !(w.stable && k.traffic.Hush) && w.catchUp(n)
	for range count {
		opt, size := k.traffic.Message(k.streams[n.proc.Index])
		if ready {
			k.payload = fault.AppendPayload(k.payload[:0], n.proc.Boot, uint64(k.check.Count), size)
			_, _ = w.broadcast(n, k.payload, opt) // a window that is full is no fault
		}
	}
	if ready {
		w.arm(n, 0)
	}
}

// catchUp handles the due timers of a process, after the waiting packets, before a new
// task, as the loop of a node does. If no timer is due, the task's own turn comes first,
// and reads no packets. It reports whether the process runs.
func (w *World) catchUp(n *Node) bool {
	runs := func() bool { return n.proc.Up && !n.proc.Upset && n.stalledUntil <= w.now }
	if !runs() {
		return false
	}
	if now := n.tick(w.now); n.proc.Stack.Deadline() <= now {
		if !w.readWaiting(n) {
			return false
		}
		w.finishTurn(n, now, n.proc.Stack.HandleTimeout(now, w.out[:0]))
	}
	return runs()
}

// broadcast has a node broadcast one message.
func (w *World) broadcast(n *Node, payload []byte, opt broadcast.Options) (broadcast.ID, error) {
	now := n.tick(w.now)
	id, err := n.handOver(now, payload, opt)
	w.mix(id.Sequence<<16 | uint64(len(payload)))
	switch {
	case errors.Is(err, broadcast.ErrWindowFull):
		w.cast.check.Refused(&n.proc)
	case errors.Is(err, broadcast.ErrNoQuorum):
		w.check.Sometimes(situation.CastNoQuorum)
	case err == nil:
		w.count.Casts++
		if w.opt.Trace != nil {
			w.trace(n, "broadcasts %v, %d bytes, %v %v", id, len(payload), opt.Order, opt.Atomicity)
		}
		m := w.cast.check.Broadcast(n.Incarnation(), id, payload, opt, w.now, n.proc.Stack.Clock().Read(now).Timeline)
		w.cast.check.Live.Sent(&n.proc, id, m)
	}
	return id, err
}

// overrun restarts a process whose application is too slow, as a supervisor does.
func (w *World) overrun(n *Node) {
	w.check.Sometimes(situation.CastSlowLeft)
	w.crash(n)
	w.restart(n)
}
