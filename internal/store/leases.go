package store

import (
	"context"
	"time"

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
	// tickPatience is how long a command that ends leases may wait.
	tickPatience = time.Second
)

// endLeases submits a command when the time of a lease is surely over, until ctx is done.
// The first member of the view does it at once, and the others when it does not.
func (s *Store) endLeases(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	overdue := 0
	for {
		select {
		case <-ticker.C:
		case <-s.replica.Done():
			return
		case <-ctx.Done():
			return
		}
		due := false
		fresh := s.replica.Read(func() { due = s.app.state.Due(s.node.Clock()) })
		if !due || fresh.Situation != replicate.Working {
			overdue = 0
			continue
		}
		if overdue++; overdue <= standIn*fresh.View.Set.Rank(s.node.ID()) {
			continue
		}
		overdue = 0
		one, cancel := context.WithTimeout(ctx, tickPatience)
		_, _ = s.Submit(one, kv.Command{Op: kv.Tick}, api.Attempt{}) // the next look tries again
		cancel()
	}
}
