package replica

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// A quorum of nodes that have lost their memory begins no new line of states while others
// may have the old one.
func forgetfulQuorum(t testing.TB) {
	w := newWorld(5, Config{Quorum: majority(1, 2, 3, 4, 5)})
	w.install(0, 1, 2, 3, 4)
	w.op(0, "a")
	for i := range 3 {
		w.restart(i, 1)
	}
	w.install(0, 1, 2, 3)
	for i := range 4 {
		require.Equal(t, Recovering, w.nodes[i].r.Situation())
		require.False(t, w.nodes[i].r.Accepting())
		require.Equal(t, timed.SetOf(5), w.nodes[i].r.Absent())
		e, ok := w.nodes[i].has(EventWaiting)
		require.True(t, ok)
		require.Equal(t, timed.SetOf(4), e.Members)
		require.Equal(t, timed.SetOf(5), e.Absent)
	}
	w.install(0, 1, 2, 3, 4)
	w.run(10 * time.Millisecond)
	all(t, w, "a", 0, 1, 2, 3, 4)
	e, ok := w.nodes[0].has(EventBegun)
	require.True(t, ok, "nobody can know more")
	require.Equal(t, timed.SetOf(4, 5), e.Members)
	require.True(t, e.Lossy)
	w.install(0, 1, 2)
	w.op(0, "b")
	all(t, w, "ab", 0, 1, 2)
}

func TestAQuorumWithoutMemoryWaitsForTheOthers(t *testing.T) { forgetfulQuorum(t) }

// awaitingNewcomer returns a world in which the third node has restarted, and waits for the
// state, of which the others have not made a snapshot yet.
func awaitingNewcomer(t testing.TB) *world {
	w := newWorld(3, Config{Quorum: majority(1, 2, 3)})
	w.install(0, 1, 2)
	w.op(0, "a")
	w.restart(2, 1)
	w.nodes[0].lazy, w.nodes[1].lazy = true, true
	w.install(0, 1, 2)
	require.Equal(t, Transferring, w.nodes[2].r.Situation())
	return w
}

// A node that has restarted counts when it has got the state, and no earlier.
func newcomerCounts(t testing.TB) {
	w := awaitingNewcomer(t)
	w.install(1, 2)
	require.Equal(t, Recovering, w.nodes[2].r.Situation())
	w.install(0, 1, 2)
	w.answer(0)
	w.answer(1)
	w.run(10 * time.Millisecond)
	all(t, w, "a", 0, 1, 2)
	w.install(1, 2)
	all(t, w, "a", 1, 2)
}

func TestANodeThatHasTheStateAgainCounts(t *testing.T) { newcomerCounts(t) }

// A node remembers over its incarnations.
func renewedCounts(t testing.TB) {
	w := newWorld(3, Config{Quorum: majority(1, 2, 3)})
	w.install(0, 1, 2)
	for i := range 3 {
		w.renew(i, 1)
	}
	w.install(0, 1)
	require.Equal(t, Working, w.nodes[0].r.Situation())
}

func TestANodeRemembersInItsNextIncarnation(t *testing.T) { renewedCounts(t) }

// An operator may say that the others are gone for good.
func TestAnOperatorEndsTheWaiting(t *testing.T) {
	w := newWorld(3, Config{Quorum: majority(1, 2, 3)})
	v := w.install(0, 1)
	require.Equal(t, Recovering, w.nodes[0].r.Situation())
	bootstrap := func(payload []byte) {
		w.perform(1, []Effect{{Kind: Broadcast, Options: marker, Payload: payload}})
	}
	old := v.ID
	old.Sequence--
	bootstrap(AppendBootstrap(nil, old, time.Unix(1e9, 0)))
	require.Equal(t, Recovering, w.nodes[0].r.Situation(), "it is about another view")
	bootstrap(AppendBootstrap(nil, v.ID, time.Unix(1e9, 0)))
	w.op(0, "a")
	all(t, w, "a", 0, 1)
	e, ok := w.nodes[0].has(EventBegun)
	require.True(t, ok)
	require.Equal(t, timed.SetOf(3), e.Absent)
	require.True(t, e.Lossy, "node 3 may know more")
}

// beginsLossy has a group begin, end, and begin again in other processes. That a process is not
// the first of its node, only a state directory can say.
func beginsLossy(t testing.TB) {
	w := newWorld(3, Config{Quorum: majority(1, 2, 3)})
	begun := func(i int) Event {
		e, ok := w.nodes[i].has(EventBegun)
		require.True(t, ok)
		require.True(t, e.Members.Empty())
		return e
	}
	w.install(0, 1, 2)
	w.op(0, "a")
	require.False(t, begun(0).Lossy, "the group is new")
	w.cfg.Again = true
	w.restart(0, 1)
	w.cfg.Again = false
	w.restart(1, 1)
	w.restart(2, 1)
	w.install(0, 1, 2)
	all(t, w, "", 0, 1, 2)
	require.True(t, begun(0).Lossy)
	require.False(t, begun(1).Lossy, "it has no state directory")
}

func TestAGroupThatBeginsAnewSaysSo(t *testing.T) { beginsLossy(t) }

// A node that waited for the state of a settled view knows that there was one, when all that
// had it are gone.
func awaitedInVain(t testing.TB) {
	w := awaitingNewcomer(t)
	w.restart(0, 1)
	w.restart(1, 1)
	w.install(0, 1, 2)
	e, ok := w.nodes[2].has(EventBegun)
	require.True(t, ok)
	require.True(t, e.Members.Empty())
	require.True(t, e.Lossy)
}

func TestAStateThatWasAwaitedInVainIsGone(t *testing.T) { awaitedInVain(t) }
