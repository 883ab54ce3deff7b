package replica

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// unstored has members with disks that take an operation late, and returns the members that
// hold it up, as node 1 says, and since when.
func unstored(t *testing.T, q quorum.System, disks ...int) (timed.Set, timed.Instant, *world) {
	w := newWorld(3, Config{Stored: true, Quorum: q})
	w.install(0, 1, 2)
	for i := range w.nodes {
		w.store(i)
	}
	nobody(t, w.nodes[0])
	w.run(time.Second)
	w.op(1, "a")
	for _, i := range disks {
		w.store(i)
	}
	members, since := w.nodes[0].r.Unstored()
	return members, since, w
}

// nobody requires that a node says that no disk holds anything up.
func nobody(t *testing.T, n *node) {
	t.Helper()
	members, since := n.r.Unstored()
	require.Equal(t, timed.Set{}, members)
	require.Zero(t, since)
}

// An operation waits for the disks that it needs, from its delivery on, and for no others.
func TestDisksThatHoldAnOperationUpAreNamed(t *testing.T) {
	majority, err := quorum.Majority(timed.SetOf(1, 2, 3))
	require.NoError(t, err)

	members, since, w := unstored(t, nil, 0, 1)
	require.Equal(t, timed.SetOf(3), members, "without a quorum all disks are needed")
	require.Equal(t, w.now, since)
	w.run(time.Second)
	w.op(1, "b")
	w.store(0)
	members, later := w.nodes[0].r.Unstored()
	require.Equal(t, timed.SetOf(3), members)
	require.Equal(t, since, later, "operations behind it do not make the wait shorter")
	w.store(1)
	w.store(2)
	nobody(t, w.nodes[0])

	_, _, w = unstored(t, majority, 0, 1)
	nobody(t, w.nodes[0]) // a quorum has it
	members, _, w = unstored(t, majority, 0)
	require.Equal(t, timed.SetOf(2, 3), members)
	w.install(0, 1)
	w.store(0)
	w.store(1)
	nobody(t, w.nodes[0]) // the next view has its own positions
}

// Without disks, and before a view has settled, nothing waits for disks.
func TestNoDiskHoldsUpWhatWaitsForSomethingElse(t *testing.T) {
	w := newWorld(2, Config{})
	w.install(0, 1)
	w.op(0, "a")
	nobody(t, w.nodes[0])

	w = newWorld(2, Config{Stored: true})
	w.hold = func(from int, p []byte) bool { return kind(p[0]) == kindReport && from == 1 }
	w.install(0, 1)
	w.run(time.Second)
	nobody(t, w.nodes[0])
	w.hold = nil
	begun := w.now
	w.install(0, 1)
	members, since := w.nodes[0].r.Unstored()
	require.Equal(t, timed.SetOf(1, 2), members, "the state itself waits for them")
	require.GreaterOrEqual(t, since, begun)
}
