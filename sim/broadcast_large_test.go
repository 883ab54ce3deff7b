package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// broadcastInSmallPackets is a group that splits and meets again, in a network
// that loses whatever is larger than the packets that all networks carry. Views
// are installed and messages delivered all the same, and nothing was lost: nobody
// said anything larger.
func broadcastInSmallPackets(seed uint64, nodes int) error {
	cfg := broadcast.Config{}
	c, err := CaseOf(seed, Options{Nodes: nodes, Calm: true, Duration: 3 * time.Second, Broadcast: &Broadcast{Config: &cfg}})
	if err != nil {
		return err
	}
	var halves [2]timed.Set
	for id := range group(nodes).All() {
		halves[id%2].Add(id)
	}
	c.Schedule.Faults = []fault.Fault{
		{Kind: fault.BlackHole, Size: wire.MaxPacket},
		{At: 900 * time.Millisecond, For: 700 * time.Millisecond, Kind: fault.Split, Blocks: halves[:]},
	}
	t := c.Schedule.Traffic
	t.Rate, t.Mix, t.Largest, t.Hush = 200/float64(nodes), fault.AllOptions(), 5000, false
	w, err := c.World()
	if err != nil {
		return err
	}
	inViews := func(views ...timed.Set) error {
		for _, n := range w.nodes {
			v, ok := n.proc.Stack.BroadcastState().View(), false
			for _, set := range views {
				ok = ok || v != nil && v.Set == set && set.Has(n.proc.ID)
			}
			if !ok {
				return fmt.Errorf("seed %d: node %v is in view %v, and not in one of %v", seed, n.proc.ID, v, views)
			}
		}
		return nil
	}
	for _, step := range []struct {
		at    time.Duration
		views []timed.Set
	}{{850 * time.Millisecond, []timed.Set{group(nodes)}}, {1550 * time.Millisecond, halves[:]}, {2500 * time.Millisecond, []timed.Set{group(nodes)}}} {
		if err := w.Run(step.at - w.Time()); err != nil {
			return err
		}
		if err := inViews(step.views...); err != nil {
			return err
		}
	}
	for id, m := range w.cast.check.Sent {
		if age := time.Duration(w.now - m.At); !m.Outcome && age > time.Second/2 {
			return fmt.Errorf("seed %d: %v has no outcome after %v", seed, id, age)
		}
	}
	if w.count.Deliveries < uint64(nodes*nodes) || w.count.Lost > 0 {
		return fmt.Errorf("seed %d: %d deliveries, %d packets too large", seed, w.count.Deliveries, w.count.Lost)
	}
	return nil
}

func TestLargeGroupsBroadcastInSmallPackets(t *testing.T) {
	for _, nodes := range []int{16, 40} {
		t.Run(fmt.Sprint(nodes), func(t *testing.T) {
			t.Parallel()
			require.NoError(t, broadcastInSmallPackets(1, nodes))
		})
	}
}
