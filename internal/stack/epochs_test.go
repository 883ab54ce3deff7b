package stack

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

const firstSystem, nextSystem = "majority:1,2,3", "majority:2,3,4"

// notedState returns the state of a voter that has noted a proposal.
func notedState() *epoch.State {
	return &epoch.State{Epoch: 3, System: firstSystem, Phase: epoch.Noted, Next: nextSystem, Edict: edict.Edict{Epoch: 3,
		Stamps: []edict.Stamp{{Node: 1, Counter: 4, Boot: bootOf(1), At: 99}, {Node: 2, Counter: 7, Boot: bootOf(2), At: 5}},
		Digest: edict.Sum(epoch.Proposal(3, nextSystem))}}
}

func TestCheckEpochRefusesImpossibleStates(t *testing.T) {
	require.NoError(t, CheckEpoch(&epoch.State{}))
	require.NoError(t, CheckEpoch(notedState()))
	require.ErrorContains(t, CheckEpoch(&epoch.State{Epoch: 1, System: "all:1"}), "all")
	require.ErrorContains(t, CheckEpoch(&epoch.State{Epoch: 1, System: "majority:2,1"}), `is not in canonical form "majority:1,2"`)
}

func TestAStaticQuorumSystemIsNotReplaced(t *testing.T) {
	s := New(Config{Self: incarnationOf(1), Timing: timed.LAN()}, timed.Set{}, 1, 0)
	require.ErrorIs(t, s.Propose(1, nextSystem), ErrStatic)
	_, err := s.Force(1, nextSystem, timed.SetOf(1), nil)
	require.ErrorIs(t, err, ErrStatic)
	require.Nil(t, s.Epoch())
}

// restartedOfTwo returns a node of two that has restarted, and is not ready.
func restartedOfTwo() *Stack {
	return New(Config{Self: incarnationOf(1), Timing: timed.LAN(), Starts: 2, Epochs: &epoch.State{Epoch: 1, System: "majority:1,2"}}, timed.SetOf(2), 1, 0)
}

// A node that has restarted stops voting only when no vote of an earlier incarnation binds
// it: an administrator who forces a change at once does not hurry it.
func wedgesLater(t testing.TB) {
	timing := timed.LAN()
	s := restartedOfTwo()
	require.Equal(t, "majority:1,2", s.Epoch().System)
	_, err := s.Force(1, "majority:1", timed.SetOf(2), nil)
	require.NoError(t, err)
	ready := timed.Instant(1).Add(timing.ReadyTime())
	for now := s.Deadline(); now < ready; now = timed.Later(now+1, s.Deadline()) {
		s.HandleTimeout(now, nil)
		require.Equal(t, epoch.Chosen, s.Epoch().Phase, "%v before it is ready", ready.Sub(now))
	}
	s.HandleTimeout(ready, nil)
	require.Equal(t, uint64(2), s.Epoch().Epoch)
}

func TestANodeThatIsNotReadyDoesNotWedge(t *testing.T) { wedgesLater(t) }

// inEpochs returns three nodes of which the first leads, as the only voter of its epoch.
func inEpochs() (*cluster, *Stack) {
	c := newCluster(3, leader.Stable)
	for i, s := range c.stacks {
		c.stacks[i] = New(Config{Self: s.Self(), Timing: timed.LAN(), Starts: 1, Epochs: &epoch.State{Epoch: 1, System: "majority:1"}},
			timed.SetOf(1, 2, 3).Without(s.Self().Node), c.now, 0)
	}
	for c.leader() != c.stacks[0] {
		c.step(nil)
	}
	return c, c.stacks[0]
}

// A state that is to be written stays as it is while the machine uses its memory again.
func TestAStateToWriteStays(t *testing.T) {
	s := restartedOfTwo()
	s.begin(1, nil)
	effects := []epoch.Effect{{Kind: epoch.Persist, State: epoch.State{Epoch: 1, System: firstSystem}}}
	s.performEpochs(1, effects)
	effects[0].State.System = nextSystem
	require.Equal(t, firstSystem, s.out[0].Epoch.System)
}

