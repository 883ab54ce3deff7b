package failaware

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

func TestNodesEventsEndWithTheNode(t *testing.T) {
	n := startNode(t, Config{ID: 1, EventBuffer: 2})
	events := n.Events(t.Context())
	waitElected(t, n)
	eventually(t, "a view", func() bool { return n.View().UpToDate })
	require.NoError(t, n.Close())
	missed, kinds := uint64(0), []string{}
	for e := range events {
		if m, ok := e.(Missed); ok {
			missed = m.Count
		}
		kinds = append(kinds, e.Kind())
	}
	require.NotZero(t, missed)
	require.Len(t, kinds, 3)
}

func TestEventsSayWhy(t *testing.T) {
	v := &View{ID: ViewID{Sequence: 3, Leader: 1, Boot: 1}, Members: []membership.Member{
		{Incarnation: Incarnation{Node: 1, Boot: 1}, Previous: ViewID{Sequence: 1, Leader: 1, Boot: 1}},
		{Incarnation: Incarnation{Node: 2, Boot: 2}, Previous: ViewID{Sequence: 2, Leader: 2, Boot: 2}},
	}, Set: timed.SetOf(1, 2)}
	texts := map[Event]string{
		PeerSilent{Peer: 3, SilentFor: 104 * time.Millisecond, LastBound: 1200 * time.Microsecond}: "its last packet in time came 104ms ago (last delay bound 1.2ms)",
		PeerSilent{Peer: 3, SilentFor: 3 * time.Millisecond, Deaf: true}:                           "does not hear this node",
		PeerSilent{Peer: 3, LastBound: UnknownDelay}:                                               "not alive any more",
		PeerAlive{Peer: 3, Bound: UnknownDelay}:                                                    "delay at most unknown",
		LeadLost{Reason: leader.Outranked, By: 4}:                                                  "node 4 outranks it",
		LeadLost{Reason: leader.LeaseExpired}:                                                      "ran out before it was renewed",
		LeadLost{Reason: leader.Resigned}:                                                          "resigned",
		LeadLost{Reason: leader.ClockFault}:                                                        "clock cannot be trusted",
		LeadLost{Reason: leader.RoundFailed, By: 2}:                                                "round failed (by node 2)",
		GlobalElected{}:                                                    "leads globally",
		GlobalLost{Reason: leader.NoQuorum}:                                "no quorum has renewed",
		GlobalLost{Reason: leader.Resigned}:                                "resigned",
		GlobalLost{Reason: leader.LeaseExpired, By: 2}:                     "lease expired (by node 2)",
		QuorumChange{Step: QuorumProposed, Epoch: 1, System: "x"}:          "proposes x as the successor of epoch 1",
		QuorumChange{Step: QuorumSuperseded, Epoch: 1, System: "x"}:        "x was before",
		QuorumChange{Step: QuorumDecided, Epoch: 1, System: "x"}:           "x is the successor of epoch 1",
		QuorumChange{Step: QuorumEntered, Epoch: 2, System: "x"}:           "epoch 2 has begun, ruled by x",
		QuorumChange{Step: QuorumDead, Epoch: 1, System: "x"}:              "declared dead in epoch 1",
		QuorumChange{Step: QuorumConflict, Epoch: 1, System: "x", Peer: 3}: "node 3 knows x as another",
		QuorumChange{Step: QuorumUnordered, Epoch: 1}:                      "do not compare",
		QuorumChange{Step: QuorumIgnored, Epoch: 2, System: "x"}:           "it has no effect",
		OtherQuorum{Peer: 3}:                                               "node 3 has no quorum system",
		OtherQuorum{Peer: 3, Epoch: 2, Digest: 5}:                          "epoch 2, digest 0000000000000005",
		Following{}:          "nobody",
		Following{Leader: 2}: "follows node 2",
		ViewStale{View: v.ID, Reason: membership.LeaseExpired, By: 2}: "lease expired (by node 2)",
		Restarted{Reason: Suspended}:                                  "the machine was suspended",
		ClockFault{Peer: 2, Bound: -time.Millisecond}:                 "delay bound -1ms",
		Missed{Count: 7}:             "7 events were missed",
		Ready{Boot: 1}:               "waiting time",
		ViewFresh{}:                  "up to date",
		Unfit{}:                      "no candidate",
		ClockAdopted{}:               "timeline",
		ClockStepped{}:               "stepped",
		PeerLeaving{Peer: 2}:         "node 2 leaves",
		PeerCloned{Peer: 2, Boot: 5}: "node 2 runs twice with boot id 0000000000000005, as a cloned machine does: it is not heard any more",
		PeerRestarted{Peer: 2}:       "restarted",
	}
	kinds := map[string]bool{}
	for e, text := range texts {
		require.Contains(t, e.String(), text)
		require.Equal(t, strings.ToLower(e.Kind()), e.Kind())
		kinds[e.Kind()] = true
	}
	merged := ViewInstalled{View: v, Previous: v.Members[0].Previous, Transitional: timed.SetOf(1), Merged: v.Merged()}
	require.Contains(t, merged.String(), "members {1 2}, of which {2} are new to this node; branches: {1} from 1@1")
}

// Every event of the stack becomes one for the application, unless the loop alone
// acts on it.
func TestTheEventTable(t *testing.T) {
	own := []stack.EventKind{stack.EventRestart, stack.EventOverrun, stack.EventDuplicateID, stack.EventVerified}
	for k := stack.EventReady; k <= stack.EventEpoch; k++ {
		require.Equal(t, slices.Contains(own, k), eventOf[k] == nil, "event %d", k)
	}
	require.Len(t, levels, len(eventTable), "kinds have different names")
	require.Equal(t, hclog.Warn, levelOf(Missed{}))
	require.Equal(t, hclog.Debug, levelOf(PeerAlive{}))
	require.Equal(t, hclog.Info, levelOf(QuorumChange{Step: QuorumEntered}))
	require.Equal(t, hclog.Warn, levelOf(QuorumChange{Step: QuorumConflict}))
}
