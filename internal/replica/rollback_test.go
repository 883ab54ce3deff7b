package replica

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
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

// storeAll has the disks of nodes catch up.
func (w *world) storeAll(is ...int) {
	for _, i := range is {
		w.store(i)
	}
}

// startRollback has b on the disks of nodes 1 and 2, and returns the former disk of node 1 and the
// disk of node 3, on which is a.
func startRollback(t testing.TB) (w *world, older, third node) {
	w = newWorld(3, Config{Stored: true, Quorum: majority(1, 2, 3)})
	w.install(0, 1, 2)
	w.op(0, "a")
	w.storeAll(0, 1, 2)
	older, third = *w.nodes[0], *w.nodes[2]
	w.op(1, "b")
	w.storeAll(0, 1)
	requireLasts(t, w)
	return w, older, third
}

// requireLasts requires that everything of the view is acknowledged.
func requireLasts(t testing.TB, w *world) {
	position, lasts := w.nodes[1].lasting()
	require.True(t, lasts)
	require.Equal(t, w.nodes[1].place.Position, position)
}

// requireWaits requires that nodes 1 and 3 wait for node 2.
func requireWaits(t testing.TB, w *world) {
	for _, i := range []int{0, 2} {
		require.Equal(t, Recovering, w.nodes[i].r.Situation())
		require.Equal(t, timed.SetOf(2), w.nodes[i].r.Absent())
	}
}

// requireAccused requires that node 3 names node 1, or nobody.
func requireAccused(t testing.TB, w *world, accused bool) {
	e, ok := w.nodes[2].has(EventRolledBack)
	require.Equal(t, accused, ok)
	require.Equal(t, accused, e.Members == timed.SetOf(1))
}

