package api

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// someEvents returns events of all kinds.
func someEvents() []event.Event {
	h := event.Header{Sequence: 9, Time: time.Unix(1, 2)}
	id := failaware.ViewID{Sequence: 3, Leader: 2, Boot: 1 << 40}
	v := &failaware.View{ID: id, Set: timed.SetOf(1, 2), Members: []membership.Member{
		{Incarnation: failaware.Incarnation{Node: 1, Boot: 5}}, {Incarnation: failaware.Incarnation{Node: 2, Boot: 6}, Previous: id}}}
	line := failaware.TimelineID{Leader: 2, Boot: 1 << 40, Sequence: 1}
	return []event.Event{
		event.Ready{Header: h, Boot: 5},
		event.PeerAlive{Header: h, Peer: 2, Bound: event.UnknownDelay},
		event.PeerAlive{Header: h, Peer: 2, Bound: 0},
		event.PeerAlive{Header: h, Peer: 2, Bound: 77},
		event.PeerSilent{Header: h, Peer: 2, SilentFor: 7, LastBound: 8},
		event.PeerSilent{Header: h, Peer: 2, SilentFor: 0, LastBound: event.UnknownDelay, Deaf: true},
		event.PeerRestarted{Header: h, Peer: 2, Boot: 5},
		event.PeerLeaving{Header: h, Peer: 2, Boot: 5},
		event.PeerLeaving{Header: h, Peer: 2, Boot: 5, ForGood: true},
		event.PeerCloned{Header: h, Peer: 2, Boot: 5},
		event.PeerDuplicated{Header: h, Peer: 2, Boot: 5, Addr: "192.0.2.7:7001"},
		event.PeerForgot{Header: h, Peer: 2, Boot: 5, Starts: 1, Before: 3},
		event.PeerForgot{Header: h, Peer: 2, Boot: 5, Before: 3},
		event.Elected{Header: h},
		event.LeadLost{Header: h, Reason: leader.Outranked, By: 2},
		event.LeadLost{Header: h},
		event.Following{Header: h},
		event.Following{Header: h, Leader: 4, Boot: 8},
		event.Elected{Header: h, Global: true},
		event.LeadLost{Header: h, Global: true, Reason: leader.NoQuorum},
		event.OtherQuorum{Header: h, Peer: 2, Epoch: 1, Digest: 5},
		event.QuorumChange{Header: h, Step: event.QuorumEntered, Epoch: 2, System: "majority:1"},
		event.QuorumChange{Header: h, Step: event.QuorumConflict, Epoch: 2, System: "majority:1", Peer: 3},
		event.Unfit{Header: h},
		event.ViewInstalled{Header: h, View: v, Previous: id, Transitional: timed.SetOf(2), Merged: v.Merged()},
		event.ViewInstalled{Header: h, View: v},
		event.ViewFresh{Header: h, View: id},
		event.ViewFresh{Header: h},
		event.ViewStale{Header: h, View: id, Reason: membership.Proposed, By: 2},
		event.ClockAdopted{Header: h, Timeline: line},
		event.ClockStepped{Header: h, Timeline: line, Parent: line, Step: -5},
		event.ClockStepped{Header: h, Timeline: line, Parent: line},
		event.ClockFault{Header: h, Peer: 2, Boot: 5, Bound: -3},
		event.ClockFault{Header: h, Peer: 2, Boot: 5, Bound: event.UnknownDelay},
		event.UTCChanged{Header: h, State: clocksync.UTCDisputed},
		event.UTCChanged{Header: h},
		event.Falseticker{Header: h, Name: "ntp x", Source: 255, Node: 3, Off: time.Second},
		event.Falseticker{Header: h, Source: 255, Node: 3},
		event.Truechimer{Header: h, Name: "ntp x", Source: 255, Node: 3},
		event.SlowConsumer{Header: h, View: id, Backlog: 123456},
		event.StampAhead{Header: h, View: id, Peer: 2, By: time.Hour},
		event.Mismatch{Header: h, Peer: 2, Addr: "192.0.2.2:7000", Differences: event.Differences{{Setting: "FastThreshold", Here: "1ns", There: "2ns"}}},
		event.PacketUnsent{Header: h, Peer: 2, Reason: "too large"},
		event.Inconsistent{Header: h, Invariant: "an older view"},
		event.Restarted{Header: h, Reason: event.Suspended, Previous: 4, Boot: 5},
		event.Missed{Header: h, Count: 5},
	}
}

// The wire form of events does not change, because programs of users read it.
func TestTheWireFormOfEvents(t *testing.T) {
	var lines bytes.Buffer
	for enc, list := json.NewEncoder(&lines), someEvents(); len(list) > 0; list = list[1:] {
		require.NoError(t, enc.Encode(EventOf(list[0], 1, "run")))
	}
	want, err := os.ReadFile("testdata/events.ndjson")
	require.NoError(t, err)
	require.Equal(t, string(want), lines.String())
}

func TestEveryKindOfEventHasATopicAndAWireForm(t *testing.T) {
	types, seen := map[string]bool{}, map[string]bool{}
	for _, e := range someEvents() {
		seen[e.Kind()] = true
		types[reflect.TypeOf(e).Name()] = true
		w := EventOf(e, 1, "run")
		require.Equal(t, "run.9", w.ID)
		require.Equal(t, e.Kind(), w.Kind)
		require.Equal(t, e.String(), w.Text)
		require.True(t, wanted("all", w.Kind))
		in := 0
		topics := []string{"views", "leader", "clock", "peers", "broadcast"}
		for _, topic := range topics {
			if wanted(topic, w.Kind) {
				in++
			}
		}
		require.Contains(t, []int{1, len(topics)}, in, w.Kind)
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(seen)), Kinds())
	require.Equal(t, eventTypes(t), types, "someEvents must have events of all types")
}

// eventTypes returns the names of the event types of package event.
func eventTypes(t *testing.T) map[string]bool {
	files, err := filepath.Glob("../../event/*.go")
	require.NoError(t, err)
	types := map[string]bool{}
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok && len(s.Fields.List) > 0 {
				if x, ok := s.Fields.List[0].Type.(*ast.Ident); ok && x.Name == "Header" && s.Fields.List[0].Names == nil {
					types[spec.Name.Name] = true
				}
			}
			return false
		})
	}
	return types
}

func TestKindsOfTopics(t *testing.T) {
	require.Equal(t, []string{"view-fresh", "view-installed", "view-stale"}, KindsOf("views"))
	require.Equal(t, []string{"lead-lost"}, KindsOf("lead-lost"))
	require.Equal(t, Kinds(), KindsOf("all"))
	require.Empty(t, KindsOf("lead"))
	require.Empty(t, KindsOf(""))
}

func TestEventIDs(t *testing.T) {
	for _, c := range []struct {
		text string
		want uint64
	}{{"7", 7}, {"a.7", 7}, {"b.7", 0}, {"0", 0}} {
		got, err := parseEventID(c.text, "a")
		require.NoError(t, err)
		require.Equal(t, c.want, got, c.text)
	}
	for _, bad := range []string{"a.", "x", "-1", "a.-1", "99999999999999999999"} {
		_, err := parseEventID(bad, "a")
		require.Error(t, err, bad)
	}
}
