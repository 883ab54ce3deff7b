package failaware

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/failaware/failaware/internal/brief"
	"github.com/failaware/failaware/timed"
)

// Hold is this node's promise that no other node leads for some time, even if this
// node steps down. [Node.Leader] promises less: a node that steps down frees its votes
// at once, and another may lead while an earlier answer is on its way to another
// process. A node frees votes only after the end of every hold that it gave.
//
// It is a value, and safe for concurrent use. What it promises is for this process alone: its
// JSON has the fields, not the promise.
type Hold struct {
	// By is the incarnation that leads.
	By Incarnation
	// Since is when its uninterrupted lead began, on its hardware clock. Two holds are
	// of one lead if By and Since are the same.
	Since Instant
	// Global says that it is about the global lead.
	Global bool

	clock *promiseClock
	until timed.Instant
}

// ValidFor returns how long the promise holds from now on, by the hardware clock, which
// each call reads. It is 0 when the promise is over, or the machine has slept, or the clock
// is not trusted any more. Subtract the time that the work needs to stop.
func (h Hold) ValidFor() time.Duration { return h.clock.left(h.until) }

// String says who leads and for how long no other node does.
func (h Hold) String() string {
	switch d := h.ValidFor(); {
	case !h.By.Valid():
		return "no hold"
	case d == 0:
		return fmt.Sprintf("the hold of node %v is over", h.By.Node)
	case h.Global:
		return fmt.Sprintf("no node but %v leads globally for %s", h.By.Node, brief.Duration(d))
	default:
		return fmt.Sprintf("no node but %v leads its logical partition for %s", h.By.Node, brief.Duration(d))
	}
}

// Verification is a node's answer to the question whether it leads, as a promise by
// this node's clock. It is a value, and safe for concurrent use. Like that of a [Hold], its JSON
// has no promise.
type Verification struct {
	// By is the incarnation that answered.
	By Incarnation

	clock         *promiseClock
	local, global timed.Instant
}

// ValidFor returns how long from now on no node but By leads with the support of By,
// or of a node that supported By when it answered. It is 0 when By did not say that it
// leads, and when the promise is over, this machine has slept, or its clock is not
// trusted any more. By may step down earlier. Each call reads the hardware clock.
//
// An answer of [Node.FindGlobalLeader] is about the global lead only: ValidFor and
// GlobalValidFor are the same.
func (v Verification) ValidFor() time.Duration { return v.clock.left(v.local) }

// GlobalValidFor is like ValidFor, for the global lead: no node but By leads globally.
func (v Verification) GlobalValidFor() time.Duration { return v.clock.left(v.global) }

// String says what the answer promises from now on.
func (v Verification) String() string {
	local, global := v.ValidFor(), v.GlobalValidFor()
	switch {
	case !v.By.Valid():
		return "no answer"
	case global > 0:
		return fmt.Sprintf("no node but %v leads globally for %s", v.By.Node, brief.Duration(global))
	case local > 0:
		return fmt.Sprintf("no node but %v leads its logical partition for %s", v.By.Node, brief.Duration(local))
	}
	return fmt.Sprintf("node %v does not promise that it leads", v.By.Node)
}

// NoLeaderError says which nodes were asked last in a search for the leader that was
// given up. It matches [ErrNoLeader], and the cause of the context that ended it.
type NoLeaderError struct {
	Global bool // the search was for the global leader
	// Refusals are the answers to the last search, in the order of asking. They are empty if
	// no node was known to ask.
	Refusals []Refusal
	// Cause is why the search ended, or did not begin.
	Cause error
}

func (e *NoLeaderError) Error() string {
	var texts []string
	for _, r := range e.Refusals {
		texts = append(texts, r.String())
	}
	if texts == nil {
		texts = []string{"nobody is known who might"}
	}
	role := "leads"
	if e.Global {
		role = "leads globally"
	}
	text := fmt.Sprintf("failaware: nobody was found who %s: %s", role, strings.Join(texts, "; "))
	if e.Cause != nil {
		text += fmt.Sprintf(" (%v)", e.Cause)
	}
	return text
}

// Is reports whether target is ErrNoLeader.
func (e *NoLeaderError) Is(target error) bool { return target == ErrNoLeader }

// Unwrap returns the cause.
func (e *NoLeaderError) Unwrap() error { return e.Cause }

// Refusal is the answer of a node that did not promise that it leads.
type Refusal struct {
	Node NodeID // that was asked
	// Leader is the node that it follows, or NoNode if that is not known.
	Leader NodeID
	// Silent says that it gave no answer in time.
	Silent bool
}

func (r Refusal) String() string {
	switch {
	case r.Silent:
		return fmt.Sprintf("node %v does not answer", r.Node)
	case r.Leader == NoNode:
		return fmt.Sprintf("node %v does not lead, and names no leader", r.Node)
	}
	return fmt.Sprintf("node %v does not lead, and names node %v", r.Node, r.Leader)
}

// Hold returns a promise that no other node leads the logical partition for some time,
// at most Timing.LockTime: no other node leads with the support of this node or of its
// supporters. It is for programs that act for the leader and cannot ask it at every step,
// such as other processes. Within the process, [Node.LeaderContext] costs nothing.
//
// A hold does not end when the node resigns: it makes the next leader wait. Ask for
// another one before it ends. The error is [ErrNotLeader], [ErrClosed] or the cause
// of ctx. It is safe for concurrent use, and costs a turn of the node's loop.
func (n *Node) Hold(ctx context.Context) (Hold, error) { return n.hold(ctx, false) }

