package sim

import (
	"bytes"
	"testing"
	"time"

	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
	"github.com/stretchr/testify/require"
)

func TestEpochsOfAWorld(t *testing.T) {
	_, err := Run(1, Options{Epochs: true})
	require.ErrorContains(t, err, "Epochs: needs a Quorum")
	c, err := CaseOf(3, Options{Quorum: "majority:1,2,3", Epochs: true, Duration: 5e9})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, c.Write(&b))
	again, err := ReadCase(&b)
	require.NoError(t, err)
	require.True(t, again.Options.Epochs)
	x, err := c.Run()
	require.NoError(t, err)
	y, err := again.Run()
	require.NoError(t, err)
	require.Equal(t, x.Hash, y.Hash)
}

// switchedOff returns a world of four whose machines are off, with its quorum system.
func switchedOff(t *testing.T) (*World, quorum.System) {
	t.Helper()
	system, err := quorum.Parse("majority:1,2,3,4")
	require.NoError(t, err)
	w, err := New(1, Options{Nodes: 4, Quorum: system.String(), Epochs: true, Calm: true})
	require.NoError(t, err)
	for _, n := range w.nodes {
		w.crash(n)
	}
	return w, system
}

// enter has the disks of nodes hold an epoch.
func (w *World) enter(number uint64, system quorum.System, ids ...timed.NodeID) {
	for _, id := range ids {
		w.persist(w.node(id), &epoch.State{Epoch: number, System: system.String()})
	}
	w.check.Change.Systems[number] = system.String()
}

// bannedNodes returns the nodes that must stay off.
func (w *World) bannedNodes() (s timed.Set) {
	for _, n := range w.nodes {
		if w.admin.banned(n) {
			s.Add(n.proc.ID)
		}
	}
	return s
}

// A node that lost its state directory in one epoch, and came back in the next, lost nothing in
// a later epoch in which others are declared dead. Else no node would be left to start.
func TestLossEndsWithTheNextEpoch(t *testing.T) {
	w, system := switchedOff(t)
	w.admin.loseMembers(1, system, timed.SetOf(1, 2))
	require.Equal(t, timed.SetOf(1, 2), w.bannedNodes())
	w.enter(2, system, 3)
	require.Equal(t, timed.SetOf(1, 2), w.bannedNodes(), "the other one is still in epoch 1")
	w.enter(2, system, 4)
	require.Empty(t, w.bannedNodes())
	w.enter(2, system, 1)

	w.admin.loseMembers(2, system, timed.SetOf(3, 4))
	require.Equal(t, timed.SetOf(3, 4), w.bannedNodes(), "node 2 is off since epoch 1, which is over")
	w.enter(3, system, 1)
	require.Empty(t, w.bannedNodes())
}

// A node that was declared dead and kept its disk waits for those that were not, whoever lost or
// kept one in an epoch before.
func TestTheDeclaredDeadWaitForTheOthers(t *testing.T) {
	w, system := switchedOff(t)
	w.admin.loseMembers(1, system, timed.SetOf(1, 2))
	w.enter(2, system, 1, 2, 3, 4)
	for _, id := range []timed.NodeID{1, 3} {
		w.node(id).state.declare(2, false)
	}
	require.Equal(t, timed.SetOf(1, 3), w.bannedNodes())
	w.enter(3, system, 4)
	require.Equal(t, timed.SetOf(1, 3), w.bannedNodes(), "node 2 is still in epoch 2")
	w.enter(3, system, 2)
	require.Empty(t, w.bannedNodes())
}

// A machine that is off when its disk is lost has nothing that it could keep in a later epoch.
func TestALostDiskStaysLost(t *testing.T) {
	w, system := switchedOff(t)
	w.admin.loseMembers(1, system, timed.SetOf(1))
	w.enter(2, system, 2, 3, 4)
	for _, id := range []timed.NodeID{1, 2} {
		w.node(id).state.declare(2, false)
	}
	w.enter(3, system, 3, 4)
	require.Equal(t, timed.SetOf(1), w.bannedNodes(), "node 2 is still in epoch 2")
	w.enter(3, system, 2)
	require.Empty(t, w.bannedNodes())
}

// A process that is held back runs: nobody may declare it dead, or it would begin, and vote, in
// the epoch whose state it lost.
func TestOneHeldBackIsNotDead(t *testing.T) {
	w, err := New(1, Options{Nodes: 3, Quorum: "majority:1,2,3", Epochs: true, Calm: true})
	require.NoError(t, err)
	require.NoError(t, w.Run(time.Second))
	w.crash(w.node(2))
	w.crash(w.node(3))
	w.node(2).held = true
	for !w.check.Change.Forced { // the first systems may have no quorum without the dead
		w.admin.force(w.node(1))
	}
	require.Equal(t, timed.SetOf(3), w.bannedNodes())
	require.False(t, w.node(2).state.lost)
}
