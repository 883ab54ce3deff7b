package failaware

import (
	"context"
	"errors"
	"fmt"

	"github.com/failaware/failaware/internal/claim"
	"github.com/failaware/failaware/internal/loop"
	"github.com/failaware/failaware/internal/loop/statedir"
)

// maxClaims is how many ids a node claims before it gives up. A refusal names the ids in
// use, so the second claim usually succeeds.
const maxClaims = 32

// ErrNoID says that no id is free, or other nodes refused every id that this node chose.
var ErrNoID = errors.New("failaware: no id for this node was found")

// drawID is for tests to replace.
var drawID = systemRandom

// checkID checks the id. A node without one needs a state directory and no quorum system.
func (c *Config) checkID() (errs faults) {
	switch {
	case c.ID.Valid():
	case c.StateDir == "":
		errs.add("ID: a node id from 1 to 255 is needed, or a StateDir: a node without an id chooses one that is free, and keeps it there")
	case c.Quorum != nil || c.JoinQuorum:
		errs.add("ID: a node id from 1 to 255 is needed: a quorum system counts votes by ids, and two parts of a split group may choose the same one")
	}
	return errs
}

// startAssigned starts a node under the id in its state directory. If there is none, the
// node claims ids until no other node refuses one.
func startAssigned(ctx context.Context, cfg Config) (*Node, error) {
	a, err := statedir.OpenAssigned(cfg.StateDir)
	if err != nil {
		return nil, err
	}
	n, err := claimID(ctx, cfg, a)
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return n, nil
}

func claimID(ctx context.Context, cfg Config, a *statedir.Assigned) (*Node, error) {
	if cfg.ID = a.ID(); cfg.ID != NoNode {
		return start(ctx, cfg, a, &loop.Claim{Held: true})
	}
	used := a.Former()
	for _, p := range cfg.Peers {
		if p.ID != NoNode {
			used.Add(p.ID)
		}
	}
	for range maxClaims {
		if cfg.ID = claim.Choose(used, drawID()); cfg.ID == NoNode {
			break
		}
		kept := make(chan struct{})
		n, err := start(ctx, cfg, a, &loop.Claim{Keep: func() error { return a.Keep(cfg.ID) }, Kept: func() { close(kept) }})
		if err != nil {
			return nil, err
		}
		select {
		case <-kept:
			return n, nil
		case <-n.done:
		}
		refused, ok := errors.AsType[*loop.RefusedError](n.err)
		if !ok {
			return nil, errors.Join(n.err, context.Cause(ctx))
		}
		used = used.Union(refused.Used).With(cfg.ID)
		n.log.Info("the id is in use; this node chooses another one", "id", cfg.ID)
	}
	return nil, fmt.Errorf("%w: %d ids are in use, and %d were tried at most", ErrNoID, used.Len(), maxClaims)
}

// refused reports whether the node has ended because the id that it chose is in use.
func (n *Node) refused() bool {
	_, refused := errors.AsType[*loop.RefusedError](n.err)
	return refused
}

// releaseID unlocks an id that the node has chosen by itself, unless the node is about to
// choose another one. It also forgets the id if another process has it, or if the node has
// left for good: the next process then chooses another one.
func (n *Node) releaseID() error {
	if n.refused() || n.assigned == nil {
		return nil
	}
	var err error
	if errors.Is(n.err, ErrDuplicateID) || n.leaving.Load() == leavesForGood {
		err = n.assigned.Forget()
	}
	return errors.Join(err, n.assigned.Close())
}