// HoldGlobally is like [Node.Hold], for the global lead: no other node of the group leads
// globally. The error of a node that does not lead globally is a [*NotLeaderError]
// with Global set.
func (n *Node) HoldGlobally(ctx context.Context) (Hold, error) { return n.hold(ctx, true) }

// Verify asks a node whether it leads, and returns its answer. It asks again every
// ElectionPeriod until an answer comes. The answering node frees no vote while its
// answer holds, so frequent questions make hand-overs slower. A node can ask itself,
// and its answer binds it as any other.
//
// The error is [ErrClosed] or the cause of ctx, or says that id is not valid.
func (n *Node) Verify(ctx context.Context, id NodeID) (Verification, error) {
	if !id.Valid() {
		return Verification{}, fmt.Errorf("failaware: Verify: a node id from 1 to %d is needed", timed.MaxNodes)
	}
	a, err := n.loop.Verify(ctx, id, n.cfg.Timing.ElectionPeriod)
	if err != nil {
		return Verification{}, err
	}
	return Verification{By: a.By, local: a.Local, global: a.Global, clock: newPromiseClock(n.clock, a.Basis)}, nil
}

// FindLeader searches for the leader of the logical partition, and returns that node's
// own promise. It asks the node that this one follows or has heard of, which may be this
// node itself; then the node that the answer names; and so on, until one answers that it
// leads ([Node.Verify]). The word of a node about others only guides the search.
//
// It searches again every ElectionPeriod until it succeeds, or ends with [ErrClosed]
// or a [*NoLeaderError] that has the cause of ctx. It is safe for concurrent use. The
// leader frees no vote before its answer ends.
func (n *Node) FindLeader(ctx context.Context) (Verification, error) {
	return n.findLeader(ctx, false)
}

// FindGlobalLeader is like [Node.FindLeader], for the node that leads globally, and its
// answer promises that no other node leads globally. A [*NoLeaderError] then has Global set.
// It comes at once from a node without a quorum system.
func (n *Node) FindGlobalLeader(ctx context.Context) (Verification, error) {
	v, err := n.findLeader(ctx, true)
	v.local = v.global // which is over first, and is what was asked for
	return v, err
}

func (n *Node) hold(ctx context.Context, global bool) (Hold, error) {
	h, err := n.loop.Hold(ctx, global)
	if err != nil {
		return Hold{}, n.refusal(err, global)
	}
	return Hold{By: h.By, Since: h.Since, Global: global, until: h.Until, clock: newPromiseClock(n.clock, h.Basis)}, nil
}

// maxHops is how many nodes one search asks before it begins anew. Each node names
// the one that it follows; a longer chain is made of answers from different times.
const maxHops = 8

// errNeverGlobal is why a node does not search for a global leader.
var errNeverGlobal = errors.New("this node has no quorum system")

func (n *Node) findLeader(ctx context.Context, global bool) (Verification, error) {
	if global && n.neverGlobal() {
		return Verification{}, &NoLeaderError{Global: true, Cause: errNeverGlobal}
	}
	again := time.NewTicker(n.cfg.Timing.ElectionPeriod)
	defer again.Stop()
	var refusals []Refusal
	for {
		var v Verification
		at, err := n.loop.NamedLeader(ctx, n.cfg.ID, global)
		if err == nil {
			v, refusals, err = n.search(ctx, at, global)
		}
		switch {
		case err == nil:
			return v, nil
		case errors.Is(err, ErrClosed):
			return Verification{}, ErrClosed
		}
		if ctx.Err() == nil {
			select {
			case <-again.C:
				continue
			case <-n.done:
				return Verification{}, ErrClosed
			case <-ctx.Done():
			}
		}
		return Verification{}, &NoLeaderError{Global: global, Refusals: refusals, Cause: context.Cause(ctx)}
	}
}

// search asks a node, then the node that it names, and so on, until one promises that it
// leads.
func (n *Node) search(ctx context.Context, at NodeID, global bool) (v Verification, refusals []Refusal, err error) {
	var asked timed.Set
	for hop := 0; err == nil && at != NoNode && hop < maxHops && !asked.Has(at); hop++ {
		asked.Add(at)
		v, err = n.verifySoon(ctx, at)
		switch {
		case err == nil && (v.GlobalValidFor() > 0 || !global && v.ValidFor() > 0):
			return v, refusals, nil
		case errors.Is(err, ErrClosed):
			return Verification{}, nil, err
		case err != nil:
			return Verification{}, append(refusals, Refusal{Node: at, Silent: true}), err
		}
		var next NodeID
		next, err = n.loop.NamedLeader(ctx, at, global)
		refusals = append(refusals, Refusal{Node: at, Leader: next})
		at = next
	}
	if err == nil {
		err = ErrNoLeader
	}
	return Verification{}, refusals, err
}

// verifySoon asks a node that may be gone, for as long as it takes to notice that.
func (n *Node) verifySoon(ctx context.Context, id NodeID) (Verification, error) {
	ctx, cancel := context.WithTimeout(ctx, n.bounds.Notice)
	defer cancel()
	return n.Verify(ctx, id)
}
