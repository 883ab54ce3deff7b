package exhaust

import (
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// met explores some states breadth-first without checks of its own, and calls
// same with every two different ones of equal digests.
func met(opt Options, states int, same func(a, b *state)) {
	first := map[digest]*state{}
	var queue []*state
	var buf []byte
	for _, root := range roots(opt) {
		s, _ := newWorld(opt, root).start()
		queue = append(queue, s)
	}
	for i := 0; i < len(queue) && i < states; i++ {
		for _, next := range queue[i].world.expand(queue[i]).choices() {
			var d digest
			d, buf = next.digest(buf)
			if was := first[d]; was != nil {
				same(was, next)
				continue
			}
			first[d] = next
			queue = append(queue, next)
		}
	}
}

// successors returns the digests of all states that can follow.
func successors(s *state) (out []digest) {
	again := *s
	again.depth = 0 // the digest leaves the depth out
	x := s.world.expand(&again)
	if x.bad != nil {
		return []digest{digestOf([]byte(x.bad.check))}
	}
	for _, next := range x.choices() {
		d, _ := next.digest(nil)
		out = append(out, d)
	}
	return out
}

// confused counts the states of equal digests that are followed by different ones.
func confused(opt Options, states int) (pairs, shifted, different int) {
	met(opt, states, func(a, b *state) {
		pairs++
		if a.tick != b.tick {
			shifted++
		}
		if !reflect.DeepEqual(successors(a), successors(b)) {
			different++
		}
	})
	return pairs, shifted, different
}

// Searches in which much merges: long ones with few faults, and short ones with
// all kinds of them.
var (
	long  = Options{Depth: MaxDepth, Faults: 2, Starts: []Start{Led, Apart}}.withDefaults()
	rough = Options{Depth: MaxDepth, Faults: 2, Crashes: 1, VeryLate: true, Starts: []Start{Led}}.withDefaults()
	trio  = Options{Nodes: 3, Depth: MaxDepth, Faults: 1, Starts: []Start{Split, Challenged}}.withDefaults()
)

// Equal digests mean equal futures: whatever can follow one of the states can
// follow the other, also where they are shifted in time.
func TestEqualDigestsHaveEqualSuccessors(t *testing.T) {
	shifts := 0
	for _, opt := range []Options{long, rough, trio} {
		pairs, shifted, different := confused(opt, 20_000)
		require.Greater(t, pairs, 500)
		require.Zero(t, different, "of %d pairs", pairs)
		t.Logf("%d pairs, %d of them shifted in time", pairs, shifted)
		shifts += shifted
	}
	require.Greater(t, shifts, 100)
}

// The test above sees it when a field is wrongly left out of the state.
func TestForgottenFieldsAreNoticed(t *testing.T) {
	for _, name := range []string{
		"leader.Election.lockedUntil", "leader.Election.open", "leader.Election.expiration",
		"datagram.peer.aliveUntil", "datagram.peer.current.best", "clocksync.Sync.snap.half",
	} {
		noState[name] = "a mistake"
		_, _, different := confused(long, 10_000)
		if different == 0 {
			_, _, different = confused(rough, 30_000)
		}
		delete(noState, name)
		require.Positive(t, different, name)
	}
}

// Every name in the tables is that of a field: none outlives its field.
func TestTablesNameFields(t *testing.T) {
	w := newWorld(long, roots(long)[0])
	names := map[string]bool{}
	for _, l := range []*layout{&w.machines[1].layout, &w.press.layout} {
		for _, f := range l.fields {
			names[f.name] = true
		}
		for name := range l.left {
			names[name] = true
		}
	}
	for name := range noState {
		require.True(t, names[name], name)
	}
	for name := range betweenTurns {
		require.True(t, names[name], name)
	}
	for name := range axes {
		require.True(t, names[name], name)
	}
	for name := range onlyFuture {
		require.True(t, names[name], name)
	}
	for name := range tables {
		require.True(t, names[name], name)
	}
}

// Every scalar of a node matters to its digest, except for those listed.
func TestEveryFieldMatters(t *testing.T) {
	w := newWorld(long, Root{Led, []int64{0, 0}})
	s, bad := w.start()
	require.Nil(t, bad)
	for i := range s.nodes {
		n, m := &s.nodes[i], w.machines[i+1]
		for k := range m.fields {
			f := &m.fields[k]
			m.load(n.img, w.at(n.turn))
			if f.absent() {
				continue
			}
			before := m.take(w.at(n.turn))
			switch f.kind {
			case word8:
				*(*uint8)(f.at) ^= 1
			case word16:
				*(*uint16)(f.at) ^= 1
			case word32:
				*(*uint32)(f.at) ^= 1
			case word64, groupTime:
				*(*uint64)(f.at) ^= 1 << 40
			case instant:
				*(*timed.Instant)(f.at) += 1 << 40
			case viewPointer:
				continue // its content is tested by the merging of states
			case fixedPointer:
				*(*unsafe.Pointer)(f.at) = f.at
				require.Panics(t, func() { m.take(w.at(n.turn)) }, f.name)
				*(*unsafe.Pointer)(f.at) = f.target
				continue
			case listLength:
				f.list.resize(f.list.length() ^ 1)
			}
			if matters(f.name) && m.take(w.at(n.turn)).hash == before.hash && m.take(w.at(n.turn)).shown == before.shown {
				t.Errorf("node %d: %s does not matter", i+1, f.name)
			}
		}
	}
}

// matters reports whether a field belongs to no clock line, which can say the
// same in other ways and is brought into one form, and is no leftover.
func matters(name string) bool {
	switch name {
	case "clocksync.Sync.snap.base", "clocksync.Sync.snap.slewEnd", "clocksync.Sync.snap.slew", "clocksync.Sync.snap.seen":
		return false
	}
	return !strings.HasPrefix(name, "clocksync.Sync.line.") && !strings.HasPrefix(name, "leader.Election.peers.refusal.")
}

// A state that is loaded goes on as the one that it was taken from.
func TestImagesAreWhole(t *testing.T) {
	for _, start := range []Start{Cold, Led, Apart} {
		fast, slow := extremes(long.Timing)
		w := newWorld(long, Root{start, []int64{fast, slow}})
		s, bad := w.start()
		require.Nil(t, bad)
		pieces := s
		var through []digest
		for range 60 {
			c := w.calmFrom(pieces)
			c.step()
			pieces = c.state()
			d, _ := pieces.digest(nil)
			through = append(through, d)
		}
		whole := w.calmFrom(s)
		for i := range 60 {
			whole.step()
			d, _ := whole.state().digest(nil)
			require.Equal(t, through[i], d, "%s start, step %d", start, i)
		}
	}
}
