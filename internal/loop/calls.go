package loop

import (
	"context"
	"net/netip"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

// statusPatience is how long callers wait for a loop that may be stalled before they
// answer without it.
const statusPatience = time.Second

// inLoop makes the loop run f in its next turn, and waits for the reply. If ctx is done before the
// loop comes to f, f is not run. If ctx ends, or the loop, while the loop is in that turn, f may
// take effect all the same. The error is [ErrClosed] or the cause of ctx.
func inLoop[T any](ctx context.Context, l *Loop, f func(d *driver, reply func(T))) (T, error) {
	var none T
	if ctx.Err() != nil {
		return none, context.Cause(ctx)
	}
	result := make(chan T, 1)
	c := &command{func(d *driver) {
		if ctx.Err() == nil {
			f(d, func(x T) { result <- x })
		}
	}}
	if !l.order(c) {
		return none, ErrClosed
	}
	err := ErrClosed
	select {
	case x := <-result:
		return x, nil
	case <-l.done:
	case <-ctx.Done():
		err = context.Cause(ctx)
		l.commands.Withdraw(c)
	}
	select {
	case x := <-result: // it came first
		return x, nil
	default:
		return none, err
	}
}

// inLoopErr is inLoop for commands whose reply is an error, which it returns.
func inLoopErr(ctx context.Context, l *Loop, f func(d *driver, reply func(error))) error {
	failed, err := inLoop(ctx, l, f)
	if err != nil {
		return err
	}
	return failed
}

// Leave makes the node leave the group and then end. It does not wait. forGood says that it
// will not come back. The first call counts.
func (l *Loop) Leave(forGood bool) {
	if !l.leaving.Swap(true) {
		l.do(func(d *driver) { d.leave(forGood) })
	}
}

// Resign gives up the lead, in favour of a peer unless to is NoNode, and returns when
// the packets that say so have left. The error is [ErrNotLeader] or [ErrUnknownPeer]; or
// [ErrClosed] or the cause of ctx, after which the lead may be given up all the same.
func (l *Loop) Resign(ctx context.Context, to timed.NodeID) error {
	return inLoopErr(ctx, l, func(d *driver, reply func(error)) { d.resign(to, reply) })
}

// Hold asks for a promise that no other node leads. The error is [ErrNotLeader],
// [ErrClosed], or the cause of ctx.
func (l *Loop) Hold(ctx context.Context, global bool) (Hold, error) {
	h, err := inLoop(ctx, l, func(d *driver, reply func(*Hold)) { d.report.after(func() { reply(d.hold(global)) }) })
	switch {
	case err != nil:
		return Hold{}, err
	case h == nil:
		return Hold{}, ErrNotLeader
	}
	return *h, nil
}

// Verify asks a node whether it leads, again and again after the given time, until
// it answers. The error is [ErrClosed] or the cause of ctx.
func (l *Loop) Verify(ctx context.Context, id timed.NodeID, again time.Duration) (Assurance, error) {
	result := make(chan Assurance, 1)
	ask, asked := &command{func(d *driver) { d.askPeer(id, result) }}, 0
	defer func() {
		if l.commands.Withdraw(ask) {
			asked-- // the loop has not come to it
		}
		if asked > 0 {
			l.do(func(d *driver) { d.asked.remove(result) })
		}
	}()
	tick := time.NewTicker(again)
	defer tick.Stop()
	for {
		if ctx.Err() != nil {
			return Assurance{}, context.Cause(ctx)
		}
		if !l.commands.Has(ask) { // the loop may stand
			if !l.order(ask) {
				return Assurance{}, ErrClosed
			}
			asked++
		}
		select {
		case a := <-result:
			return a, nil
		case <-tick.C:
		case <-l.done:
			return Assurance{}, ErrClosed
		case <-ctx.Done():
		}
	}
}

// NamedLeader returns which node a node names as its leader, as far as this one
// knows, or NoNode. The error is [ErrClosed] or the cause of ctx.
func (l *Loop) NamedLeader(ctx context.Context, id timed.NodeID, global bool) (timed.NodeID, error) {
	return inLoop(ctx, l, func(d *driver, reply func(timed.NodeID)) { reply(d.namedLeader(id, global)) })
}

// RecallOrdered names the ordered messages that are part of the state which the
// application keeps. Call it before [deliveryqueue.Queue.Keep]. If this incarnation has
// already told others which messages it has, it ends. It waits as long as the loop is stalled.
// The error is [ErrClosed].
func (l *Loop) RecallOrdered(marks []broadcast.Mark) error {
	return inLoopErr(context.Background(), l, func(d *driver, reply func(error)) {
		d.recallOrdered(marks)
		reply(nil)
	})
}

// ProposeQuorum proposes another quorum system, at the global leader of an epoch. The error
// is [ErrNotLeader] or that of the stack; or [ErrClosed] or the cause of ctx, after which the
// system may be proposed all the same.
func (l *Loop) ProposeQuorum(ctx context.Context, epoch uint64, next string) error {
	return inLoopErr(ctx, l, func(d *driver, reply func(error)) { reply(d.proposeQuorum(epoch, next)) })
}

// ForceQuorum replaces the quorum system without a leader. The error is as with
// [Loop.ProposeQuorum].
func (l *Loop) ForceQuorum(ctx context.Context, next string, dead timed.Set) error {
	return inLoopErr(ctx, l, func(d *driver, reply func(error)) { d.forceQuorum(next, dead, reply) })
}

// TakeRing adopts a ring of keys, in a loop that was made with one. The error is
// [ErrClosed] or the cause of ctx.
func (l *Loop) TakeRing(ctx context.Context, r *seal.Ring) error {
	return inLoopErr(ctx, l, func(d *driver, reply func(error)) {
		d.takeRing(r)
		reply(nil)
	})
}

// Status returns the status of the loop. After the end of the loop, it returns the last
// status. It returns nil if the loop is stalled.
func (l *Loop) Status() *Status {
	ctx, cancel := context.WithTimeout(context.Background(), statusPatience)
	defer cancel()
	s, err := inLoop(ctx, l, func(d *driver, reply func(*Status)) { reply(d.status()) })
	select {
	case <-l.done:
		return l.last
	default:
	}
	if err != nil {
		return nil
	}
	return s
}

// References is the loop's knowledge of references of UTC, and of UTC by them, when its clock
// showed a time.
type References struct {
	List  []clocksync.ReferenceInfo
	UTC   clocksync.Knowledge
	Shown clocksync.Time
}

// References returns the loop's knowledge of references of UTC. It is zero without an
// incarnation, and if the loop is stalled or has ended.
func (l *Loop) References() References {
	ctx, cancel := context.WithTimeout(context.Background(), statusPatience)
	defer cancel()
	a, _ := inLoop(ctx, l, func(d *driver, reply func(References)) {
		var a References
		if d.stack != nil {
			ck, now := d.stack.Clock(), d.clock.now
			a = References{ck.References(now), ck.Knowledge(now), ck.Read(now).Time}
		}
		reply(a)
	})
	return a
}

// meetRoom is how many packets to a multicast group wait for a loop that may be stalled for hours,
// while whoever likes sends more.
const meetRoom = 32

// Meet hands the loop a packet that came to a multicast group: only its sender counts. It
// does not wait. The packet is dropped where as many wait already as may.
func (l *Loop) Meet(b []byte, from netip.AddrPort) {
	if l.meeting.Add(1) > meetRoom {
		l.meeting.Add(-1)
		return
	}
	l.do(func(d *driver) {
		l.meeting.Add(-1)
		d.meet(&udp.Packet{Buf: b, N: len(b), Addr: from, Received: d.clock.now})
	})
}
