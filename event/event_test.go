package event_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// called knows the names of nodes.
type called struct{}

func (called) NameOf(id timed.NodeID) string {
	if id == 2 {
		return "db-2"
	}
	return "node-" + id.String()
}

// Nodes are named by id, and by name if they have one.
func TestEventsNameNodes(t *testing.T) {
	h := event.Header{Names: called{}}
	require.Equal(t, "this node follows node 2 (db-2)", event.Following{Header: h, Leader: 2}.String())
	require.Equal(t, "this node follows node 3", event.Following{Header: h, Leader: 3}.String())
	require.Equal(t, "this node follows node 2", event.Following{Leader: 2}.String())
	require.Contains(t, event.ViewStale{Header: h, Reason: membership.LeaseExpired, By: 2}.String(), "lease expired (by node 2 (db-2))")
}

func TestEventsSayWhy(t *testing.T) {
	v := &membership.View{ID: membership.ViewID{Sequence: 3, Leader: 1, Boot: 1}, Members: []membership.Member{
		{Incarnation: timed.Incarnation{Node: 1, Boot: 1}, Previous: membership.ViewID{Sequence: 1, Leader: 1, Boot: 1}},
		{Incarnation: timed.Incarnation{Node: 2, Boot: 2}, Previous: membership.ViewID{Sequence: 2, Leader: 2, Boot: 2}},
	}, Set: timed.SetOf(1, 2)}
	line := clocksync.TimelineID{Leader: 2, Boot: 5, Sequence: 3}
	texts := map[event.Event]string{
		event.PeerSilent{Peer: 3, SilentFor: 104 * time.Millisecond, LastBound: 1200 * time.Microsecond}: "its last packet in time came 104ms ago (last delay bound 1.2ms)",
		event.PeerSilent{Peer: 3, SilentFor: 3 * time.Millisecond, Deaf: true}:                           "does not hear this node",
		event.PeerSilent{Peer: 3, LastBound: event.UnknownDelay}:                                         "not alive any more",
		event.PeerAlive{Peer: 3, Bound: event.UnknownDelay}:                                              "delay at most unknown",
		event.LeadLost{Reason: leader.Outranked, By: 4}:                                                  "node 4 outranks it",
		event.LeadLost{Reason: leader.LeaseExpired}:                                                      "ran out before it was renewed",
		event.LeadLost{Reason: leader.Resigned}:                                                          "resigned",
		event.LeadLost{Reason: leader.Distrusted}:                                                        "its incarnation has ended",
		event.LeadLost{Reason: leader.RoundFailed, By: 2}:                                                "round failed (by node 2)",
		event.Elected{Global: true}:                                                                      "leads globally",
		event.LeadLost{Global: true, Reason: leader.NoQuorum}:                                            "no quorum has renewed",
		event.LeadLost{Global: true, Reason: leader.Resigned}:                                            "resigned",
		event.LeadLost{Global: true, Reason: leader.LeaseExpired, By: 2}:                                 "lease expired (by node 2)",
		event.QuorumChange{Step: event.QuorumProposed, Epoch: 1, System: "x"}:                            "proposes x as the successor of epoch 1",
		event.QuorumChange{Step: event.QuorumSuperseded, Epoch: 1, System: "x"}:                          "x was before",
		event.QuorumChange{Step: event.QuorumDecided, Epoch: 1, System: "x"}:                             "x is the successor of epoch 1",
		event.QuorumChange{Step: event.QuorumEntered, Epoch: 2, System: "x"}:                             "epoch 2 has begun, ruled by x",
		event.QuorumChange{Step: event.QuorumDead, Epoch: 1, System: "x"}:                                "declared dead in epoch 1",
		event.QuorumChange{Step: event.QuorumConflict, Epoch: 1, System: "x", Peer: 3}:                   "node 3 knows x as another",
		event.QuorumChange{Step: event.QuorumUnordered, Epoch: 1}:                                        "do not compare",
		event.QuorumChange{Step: event.QuorumIgnored, Epoch: 2, System: "x"}:                             "it has no effect",
		event.Following{}:          "nobody",
		event.Following{Leader: 2}: "follows node 2",
		event.ViewStale{View: v.ID, Reason: membership.LeaseExpired, By: 2}: "lease expired (by node 2)",
		event.Restarted{Reason: event.Suspended}:                            "the machine was suspended",
		event.ClockFault{Peer: 2, Bound: -time.Millisecond}:                 "delay bound -1ms",
		event.PacketUnsent{Peer: 2, Reason: "too large"}:                    "a packet for node 2 cannot be sent: too large",
		event.Inconsistent{Invariant: "an older view"}:                      "is inconsistent: an older view",
		event.Missed{Count: 7}:                                              "7 events were missed",
		event.Ready{Boot: 1}:                                                "waiting time",
		event.ViewFresh{}:                                                   "up to date",
		event.Unfit{}:                                                       "no candidate",
		event.ClockAdopted{}:                                                "timeline",
		event.ClockStepped{Previous: line, Timeline: clocksync.TimelineID{Leader: 1, Boot: 7}, Step: time.Second}: "stepped by 1s from timeline 2/0000000000000005/3 to timeline 1/",
		event.ClockStepped{}:                                           "stepped",
		event.PeerLeaving{Peer: 2}:                                     "node 2 leaves",
		event.PeerLeaving{Peer: 2, ForGood: true}:                      "node 2 leaves for good",
		event.PeerDuplicated{Peer: 2, Boot: 5, Addr: "192.0.2.7:7001"}: "two processes have the id of node 2: the one at 192.0.2.7:7001, with boot id 0000000000000005, is ignored; give it an id of its own",
		event.PeerCloned{Peer: 2, Boot: 5}:                             "node 2 runs twice with boot id 0000000000000005, as a cloned machine does: it is not heard any more",
		event.PeerForgot{Peer: 2, Starts: 1, Before: 3}:                "node 2 has forgotten its promises: its state directory was lost, is an older copy, or cannot be written: its starts are counted as 1, after 3; ",
		event.PeerRestarted{Peer: 2}:                                   "restarted",
	}
	for e, text := range texts {
		require.Contains(t, e.String(), text)
		require.Equal(t, strings.ToLower(e.Kind()), e.Kind())
	}
	require.Contains(t, event.OtherQuorum{Peer: 3}.String(), "node 3 has no quorum system")
	require.Contains(t, event.OtherQuorum{Peer: 3, Epoch: 2, Digest: 5}.String(), "epoch 2, digest 0000000000000005")
	require.Equal(t, "node 3 does not vote for this node, nor this node for it: QuorumEpoch is 1 here and 3 there",
		event.OtherQuorum{Peer: 3, Epoch: 3, Digest: 5, Differences: event.Differences{{Setting: "QuorumEpoch", Here: "1", There: "3"}}}.String())
	merged := event.ViewInstalled{View: v, Previous: v.Members[0].Previous, Transitional: timed.SetOf(1), Merged: v.Merged()}
	require.Contains(t, merged.String(), "members {1 2}, of which {2} are new to this node; branches: {1} from 1@1")
}
