package failaware

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/failaware/failaware/timed"
)

// maxHops is how many nodes one search asks before it begins anew: each says whom it
// follows, and a chain that is longer than that is of answers from different times.
const maxHops = 8

// Refusal is what a node said that was asked whether it leads, and did not assure
// that it does.
type Refusal struct {
	Node NodeID
	// Names is the node that it follows, or NoNode if that is not known.
	Names NodeID
	// Silent tells that it gave no answer in time.
	Silent bool
}

func (r Refusal) String() string {
	switch {
	case r.Silent:
		return fmt.Sprintf("node %v does not answer", r.Node)
	case r.Names == NoNode:
		return fmt.Sprintf("node %v does not lead, and names nobody", r.Node)
	}
	return fmt.Sprintf("node %v does not lead, and names node %v", r.Node, r.Names)
}

// NoLeaderError says who was asked last in a search for the leader that was given
// up. It matches [ErrNoLeader], and the cause of the context that ended it.
type NoLeaderError struct {
	Global bool
	// Refusals are those of the last search, in the order of asking; empty if
	// nobody was known to ask.
	Refusals []Refusal
	// Cause is why the search ended.
	Cause error
}

func (e *NoLeaderError) Error() string {
	texts := []string{"nobody is known who might"}
	if len(e.Refusals) > 0 {
		texts = nil
	}
	for _, r := range e.Refusals {
		texts = append(texts, r.String())
	}
	what := "leads"
	if e.Global {
		what = "leads globally"
	}
	return fmt.Sprintf("failaware: nobody was found who %s: %s (%v)", what, strings.Join(texts, "; "), e.Cause)
}

// Is reports whether target is ErrNoLeader.
func (e *NoLeaderError) Is(target error) bool { return target == ErrNoLeader }

// Unwrap returns the cause.
func (e *NoLeaderError) Unwrap() error { return e.Cause }

// FindLeader searches for the leader of the logical partition, and returns its own
// word that it leads: it asks the node that this one follows or has heard of, which
// may be this one, then whom that one follows, and so on, until one answers that it
// leads ([Node.Verify]). What nodes say of others only tells where to look.
//
// It searches again every ElectionPeriod until it succeeds, or ends with
// [ErrClosed] or a [*NoLeaderError] that has the cause of ctx. It is safe for
// concurrent use. The leader that answers frees no vote before its answer ends.
func (n *Node) FindLeader(ctx context.Context) (Verification, error) {
	return n.findLeader(ctx, false)
}

// FindGlobalLeader is as [Node.FindLeader] for the node that leads globally.
func (n *Node) FindGlobalLeader(ctx context.Context) (Verification, error) {
	return n.findLeader(ctx, true)
}

func (n *Node) findLeader(ctx context.Context, global bool) (Verification, error) {
	again := time.NewTicker(n.cfg.Timing.ElectionPeriod)
	defer again.Stop()
	for {
		var v Verification
		var refusals []Refusal
		at, err := n.names(ctx, n.cfg.ID, global)
		if err == nil {
			v, refusals, err = n.search(ctx, at, global)
		}
		switch {
		case err == nil:
			return v, nil
		case errors.Is(err, ErrClosed):
			return Verification{}, ErrClosed
		}
		select {
		case <-again.C:
		case <-n.done:
			return Verification{}, ErrClosed
		case <-ctx.Done():
			return Verification{}, &NoLeaderError{Global: global, Refusals: refusals, Cause: context.Cause(ctx)}
		}
	}
}

// search asks a node, and then whom that one names, until one assures that it leads.
func (n *Node) search(ctx context.Context, at NodeID, global bool) (v Verification, refusals []Refusal, err error) {
	var asked timed.Set
	for hop := 0; err == nil && at != NoNode && hop < maxHops && !asked.Has(at); hop++ {
		asked.Add(at)
		v, err = n.verifySoon(ctx, at)
		switch {
		case err == nil && (v.Global() > 0 || !global && v.Local() > 0):
			return v, refusals, nil
		case errors.Is(err, ErrClosed):
			return Verification{}, nil, err
		case err != nil:
			return Verification{}, append(refusals, Refusal{Node: at, Silent: true}), err
		}
		var next NodeID
		next, err = n.names(ctx, at, global)
		refusals = append(refusals, Refusal{Node: at, Names: next})
		at = next
	}
	if err == nil {
		err = ErrNoLeader
	}
	return Verification{}, refusals, err
}

// verifySoon asks a node that may be gone: whoever has not answered for as long as
// silence takes to be noticed is looked for no more.
func (n *Node) verifySoon(ctx context.Context, id NodeID) (Verification, error) {
	ctx, cancel := context.WithTimeout(ctx, n.bounds.Notice)
	defer cancel()
	return n.Verify(ctx, id)
}

// refuse makes the error of what only a leader may do.
func (n *Node) refuse(global bool) error {
	to := n.Leader().Leader
	if global {
		to = n.GlobalLeader().Leader
	}
	if to == n.cfg.ID {
		to = NoNode // it has just begun to lead
	}
	return &NotLeaderError{Global: global, Leader: to, refused: true}
}

// names returns whom a node names as its leader, as far as this one knows; NoNode:
// nobody.
func (n *Node) names(ctx context.Context, id NodeID, global bool) (NodeID, error) {
	result := make(chan NodeID, 1)
	if !n.do(func(d *driver) { result <- d.names(id, global) }) {
		return NoNode, ErrClosed
	}
	select {
	case named := <-result:
		return named, nil
	case <-n.done:
		return NoNode, ErrClosed
	case <-ctx.Done():
		return NoNode, context.Cause(ctx)
	}
}

// names is the loop's part: what the node knows itself, and of others what they said
// in their last packets.
func (d *driver) names(id NodeID, global bool) NodeID {
	if d.stack == nil {
		return NoNode
	}
	el := d.stack.Election()
	if id != d.cfg.Self.Node {
		return el.Peer(id).LockedTo.Node
	}
	if global {
		return d.stack.GlobalLeader(d.now)
	}
	if to, _ := el.Locked(d.now); to.Valid() {
		return to.Node
	}
	for peer := range d.published.Alive.All() {
		if el.Peer(peer).Leading {
			return peer
		}
	}
	return NoNode
}