// A node that has an older disk does not count as one that remembers, if another member has
// heard how far its disk was, or was told so.
func olderDisk(t testing.TB) {
	w, older, third := startRollback(t)
	w.reboot(0, 1, older)
	w.install(0, 2)
	requireWaits(t, w)
	requireAccused(t, w, true)
	e, ok := w.nodes[0].has(EventWaiting)
	require.True(t, ok)
	require.Equal(t, timed.SetOf(3), e.Members)
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

// What members say of the disks of others is kept.
func disksAreToldOn(t testing.TB) {
	w, older, third := startRollback(t)
	now := *w.nodes[0]
	w.reboot(0, 1, now)
	w.reboot(2, 1, third)
	w.hold = func(_ int, p []byte) bool { return kind(p[0]) == kindReport }
	w.install(0, 1, 2) // node 2 tells node 3 how far the disk of node 1 is
	w.hold = nil
	w.reboot(0, 2, older)
	w.install(0, 2)
	requireAccused(t, w, true)
	requireWaits(t, w)
}

func TestMembersTellOfTheDisksOfOthers(t *testing.T) { disksAreToldOn(t) }

// A process knows in its next incarnation how far the disks of others were. Another process does not.
func renewedAccuses(t testing.TB) {
	for _, renewed := range []bool{false, true} {
		w, older, third := startRollback(t)
		if renewed {
			w.renew(2, 1)
		} else {
			w.reboot(2, 1, third)
		}
		w.reboot(0, 1, older)
		w.install(0, 2)
		requireAccused(t, w, renewed)
		if renewed {
			requireWaits(t, w)
		}
	}
}

func TestTheNextIncarnationKnowsTheDisksOfOthers(t *testing.T) { renewedAccuses(t) }

// A node that has got the state of a quorum counts, though its disk has still to be written.
func restoredInMemory(t testing.TB) {
	for _, empty := range []bool{true, false} {
		w, older, _ := startRollback(t)
		if empty {
			w.restart(0, 1)
		} else {
			w.reboot(0, 1, older)
		}
		w.install(0, 1, 2)
		w.run(10 * time.Millisecond)
		all(t, w, "ab", 0, 1, 2)
		for range 2 {
			w.install(0, 1)
			require.Equal(t, Working, w.nodes[0].r.Situation())
		}
		w.renew(0, 3)
		w.install(0, 1)
		require.Equal(t, Working, w.nodes[0].r.Situation(), "the next incarnation has it too")
	}
}

func TestANodeWithTheStateInMemoryRemembers(t *testing.T) { restoredInMemory(t) }

// What a node has in memory only confirms nothing of its disk.
func TestMemoryConfirmsNoDisk(t *testing.T) {
	w, _, _ := startRollback(t)
	disk := *w.nodes[0]
	w.install(0, 1, 2)
	w.install(0, 1, 2)
	w.reboot(0, 1, disk)
	w.install(0, 2)
	requireAccused(t, w, false)
	require.Equal(t, Working, w.nodes[0].r.Situation())
}

// A node that says that it knows nothing has not been rolled back.
func emptyIsNotOlder(t testing.TB) {
	w, _, _ := startRollback(t)
	w.restart(0, 1)
	w.install(0, 1, 2)
	requireAccused(t, w, false)
}

func TestAnEmptyDiskIsNoOlderOne(t *testing.T) { emptyIsNotOlder(t) }

// An operator's word that nobody knows more counts in later views too.
func TestABootstrapWithAnOlderDiskLasts(t *testing.T) {
	w, older, _ := startRollback(t)
	w.reboot(0, 1, older)
	w.install(0, 2)
	requireWaits(t, w)
	w.bootstrap(2, 0)
	w.run(10 * time.Millisecond)
	for range 2 {
		require.Equal(t, Working, w.nodes[0].r.Situation())
		w.install(0, 2)
	}
}

// The state of a node with an older disk counts more than that of a node that was away, whose
// state is older still. An operator lets the view begin, or nobody is absent any more.
func olderDiskIsNewest(t testing.TB) {
	for _, operator := range []bool{false, true} {
		w := newWorld(3, Config{Stored: true, Quorum: majority(1, 2, 3)})
		w.install(0, 1, 2)
		w.op(0, "a")
		w.storeAll(0, 1, 2)
		w.install(0, 1)
		for _, op := range []string{"b", "c", "d"} {
			w.op(0, op)
			w.storeAll(0, 1)
		}
		older := *w.nodes[0]
		w.op(0, "e")
		w.storeAll(0, 1)
		requireLasts(t, w)
		w.reboot(0, 1, older)
		w.install(0, 1)
		require.Equal(t, Recovering, w.nodes[0].r.Situation(), "node 2 has heard of e")
		if operator {
			w.install(0, 2)
			require.Equal(t, Recovering, w.nodes[0].r.Situation(), "and told node 1")
			w.bootstrap(0, 0)
		} else {
			w.restart(1, 1) // its disk is lost
			w.install(0, 1, 2)
		}
		w.run(10 * time.Millisecond)
		require.Equal(t, Working, w.nodes[0].r.Situation())
		require.Equal(t, "abcd", w.nodes[0].app)
	}
}

func TestTheStateOfAnOlderDiskMayBeTheNewest(t *testing.T) { olderDiskIsNewest(t) }

// A copy from the beginning of a view lacks all that was confirmed in it.
func beginningOfTheView(t testing.TB) {
	w := newWorld(3, Config{Stored: true, Quorum: majority(1, 2, 3)})
	w.install(0, 1, 2)
	w.storeAll(0, 1, 2)
	older := *w.nodes[0]
	require.Zero(t, older.place.Position)
	w.op(0, "a")
	w.storeAll(0, 1)
	requireLasts(t, w)
	w.reboot(0, 1, older)
	w.install(0, 2)
	requireAccused(t, w, true)
	requireWaits(t, w)
}

func TestACopyFromTheBeginningOfAViewIsOlder(t *testing.T) { beginningOfTheView(t) }

// What was flushed at the end of a view has no position on the disk, and all of the view is there.
func flushedIsAll(t testing.TB) {
	w, _, _ := startRollback(t)
	n := w.nodes[0]
	w.perform(0, n.r.HandleStored(w.now, Point{n.view.ID, 50}, n.place.Rank, nil))
	disk := *n
	disk.place.Advance(&broadcast.Delivery{ID: broadcast.ID{Sender: 1, Boot: 7, Sequence: 99}, Position: 50, Flushed: true})
	require.Zero(t, disk.place.Position)
	w.reboot(0, 1, disk)
	w.install(0, 2)
	requireAccused(t, w, false)
}

func TestADiskWithAllOfAViewIsNotOlder(t *testing.T) { flushedIsAll(t) }

// Members of earlier builds do not say how far disks were, and nobody is judged.
func silentAboutDisks(t testing.TB) {
	w, older, _ := startRollback(t)
	w.reboot(0, 1, older)
	w.hold = func(from int, p []byte) bool { return from == 0 && kind(p[0]) == kindDisks }
	w.install(0, 2)
	requireAccused(t, w, false)
	for _, i := range []int{0, 2} {
		require.Equal(t, Working, w.nodes[i].r.Situation())
	}
}

func TestMembersOfEarlierBuildsJudgeNoDisks(t *testing.T) { silentAboutDisks(t) }

// A disk that has all that was confirmed is as good as before, and so is one of which nobody
// has heard more.
func TestADiskThatHasAllRemembers(t *testing.T) {
	w, _, third := startRollback(t)
	w.reboot(0, 1, *w.nodes[0])
	w.reboot(2, 1, third)
	w.install(0, 2)
	requireAccused(t, w, false)
	all(t, w, "ab", 0, 2)
}

// What comes late, of a view that has ended, confirms nothing in the next one.
func TestLateConfirmationsAreNotHeard(t *testing.T) {
	w, _, _ := startRollback(t)
	late := Point{w.nodes[0].view.ID, 1 << 40}
	w.install(0, 1, 2)
	w.perform(0, []Effect{{Kind: Broadcast, Options: unordered, Payload: encode(&message{kind: kindStored, at: late})}})
	for _, c := range w.nodes[2].r.heard {
		require.Less(t, c.at.Position, late.Position)
	}
}

// What a member says about disks fits into a payload, and names members only.
func TestWhatIsSaidAboutDisksFits(t *testing.T) {
	w := newWorld(2, Config{Stored: true, Quorum: majority(1, 2), MaxPayload: LeastPayload, ChunkBytes: MinChunkBytes})
	var said []message
	w.hold = func(from int, p []byte) bool {
		if kind(p[0]) == kindDisks && from == 0 {
			said = append(said, message{})
			require.NoError(t, decode(p, &said[len(said)-1]))
		}
		return false
	}
	m := w.nodes[0].r
	for id := timed.NodeID(2); id <= 100; id++ {
		m.noteConfirmed(confirmed{id, Point{someView, uint64(id)}, 0})
		m.noteConfirmed(confirmed{id, Point{someView, 1}, 0})
	}
	w.install(0, 1)
	require.Equal(t, []confirmed{{2, Point{someView, 2}, 0}}, said[0].confirmed)
	m.view = &membership.View{ID: someView}
	for id := timed.NodeID(1); id <= 100; id++ {
		m.view.Set.Add(id)
	}
	m.out = nil
	m.broadcastDisks()
	var msg message
	require.LessOrEqual(t, len(m.out[0].Payload), LeastPayload)
	require.Greater(t, len(m.out[0].Payload), LeastPayload-confirmedBytes)
	require.NoError(t, decode(m.out[0].Payload, &msg))
	require.EqualValues(t, 2, msg.confirmed[0].node)
}

// A view that begins gives up what its members without a disk had confirmed, as long as its own
// rank is a promise: their disks have not gone back.
func forgiven(t testing.TB) {
	v := &membership.View{Set: timed.SetOf(1, 2, 3)}
	m := &Replica{promised: 7 * generation, viewState: viewState{view: v}}
	for rank, id := range []timed.NodeID{1, 2, 3} { // node 1 has lost its disk
		v.Members = append(v.Members, membership.Member{Incarnation: timed.Incarnation{Node: id, Boot: 1}})
		m.reports = append(m.reports, &report{lineage: Lineage{Rank: uint64(rank) * generation}})
	}
	at := Point{View: membership.ViewID{Sequence: 9}}
	lost, kept, absent, later := confirmed{1, at, 6}, confirmed{2, at, 6}, confirmed{4, at, 6}, confirmed{1, at, 7}
	m.heard = []confirmed{lost, kept, absent}
	m.forgive()
	require.Equal(t, []confirmed{kept, absent}, m.heard)
	m.heard = []confirmed{later}
	m.forgive()
	require.Equal(t, []confirmed{later}, m.heard)
}

func TestAViewThatBeginsForgivesLostDisks(t *testing.T) { forgiven(t) }

// What a member tells of the disk of another is kept with its generation, to be told on.
func TestWhatIsToldOfADiskKeepsItsGeneration(t *testing.T) {
	v := &membership.View{Set: timed.SetOf(1, 2)}
	m := &Replica{viewState: viewState{view: v, phase: reporting, disks: make([]disks, 2)}}
	at := Point{View: membership.ViewID{Sequence: 9}, Position: 4}
	m.takeGeneration(2, &message{confirmed: []confirmed{{node: 1, in: 6}}})
	m.takeDisks(2, &message{confirmed: []confirmed{{node: 1, at: at}, {node: 2, at: at}}})
	require.Equal(t, []confirmed{{1, at, 6}, {2, at, 0}}, m.heard)
}

// What disks confirm before the last report of a view comes is of the generation that the view
// begins.
func TestEarlyConfirmationsAreOfTheGenerationOfTheView(t *testing.T) {
	w := newWorld(3, Config{Stored: true, Quorum: majority(1, 2, 3)})
	w.began = func(int) time.Time { return wall(7) }
	for i := range w.nodes {
		w.restart(i, 1)
	}
	w.tardy = []lane{{2, broadcast.ClassOrdered}}
	w.install(0, 1, 2)
	for range 2 { // a generation takes two steps
		w.storeAll(0, 1)
	}
	require.Empty(t, w.nodes[2].r.heard)
	require.NotZero(t, w.nodes[2].r.stored[0])
	w.catchUp(lane{2, broadcast.ClassOrdered})
	require.Len(t, w.nodes[2].r.heard, 2)
	for _, c := range w.nodes[2].r.heard {
		require.Equal(t, generationOf(wall(7)), c.in, "node %d", c.node)
	}
}
