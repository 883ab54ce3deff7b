package failaware

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/failaware/failaware/timed"
)

// maxHops is how many nodes one search asks before it begins anew. Each node names
// the one that it follows; a longer chain is made of answers from different times.
const maxHops = 8

// Refusal is the answer of a node that did not assure that it leads.
type Refusal struct {
	Node NodeID
	// Names is the node that it follows, or NoNode if that is not known.
	Names NodeID
	// Silent says that it gave no answer in time.
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

// NoLeaderError says which nodes were asked last in a search for the leader that was
// given up. It matches [ErrNoLeader], and the cause of the context that ended it.
type NoLeaderError struct {
	Global bool
	// Refusals are those of the last search, in the order of asking; empty if no node
	// was known to ask.
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

// FindLeader searches for the leader of the logical partition, and returns that
// node's own promise: it asks the node that this one follows or has heard of, which
// may be this one, then the node that the answer names, and so on, until one answers
// that it leads ([Node.Verify]). The word of a node about others only guides the
// search.
//
// It searches again every ElectionPeriod until it succeeds, or ends with [ErrClosed]
// or a [*NoLeaderError] that has the cause of ctx. It is safe for concurrent use. The
// leader frees no vote before its answer ends.
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
		select {
		case <-again.C:
		case <-n.done:
			return Verification{}, ErrClosed
		case <-ctx.Done():
			return Verification{}, &NoLeaderError{Global: global, Refusals: refusals, Cause: context.Cause(ctx)}
		}
	}
}

// search asks a node, and then the node that it names, until one assures that it
// leads.
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
		next, err = n.loop.NamedLeader(ctx, at, global)
		refusals = append(refusals, Refusal{Node: at, Names: next})
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
