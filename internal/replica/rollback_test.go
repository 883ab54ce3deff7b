package replica

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// reboot begins another process of a node, with what its disk had once.
func (w *world) reboot(i int, life timed.BootID, disk node) {
	w.miss(i)
	w.nodes[i] = w.node(i, life, disk.place.Named())
	n := w.nodes[i]
	n.app, n.place, n.ordered, n.named = disk.app, disk.place, disk.place.Ordered, true
}

// startRollback has b on the disks of nodes 1 and 2, and returns the former disk of node 1 and the
// disk of node 3, on which is a.
func startRollback(t testing.TB) (w *world, older, third node) {
	w = newWorld(3, Config{Stored: true, Quorum: majority(1, 2, 3)})
	w.install(0, 1, 2)
	w.op(0, "a")
	for i := range 3 {
		w.store(i)
	}
	older, third = *w.nodes[0], *w.nodes[2]
	w.op(1, "b")
	w.store(0)
	w.store(1)
	position, lasts := w.nodes[1].lasting()
	require.True(t, lasts)
	require.Equal(t, w.nodes[1].place.Position, position)
	return w, older, third
}

// requireWaits requires that nodes 1 and 3 wait for node 2.
func requireWaits(t testing.TB, w *world) {
	for _, i := range []int{0, 2} {
		require.Equal(t, Recovering, w.nodes[i].r.Situation())
		require.Equal(t, timed.SetOf(2), w.nodes[i].r.Absent())
	}
}

// A node that has an older disk does not count as one that remembers, if another member has
// heard how far its disk was.
func olderDisk(t testing.TB) {
	w, older, third := startRollback(t)
	w.reboot(0, 1, older)
	w.install(0, 2)
	requireWaits(t, w)
	for _, i := range []int{0, 2} {
		e, ok := w.nodes[i].has(EventRolledBack)
		require.True(t, ok)
		require.Equal(t, timed.SetOf(1), e.Members)
		e, ok = w.nodes[i].has(EventWaiting)
		require.True(t, ok)
		require.Equal(t, timed.SetOf(3), e.Members)
	}
	w.reboot(2, 1, third)
	w.install(0, 2)
	requireWaits(t, w) // node 1 knows it by itself now
	w.install(0, 1, 2)
	w.run(10 * time.Millisecond)
	all(t, w, "ab", 0, 1, 2)
	w.install(0, 2)
	all(t, w, "ab", 0, 2)
	require.Equal(t, Working, w.nodes[0].r.Situation(), "it remembers again")
}

func TestANodeWithAnOlderDiskDoesNotRemember(t *testing.T) { olderDisk(t) }

// Members of earlier builds do not say how far disks were, and judge none.
func silentAboutDisks(t testing.TB) {
	w, older, _ := startRollback(t)
	w.reboot(0, 1, older)
	w.hold = func(from int, p []byte) bool { return from == 0 && kind(p[0]) == kindDisks }
	w.install(0, 2)
	for _, i := range []int{0, 2} {
		_, ok := w.nodes[i].has(EventRolledBack)
		require.False(t, ok)
		require.Equal(t, Working, w.nodes[i].r.Situation())
	}
}

func TestMembersOfEarlierBuildsJudgeNoDisks(t *testing.T) { silentAboutDisks(t) }

// A disk that has all that was confirmed is as good as before, and one that was never confirmed
// too.
func TestADiskThatHasAllRemembers(t *testing.T) {
	w, _, third := startRollback(t)
	w.reboot(0, 1, *w.nodes[0])
	w.reboot(2, 1, third)
	w.install(0, 2)
	for _, i := range []int{0, 2} {
		_, ok := w.nodes[i].has(EventRolledBack)
		require.False(t, ok)
		require.Equal(t, Working, w.nodes[i].r.Situation())
	}
	all(t, w, "ab", 0, 2)
}

func TestWhatADiskLacks(t *testing.T) { lacksWhatWasConfirmed(t) }

func lacksWhatWasConfirmed(t testing.TB) {
	at := func(sequence, position uint64) (p Point) {
		p.View.Sequence, p.Position = sequence, position
		return p
	}
	for _, c := range []struct {
		disk, confirmed Point
		lacks           bool
	}{
		{at(2, 5), at(2, 5), false},
		{at(2, 5), at(2, 4), false},
		{at(2, 5), at(2, 6), true},
		{at(2, 0), at(2, 6), false}, // what was flushed has no position
		{at(1, 9), at(2, 0), true},
		{at(1, 0), at(2, 0), true},
		{at(3, 0), at(2, 9), false},
		{at(0, 0), at(0, 0), false},
	} {
		require.Equal(t, c.lacks, c.disk.lacks(c.confirmed), "%v", c)
	}
}

// What a member says about disks fits into a payload, and names members only.
func TestWhatIsSaidAboutDisksFits(t *testing.T) {
	w := newWorld(2, Config{Stored: true, Quorum: majority(1, 2), MaxPayload: LeastPayload, ChunkBytes: MinChunkBytes})
	var said []message
	w.hold = func(from int, p []byte) bool {
		if kind(p[0]) == kindDisks && from == 0 {
			require.LessOrEqual(t, len(p), LeastPayload)
			said = append(said, message{})
			require.NoError(t, decode(p, &said[len(said)-1]))
		}
		return false
	}
	m := w.nodes[0].r
	for id := timed.NodeID(2); id <= 100; id++ {
		m.noteConfirmed(id, Point{someView, uint64(id)})
		m.noteConfirmed(id, Point{someView, 1})
	}
	m.noteConfirmed(1, Point{someView, 1})
	w.install(0, 1)
	require.Equal(t, []confirmed{{2, Point{someView, 2}}}, said[0].confirmed)
	all := &membership.View{ID: someView, Set: timed.SetOf(1)}
	for id := timed.NodeID(1); id <= 100; id++ {
		all.Set.Add(id)
	}
	m.view = all
	m.out = nil
	m.broadcastDisks()
	var msg message
	require.LessOrEqual(t, len(m.out[0].Payload), LeastPayload)
	require.Greater(t, len(m.out[0].Payload), LeastPayload-confirmedBytes)
	require.NoError(t, decode(m.out[0].Payload, &msg))
	require.EqualValues(t, 2, msg.confirmed[0].node)
}
