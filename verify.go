package failaware

import (
	"context"
	"fmt"
	"time"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// Verification is what a node has answered to the question whether it leads, as
// something to rely on by the own clock. It is a value, and safe for concurrent
// use.
type Verification struct {
	// By is the incarnation that answered.
	By Incarnation

	local, global timed.Instant
	epoch         uint32
	clock         *hwclock.Clock
}

// Global returns for how long from now on nobody but By leads globally; 0: that is
// not known, or not any more. By itself may step down before. Each call reads the
// hardware clock.
func (v Verification) Global() time.Duration { return v.left(v.global) }

// Local is as Global for the local lead: nobody but By leads with the support of
// By or of one of those who supported By when it answered.
func (v Verification) Local() time.Duration { return v.left(v.local) }

func (v Verification) left(until timed.Instant) time.Duration {
	if until == 0 {
		return 0
	}
	r := v.clock.Read()
	if r.Epoch != v.epoch {
		return 0 // the machine slept, and for how long is not known well enough
	}
	return left(until, r.Now)
}

// question is somebody who waits for a peer's answer.
type question struct {
	peer   NodeID
	since  timed.Instant
	result chan Verification
}

// Verify asks a node whether it leads, and returns its answer. It asks again every
// ElectionPeriod until an answer comes. The answering node gives no vote back
// while its answer holds, so that frequent questions make hand-overs slower. A node
// can ask itself, and is bound by its answer as by any other.
//
// The error is [ErrClosed] or the cause of ctx, or says that id is none.
func (n *Node) Verify(ctx context.Context, id NodeID) (Verification, error) {
	if !id.Valid() {
		return Verification{}, fmt.Errorf("failaware: Verify: a node id from 1 to %d is needed", timed.MaxNodes)
	}
	result := make(chan Verification, 1)
	defer n.do(func(d *driver) { d.unask(result) })
	again := time.NewTicker(n.cfg.Timing.ElectionPeriod)
	defer again.Stop()
	for {
		if ctx.Err() != nil {
			return Verification{}, context.Cause(ctx)
		}
		if !n.do(func(d *driver) { d.ask(id, result) }) {
			return Verification{}, ErrClosed
		}
		select {
		case v := <-result:
			return v, nil
		case <-again.C:
		case <-n.done:
			return Verification{}, ErrClosed
		case <-ctx.Done():
		}
	}
}

// ask is the command of [Node.Verify].
func (d *driver) ask(peer NodeID, result chan Verification) {
	if d.stack == nil {
		return // a new incarnation is about to begin
	}
	if peer == d.cfg.Self.Node {
		a := d.stack.Vouch(d.now)
		d.assure(result, &a)
		return
	}
	if !d.routes.known.Has(peer) {
		return // it may become known
	}
	waits := false
	for i := range d.asked {
		waits = waits || d.asked[i].result == result
	}
	if !waits {
		d.asked = append(d.asked, question{peer, d.now, result})
	}
	d.perform(d.stack.Verify(d.now, peer, d.effects[:0]))
}

// unask forgets who does not wait any more.
func (d *driver) unask(result chan Verification) {
	for i := range d.asked {
		if d.asked[i].result == result {
			d.asked = append(d.asked[:i], d.asked[i+1:]...)
			return
		}
	}
}

// answered hands an answer to those who wait for it. One to a question of before
// is good, but not what was asked for.
func (d *driver) answered(a *leader.Assurance) {
	for _, q := range d.asked {
		if q.peer == a.By.Node && a.Asked >= q.since {
			d.assure(q.result, a)
		}
	}
}

// assure hands an answer to one who waits, unless that one has an answer already.
func (d *driver) assure(result chan Verification, a *leader.Assurance) {
	select {
	case result <- Verification{By: a.By, local: a.Local, global: a.Global, epoch: d.epoch, clock: d.n.clock}:
	default:
	}
}

// noteGlobal takes the events of global leadership.
func (d *driver) noteGlobal(e *stack.Event) {
	switch e.Kind {
	case stack.EventGlobalLost:
		d.lostGlobal = &NotLeaderError{Reason: e.Lost, By: e.Peer, Global: true}
	case stack.EventVerified:
		d.answered(e.Assurance)
	}
}
