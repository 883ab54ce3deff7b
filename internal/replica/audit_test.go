package replica

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// miscounted returns what a replica has written down wrongly, in words.
func miscounted(m *Replica) string {
	weight := 0
	for _, b := range m.queue {
		weight += b.weight
	}
	switch {
	case weight != m.queued || m.earlier > len(m.queue):
		return fmt.Sprintf("%d bytes of %d wait", m.queued, weight)
	case m.whole > m.seen+1:
		return fmt.Sprintf("all have what is before %d, after %d deliveries", m.whole, m.seen)
	case m.retryAt != timed.Never && m.refusals == 0:
		return "it has refused nothing, and offers again"
	case len(m.checks) > maxChecks:
		return fmt.Sprintf("%d positions are compared", len(m.checks))
	case m.phase != settled:
		return ""
	}
	var served timed.Set
	for _, s := range append(append([]service{}, m.services...), m.stuck...) {
		switch {
		case s.receivers.Empty() || served.Intersects(s.receivers):
			return fmt.Sprintf("%v get another state than one", s.receivers)
		case m.refused.Has(s.standby): // a source may have refused another snapshot only
			return fmt.Sprintf("node %v stands by, and has refused", s.standby)
		}
		served = served.Union(s.receivers)
	}
	return ""
}

// tooLarge has members send more than a node keeps: blocks, and a snapshot.
func tooLarge(t testing.TB) {
	w := newWorld(2, Config{})
	w.install(0)
	w.op(0, "a")
	w.hold = func(_ int, p []byte) bool { return kind(p[0]) == kindChunk }
	w.install(0, 1)
	w.hold = nil
	s, joiner := w.nodes[0].r.streams[0], w.nodes[1].r
	chunk := message{kind: kindChunk, name: s.name, digest: s.from.digest, size: uint64(joiner.cfg.MaxSnapshot) + 1, body: []byte("x")}
	w.perform(0, []Effect{{Kind: Broadcast, Options: unordered, Payload: encode(&chunk)}})
	require.Len(t, joiner.incoming, 1)
	require.Zero(t, joiner.incoming[0].data.size)
	w.restart(1, 1)
	w.hold = func(_ int, p []byte) bool { return kind(p[0]) == kindChunk }
	w.install(0, 1)
	w.hold = nil
	joiner = w.nodes[1].r
	chunk.size--
	w.perform(0, []Effect{{Kind: Broadcast, Options: unordered, Payload: encode(&chunk)}})
	require.Len(t, joiner.incoming, 1)
	require.EqualValues(t, 1, joiner.incoming[0].data.size)
	for range 2 {
		joiner.takeBlocks(1, &message{kind: kindBlocks, body: make([]byte, 8*mostBlocks-8)})
		require.LessOrEqual(t, len(joiner.peerBlocks[0]), mostBlocks)
	}
}

func TestWhatOthersSendIsBounded(t *testing.T) { tooLarge(t) }

// laterChecks compares states at more positions than are kept.
func laterChecks(t testing.TB) {
	w := newWorld(1, Config{})
	w.install(0)
	m := w.nodes[0].r
	at := func(position uint64) Point { return Point{m.view.ID, position} }
	for p := range uint64(maxChecks + 2) {
		require.NotNil(t, m.checkAt(at(p+1)))
	}
	require.Len(t, m.checks, maxChecks)
	kept := func(positions ...uint64) (all []uint64) {
		for _, p := range positions {
			if i := slices.IndexFunc(m.checks, func(c check) bool { return c.at == at(p) }); i >= 0 {
				all = append(all, p)
			}
		}
		return all
	}
	require.Nil(t, m.checkAt(at(2)))
	require.Nil(t, m.checkAt(at(3)))
	require.Equal(t, []uint64{1, 4, maxChecks + 2}, kept(1, 2, 3, 4, maxChecks+2), "the first one is not complete")
	m.checkAt(at(1)).sums[0].known = true
	require.NotNil(t, m.checkAt(at(maxChecks+3)))
	require.Equal(t, []uint64{4, 5, maxChecks + 3}, kept(1, 4, 5, maxChecks+3))
}

func TestTheLatestStatesAreCompared(t *testing.T) { laterChecks(t) }

// laggingIsCompared has the hashes of a member come behind more of this node's than are kept.
func laggingIsCompared(t testing.TB) {
	for _, lag := range []int{0, maxChecks - 1, maxChecks, 3 * maxChecks, 100 * maxChecks} {
		w := newWorld(2, Config{})
		w.install(0, 1)
		m := w.nodes[0].r
		told := 0
		for k := 1; k < 10_000; k++ {
			m.out = nil
			at := func(k int) Point { return Point{m.view.ID, uint64(100 * k)} }
			m.takeHash(1, at(k), 1)
			if k > lag {
				m.takeHash(2, at(k-lag), 2)
			}
			told += len(m.out)
			require.LessOrEqual(t, len(m.checks), maxChecks)
		}
		require.Greater(t, told, 1, "a lag of %d", lag)
	}
}

func TestAMemberThatLagsIsCompared(t *testing.T) { laggingIsCompared(t) }
