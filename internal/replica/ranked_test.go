package replica

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
)

// flush has the view of the i-th node end with so many Timed operations that were deferred.
func (w *world) flush(i, count int) {
	n := w.nodes[i]
	for k := range count {
		d := broadcast.Delivery{ID: broadcast.ID{Sender: n.inc.Node, Boot: n.inc.Boot, Class: broadcast.ClassOrdered, Sequence: uint64(1000 + k)},
			Options: broadcast.Options{Order: broadcast.TimedOrder}, Transitional: true, Flushed: true, Position: n.position + 1 + uint64(k), Payload: AppendOp(nil, []byte("t"))}
		w.perform(i, n.r.HandleDelivery(w.now, d, nil))
	}
}

// stored has three nodes whose disks have "a", and then those of the last two "b", which lasts.
// It returns the first node as it was before.
func stored(t testing.TB, cfg Config) (*world, node) {
	cfg.Stored, cfg.Quorum = true, majority(1, 2, 3)
	w := newWorld(3, cfg)
	w.install(0, 1, 2)
	w.opWith(0, "a", strict)
	w.storeAll(0, 1, 2)
	behind := *w.nodes[0]
	w.opWith(1, "b", strict)
	w.storeAll(1, 2)
	requireLasts(t, w)
	return w, behind
}

// meets has the first two nodes start again with what they have, and demands that "b" is there.
func (w *world) meets(t testing.TB, behind node) {
	ahead := *w.nodes[1]
	w.reboot(0, 1, behind)
	w.reboot(1, 1, ahead)
	w.install(0, 1)
	w.run(10 * time.Millisecond)
	require.Equal(t, Working, w.nodes[0].r.Situation())
	for i := range 2 {
		require.True(t, strings.HasPrefix(w.nodes[i].app, "ab"), "node %d has %q", i+1, w.nodes[i].app)
	}
}

// lastsBehindFlushes has a node flush more operations, at the end of its view, than a state has
// ancestors. Another node, whose disk lacks what lasts, flushes some as well, or none.
func lastsBehindFlushes(t testing.TB) {
	for _, count := range []int{0, 1, maxLine - 1, maxLine, maxLine + 1, 3 * maxLine} {
		for _, others := range []int{0, 1, 2 * maxLine} {
			w, behind := stored(t, Config{})
			w.flush(1, count)
			ahead := *w.nodes[1]
			*w.nodes[0] = behind
			w.flush(0, others)
			behind = *w.nodes[0]
			*w.nodes[1] = ahead
			w.meets(t, behind)
		}
	}
}

func TestWhatLastsOutlastsFlushes(t *testing.T) { lastsBehindFlushes(t) }

// lastsBehindViews has more views end before they settle, with an operation each, than a state or a
// report has ancestors.
func lastsBehindViews(t testing.TB) {
	for payload, views := range map[int]int{0: maxLine + 1, epochBytes: 6} {
		cfg := Config{MaxPayload: payload}
		if payload > 0 {
			cfg.ChunkBytes = 64
		}
		w, behind := stored(t, cfg)
		w.hold = func(from int, p []byte) bool { return from == 2 && kind(p[0]) == kindReport }
		for range views {
			w.install(1, 2)
			w.opWith(1, "v", strict)
		}
		w.install(1)
		w.hold = nil
		w.meets(t, behind)
	}
}

func TestWhatLastsOutlastsViews(t *testing.T) { lastsBehindViews(t) }
