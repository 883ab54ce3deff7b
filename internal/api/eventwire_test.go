package api

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// someEvents returns events of all kinds.
func someEvents() []failaware.Event {
	h := failaware.EventHeader{Sequence: 9, Time: time.Unix(1, 2)}
	id := failaware.ViewID{Sequence: 3, Leader: 2, Boot: 1 << 40}
	v := &failaware.View{ID: id, Set: timed.SetOf(1, 2), Members: []membership.Member{
		{Incarnation: failaware.Incarnation{Node: 1, Boot: 5}}, {Incarnation: failaware.Incarnation{Node: 2, Boot: 6}, Previous: id}}}
	line := failaware.TimelineID{Leader: 2, Boot: 1 << 40, Sequence: 1}
	return []failaware.Event{
		failaware.Ready{EventHeader: h, Boot: 5},
		failaware.PeerAlive{EventHeader: h, Peer: 2, Bound: failaware.UnknownDelay},
		failaware.PeerAlive{EventHeader: h, Peer: 2, Bound: 0},
		failaware.PeerAlive{EventHeader: h, Peer: 2, Bound: 77},
		failaware.PeerSilent{EventHeader: h, Peer: 2, SilentFor: 7, LastBound: 8},
		failaware.PeerSilent{EventHeader: h, Peer: 2, SilentFor: 0, LastBound: failaware.UnknownDelay, Deaf: true},
		failaware.PeerRestarted{EventHeader: h, Peer: 2, Boot: 5},
		failaware.PeerLeaving{EventHeader: h, Peer: 2, Boot: 5},
		failaware.PeerCloned{EventHeader: h, Peer: 2, Boot: 5},
		failaware.Elected{EventHeader: h},
		failaware.LeadLost{EventHeader: h, Reason: leader.Outranked, By: 2},
		failaware.LeadLost{EventHeader: h},
		failaware.Following{EventHeader: h},
		failaware.Following{EventHeader: h, Leader: 4, Boot: 8},
		failaware.GlobalElected{EventHeader: h},
		failaware.GlobalLost{EventHeader: h, Reason: leader.NoQuorum},
		failaware.OtherQuorum{EventHeader: h, Peer: 2, Epoch: 1, Digest: 5},
		failaware.QuorumChange{EventHeader: h, Step: failaware.QuorumEntered, Epoch: 2, System: "majority:1"},
		failaware.QuorumChange{EventHeader: h, Step: failaware.QuorumConflict, Epoch: 2, System: "majority:1", Peer: 3},
		failaware.Unfit{EventHeader: h},
		failaware.ViewInstalled{EventHeader: h, View: v, Previous: id, Transitional: timed.SetOf(2), Merged: v.Merged()},
		failaware.ViewInstalled{EventHeader: h, View: v},
		failaware.ViewFresh{EventHeader: h, View: id},
		failaware.ViewFresh{EventHeader: h},
		failaware.ViewStale{EventHeader: h, View: id, Reason: membership.Proposed, By: 2},
		failaware.ClockAdopted{EventHeader: h, Timeline: line},
		failaware.ClockStepped{EventHeader: h, Timeline: line, Parent: line, Step: -5},
		failaware.ClockStepped{EventHeader: h, Timeline: line, Parent: line},
		failaware.ClockFault{EventHeader: h, Peer: 2, Boot: 5, Bound: -3},
		failaware.ClockFault{EventHeader: h, Peer: 2, Boot: 5, Bound: failaware.UnknownDelay},
		failaware.UTCChanged{EventHeader: h, State: clocksync.UTCDisputed},
		failaware.UTCChanged{EventHeader: h},
		failaware.Falseticker{EventHeader: h, Name: "ntp x", Source: 255, Node: 3, Off: time.Second},
		failaware.Falseticker{EventHeader: h, Source: 255, Node: 3},
		failaware.Truechimer{EventHeader: h, Name: "ntp x", Source: 255, Node: 3},
		failaware.SlowConsumer{EventHeader: h, View: id, Backlog: 123456},
		failaware.Mismatch{EventHeader: h, Peer: 2, Difference: &failaware.MismatchError{Peer: 2, FastThreshold: 1, PeerFastThreshold: 2}},
		failaware.Restarted{EventHeader: h, Reason: failaware.Suspended, Previous: 4, Boot: 5},
		failaware.Missed{EventHeader: h, Count: 5},
	}
}

// The wire form of events does not change, because programs of users read it.
func TestTheWireFormOfEvents(t *testing.T) {
	var lines bytes.Buffer
	for enc, list := json.NewEncoder(&lines), someEvents(); len(list) > 0; list = list[1:] {
		require.NoError(t, enc.Encode(eventOf(list[0], 1, "run")))
	}
	want, err := os.ReadFile("testdata/events.ndjson")
	require.NoError(t, err)
	require.Equal(t, string(want), lines.String())
}

func TestEveryKindOfEventHasATopicAndAWireForm(t *testing.T) {
	types := map[string]bool{}
	for _, e := range someEvents() {
		types[reflect.TypeOf(e).Name()] = true
		w := eventOf(e, 1, "run")
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
	require.Equal(t, eventTypes(t), types, "someEvents must have events of all types")
}

// eventTypes returns the names of the event types of package failaware.
func eventTypes(t *testing.T) map[string]bool {
	files, err := filepath.Glob("../../event*.go")
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
				if x, ok := s.Fields.List[0].Type.(*ast.Ident); ok && x.Name == "EventHeader" && s.Fields.List[0].Names == nil {
					types[spec.Name.Name] = true
				}
			}
			return false
		})
	}
	return types
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
