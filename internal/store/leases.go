package store

import (
	"context"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/replicate"
)

const (
	// lookEvery is how often a node looks for leases whose time is over.
	lookEvery = 100 * time.Millisecond
	// standIn is how many looks later each further member of the view acts in place of
	// those before it.
	standIn = 5
	// tickPatience is how long a command that ends leases may wait, and the read before it.
	tickPatience = time.Second
)

// endLeases submits a command when the time of a lease is surely over, until ctx is done.
// The first member of the view does it at once, and the others when it does not.
func (s *Store) endLeases(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	var late lateness
	for {
		select {
		case <-ticker.C:
		case <-s.replica.Done():
			return
		case <-ctx.Done():
			return
		}
		due, seen := false, false
		fresh := s.replica.Read(func() { due, seen = s.app.state.Due(s.node.Clock(), !s.isMixed(s.node.View().View.ID)) })
		if !due || fresh.Situation != replicate.Working {
			late = 0
			continue
		}
		if late.acts(fresh.View.Set.Rank(s.node.ID())) {
			s.tick(ctx, seen)
		}
	}
}

// lateness counts the looks at which leases had to end and this member did nothing.
type lateness int

// acts notes another such look, and reports whether the member of a rank acts.
func (l *lateness) acts(rank int) bool {
	if int(*l) < standIn*rank {
		*l++
		return false
	}
	*l = 0
	return true
}

// tick submits a command that ends leases. If seen is set, it also lets those begin that wait: it
// says what this node has seen before it reads the clock. An error does not matter, as the next
// look tries again.
func (s *Store) tick(ctx context.Context, seen bool) {
	c := kv.Command{Op: kv.Tick}
	if seen {
		c.Seen = s.lasting(ctx)
	}
	one, cancel := context.WithTimeout(ctx, tickPatience)
	defer cancel()
	_, _ = s.Submit(one, c, api.Attempt{})
}

// lasting returns how far the latest state is, which lasts: one that gives way to others has not
// seen what they have in its place. It returns 0 if that cannot be known, or not all members of
// the view are of builds that know what it means.
func (s *Store) lasting(ctx context.Context) (seen uint64) {
	one, cancel := context.WithTimeout(ctx, tickPatience)
	defer cancel()
	fresh, err := s.replica.ReadLatest(one, func() { seen = s.app.state.Seen() })
	if err != nil || s.isMixed(fresh.View.ID) {
		return 0
	}
	return seen
}

// isMixed reports whether a view has a member of a build that may not know what a Tick says.
func (s *Store) isMixed(view failaware.ViewID) bool {
	mixed := s.mixed.Load()
	return mixed != nil && *mixed == view
}