// What readers and packets have of the epoch stays as it is, and so does an assurance.
func TestWhatWasToldStays(t *testing.T) {
	s := restartedOfTwo()
	told := s.Epoch()
	_, err := s.Force(1, "majority:1", timed.SetOf(2), nil)
	require.NoError(t, err)
	require.NotEqual(t, epoch.Chosen, told.Phase)
	require.Equal(t, epoch.Chosen, s.Epoch().Phase)

	s.begin(1, nil)
	effects := []leader.Effect{{Kind: leader.Verified, Assurance: leader.Assurance{Local: 5}}}
	s.performElection(1, effects)
	effects[0].Assurance.Local = 7
	require.EqualValues(t, 5, s.events[0].Assurance.Local)
}

// A change of the quorum system begins at once, and not with the next election period.
func proposes(t testing.TB) {
	c, s := inEpochs()
	for !s.LeadsGlobally(c.now) || s.Election().Open() || s.Deadline() <= c.now {
		c.step(nil)
	}
	require.NoError(t, s.Propose(c.now, "majority:1,2"))
	require.LessOrEqual(t, s.Deadline(), c.now)
	s.rests(c.now)
}

func TestAProposalIsDueAtOnce(t *testing.T) { proposes(t) }

// A round that is won when its lease is over already, because the node was stopped meanwhile,
// makes no leader: nothing more is proposed.
func wonTooLate(t testing.TB) {
	c, s := inEpochs()
	for !s.Election().Open() {
		c.step(nil)
	}
	c.now = c.now.Add(timed.LAN().Expires / 2 * 3)
	c.take(s.HandleTimeout(c.now, nil))
	require.False(t, s.LeadsGlobally(c.now))
	require.ErrorIs(t, s.Propose(c.now, "majority:2,3"), epoch.ErrNotLeader)
	require.False(t, s.inconsistent)
}

func TestARoundIsWonTooLate(t *testing.T) { wonTooLate(t) }

// A node that has missed the end of an epoch hears of the next one when it asks for votes, or
// is asked, long before the next report. What it hears takes no room from a vote.
func learnsWithRequests(t testing.TB) {
	for _, at := range [][]uint64{{1, 2}, {2, 1}, {0, 2}, {2, 0}} {
		c := newCluster(2, leader.Stable)
		for i, s := range c.stacks {
			state := epoch.State{Epoch: at[i]}
			if at[i] > 0 {
				state.System = "majority:1,2"
			}
			c.stacks[i] = New(Config{Self: s.Self(), Timing: timed.LAN(), Starts: 1, Epochs: &state}, timed.SetOf(1, 2).Without(s.Self().Node), c.now, 0)
		}
		led, heard := false, 0
		for end := c.now.Add(idleReports); c.now < end; led = led || c.leader() != nil {
			c.step(nil)
			c.sent = slices.DeleteFunc(c.sent, func(p wire.Packet) bool {
				if !p.Has(wire.FrameEpoch) {
					return false
				}
				require.Equal(t, wire.FrameEpoch, p.Frames)
				if led {
					heard++
				}
				return !led // what is said before is lost
			})
		}
		for i, s := range c.stacks {
			require.Equal(t, uint64(2), s.Epoch().Epoch, "node %d of %v", i+1, at)
		}
		require.LessOrEqual(t, heard, 6, "they go on")
	}
}

func TestEpochsAreHeardOfWithRequests(t *testing.T) { learnsWithRequests(t) }

// A node that is in an earlier epoch is told of the present one at once, also if its packet is
// not the last of a batch.
func TestABatchIsToldOfTheEpoch(t *testing.T) {
	c := newCluster(2, leader.Stable)
	for i, s := range c.stacks {
		c.stacks[i] = New(Config{Self: s.Self(), Timing: timed.LAN(), Starts: 1, Epochs: &epoch.State{Epoch: uint64(i + 1), System: "majority:1,2"}},
			timed.SetOf(1, 2).Without(s.Self().Node), c.now, 0)
	}
	s, asked := c.stacks[1], false
	tells := func(e Effect) bool { return e.Kind == Send && e.Packet.Has(wire.FrameEpoch) }
	for !asked {
		for _, p := range c.step(s) {
			out := s.HandleBatched(c.now, c.now, &p, nil)
			if kind, _ := s.LastPacket(); p.Has(wire.FrameEpoch) && (kind == datagram.Delivered || kind == datagram.Accepted) {
				require.True(t, slices.ContainsFunc(out, tells))
				asked = true
			}
			c.take(out)
		}
		c.take(s.HandleTimeout(c.now, nil))
	}
}
