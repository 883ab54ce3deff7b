package sim

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

var lockWorlds = flag.Uint64("lock.seeds", 5, "seeds in which votes' ends are compared")

// excess is for how long a vote binds beyond the lease that it is for: as it is
// counted, and if it were counted from when the request came.
type excess struct{ counted, fromReceipt time.Duration }

// What a lock counted from when the request was sent is worth. A request delayed
// by a network that is not rough costs nothing but what is uncertain about it.
func TestLocksHardlyOutlastTheirLeases(t *testing.T) {
	for _, c := range []struct {
		name string
		opt  Options
	}{{"calm", Options{Calm: true}}, {"roughness 1", Options{}}, {"roughness 4", Options{Roughness: 4}}} {
		var counted, fromReceipt []time.Duration
		for seed := uint64(1); seed <= *lockWorlds; seed++ {
			for _, x := range votesOf(newWorld(seed, c.opt.withDefaults())) {
				require.LessOrEqual(t, x.counted, x.fromReceipt)
				counted, fromReceipt = append(counted, x.counted), append(fromReceipt, x.fromReceipt)
			}
		}
		slices.Sort(counted)
		slices.Sort(fromReceipt)
		at := func(all []time.Duration, share float64) time.Duration {
			return all[min(int(share*float64(len(all))), len(all)-1)].Round(time.Microsecond)
		}
		for _, share := range []float64{0.5, 0.99, 1} {
			t.Logf("%s, %d votes, %g: from the sending %v, from receipt %v", c.name, len(counted), share, at(counted, share), at(fromReceipt, share))
		}
		require.Less(t, at(counted, 0.99), at(fromReceipt, 0.99))
	}
}

// votesOf runs a world and returns what its votes that bind others for longer do.
func votesOf(w *World) (out []excess) {
	end := origin + int64(w.opt.Duration)
	for w.runUntil(w.now) && w.now < end {
		var asked leader.Request
		var by, n *Node
		if next := w.queue.heap[0]; next.kind() == eventDeliver {
			if f := w.slots[next.arg]; f.packet.Has(wire.FrameRequest) && f.from >= 0 {
				n, by, asked = w.nodes[next.node()], w.nodes[f.from], f.packet.Request
			}
		}
		if n == nil {
			w.runUntil(min(end, max(w.queue.heap[0].at, w.now+1)))
			continue
		}
		before := w.check.Claims[n.proc.Index].LockEnd
		w.runUntil(w.queue.heap[0].at)
		cl := &w.check.Claims[n.proc.Index]
		if cl.LockedTo != (timed.Incarnation{Node: by.proc.ID, Boot: by.proc.Boot}) || cl.LockEnd == before || !n.proc.Up || !by.proc.Up {
			continue
		}
		lease := by.proc.Clock.When(asked.Number.Add(w.opt.Timing.MaxDrift.Trust(asked.LockTime)))
		receipt := n.proc.Clock.When(n.last.Add(asked.LockTime))
		if cl.LockUntil <= receipt { // else an older lease asks for longer
			out = append(out, excess{time.Duration(cl.LockUntil - lease), time.Duration(receipt - lease)})
		}
	}
	return out
}
