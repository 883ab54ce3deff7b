package memory_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/sim/memory"
)

// This file shows how to test a service of your own: a scheduler that works on
// the one node that leads, right and wrong. The exercise below knows nothing of
// how a scheduler is made, and finds the wrong one out.

// schedule works whenever the node leads. A lead that is over ends the work, by
// its context.
func schedule(ctx context.Context, node *failaware.Node, work func(context.Context)) {
	for {
		lead, cancel, err := node.Lead(ctx)
		if err == nil {
			work(lead)
		}
		cancel()
		if err != nil {
			return
		}
	}
}

// scheduleOnce has a bug that is often met: it asks once, and believes the answer
// for ever.
func scheduleOnce(ctx context.Context, node *failaware.Node, work func(context.Context)) {
	_, cancel, err := node.Lead(ctx)
	cancel()
	if err == nil {
		work(ctx)
	}
}

func TestScheduler(t *testing.T) {
	require.Empty(t, exercise(t, schedule))
}

func TestSchedulerThatAsksOnceIsFoundOut(t *testing.T) {
	problems := exercise(t, scheduleOnce)
	t.Log(problems)
	require.NotEmpty(t, problems)
}

// exercise runs a scheduler on each of five nodes, lets the network do its worst,
// and returns its error.
func exercise(t *testing.T, scheduler func(context.Context, *failaware.Node, func(context.Context))) (problems []string) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer stop()

		net := memory.New(memory.Options{Seed: 1})
		nodes := map[failaware.NodeID]*failaware.Node{}
		var busy roster
		for id := failaware.NodeID(1); id <= 5; id++ {
			node, err := failaware.Start(ctx, failaware.Config{ID: id, Transport: net.Transport()})
			require.NoError(t, err)
			nodes[id] = node
			running.Go(func() {
				scheduler(ctx, node, func(ctx context.Context) {
					busy.set(id, true)
					<-ctx.Done() // the work
					busy.set(id, false)
				})
			})
		}
		bounds := nodes[1].Bounds()

		// settle lets the bounds pass, and then demands that exactly one of the
		// nodes is at work.
		settle := func(when string, among ...failaware.NodeID) (worker failaware.NodeID) {
			time.Sleep(bounds.Rejoin + bounds.View)
			at := busy.among(among)
			if len(at) != 1 {
				problems = append(problems, fmt.Sprintf("%s, of %v there work %v", when, among, at))
				return nodes[among[0]].Leader().Leader
			}
			return at[0]
		}
		settle("at first", 1, 2, 3, 4, 5)

		net.Partition([]failaware.NodeID{1, 2, 3}, []failaware.NodeID{4, 5})
		settle("when the network is split", 1, 2, 3)
		settle("when the network is split", 4, 5)

		net.Heal()
		worker := settle("when the network is whole again", 1, 2, 3, 4, 5)

		net.Pause(worker)
		settle("while the node that worked is stalled", 1, 2, 3, 4, 5)
	})
	return problems
}

// roster has the nodes that are at work.
type roster struct {
	mu   sync.Mutex
	busy failaware.Set
}

func (r *roster) set(id failaware.NodeID, busy bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if busy {
		r.busy.Add(id)
	} else {
		r.busy.Remove(id)
	}
}

func (r *roster) among(some []failaware.NodeID) (at []failaware.NodeID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range some {
		if r.busy.Has(id) {
			at = append(at, id)
		}
	}
	return at
}
