package why

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// story notes events, each some milliseconds after the one before.
type story struct {
	*Record
	at  time.Time
	seq uint64
}

func newStory() *story {
	t := timed.LAN()
	b, _ := t.Validate()
	return &story{Record: NewRecord(t, b), at: time.Unix(1_700_000_000, 0)}
}

// head returns the header of the next event.
func (s *story) head(after time.Duration) event.Header {
	s.seq++
	s.at = s.at.Add(after)
	return event.Header{Sequence: s.seq, Time: s.at}
}

func view(sequence uint64, members ...timed.NodeID) *membership.View {
	v := &membership.View{ID: membership.ViewID{Sequence: sequence, Leader: members[0], Boot: 1}, Set: timed.SetOf(members...)}
	for id := range v.Set.All() {
		v.Members = append(v.Members, membership.Member{Incarnation: timed.Incarnation{Node: id, Boot: 1}})
	}
	return v
}

// A leader that loses its lease because a member has fallen silent says which one, and
// by which rule.
func TestALostLeaseIsBlamedOnWhoFellSilent(t *testing.T) {
	s := newStory()
	s.Note(event.Elected{Header: s.head(0)})
	s.Note(event.ViewInstalled{Header: s.head(0), View: view(1, 1, 2, 3)})
	s.Note(event.PeerAlive{Header: s.head(time.Second), Peer: 3, Bound: time.Millisecond})
	s.Note(event.PeerSilent{Header: s.head(time.Second), Peer: 2, SilentFor: 101 * time.Millisecond, LastBound: time.Millisecond})
	s.Note(event.LeadLost{Header: s.head(20 * time.Millisecond), Reason: leader.LeaseExpired})

	causes := s.Explain(Leader)
	require.Len(t, causes, 2)
	lost := causes[0]
	require.Equal(t, "lead-lost", lost.Event.Kind())
	require.Contains(t, lost.Rule, "A lease lasts for 79.98ms")
	require.Len(t, lost.Because, 1, "node 3 came, and did not leave")
	require.Contains(t, lost.Because[0].String(), "node 2 is silent: its last packet in time came 101ms ago (last delay bound 1ms)")
	require.Equal(t, "elected", causes[1].Event.Kind())

	require.Contains(t, s.Explain(Node(2))[0].Rule, "A peer is alive for 100ms after its last packet with a proven delay of at most 10ms, less the age")
	require.Empty(t, s.Explain(Clock))
}

// A view goes stale for lack of a reply before its sender counts as silent.
func TestASilenceThatIsNoticedLaterIsTheReason(t *testing.T) {
	s := newStory()
	s.Note(event.ViewInstalled{Header: s.head(0), View: view(1, 1, 2, 3)})
	s.Note(event.ViewStale{Header: s.head(time.Second), Reason: membership.LeaseExpired, By: 1})
	require.Empty(t, s.Explain(View)[0].Because)
	s.Note(event.PeerSilent{Header: s.head(20 * time.Millisecond), Peer: 3, SilentFor: 100 * time.Millisecond})
	s.Note(event.PeerSilent{Header: s.head(time.Millisecond), Peer: 2, SilentFor: 10 * time.Millisecond})
	because := s.Explain(View)[0].Because
	require.Len(t, because, 1, "node 2 was heard after the view went stale")
	require.Equal(t, timed.NodeID(3), because[0].(event.PeerSilent).Peer)
	s.Note(event.PeerSilent{Header: s.head(time.Millisecond), Peer: 1, SilentFor: 100 * time.Millisecond})
	because = s.Explain(View)[0].Because
	require.Len(t, because, 2)
	require.Equal(t, timed.NodeID(1), because[0].(event.PeerSilent).Peer, "the latest first")
}

func TestOldEventsAreNoReason(t *testing.T)   { oldEventsAreNoReason(t) }
func TestWhoCameBackIsNotBlamed(t *testing.T) { whoCameBackIsNotBlamed(t) }
func TestTheLatestCausesAreKept(t *testing.T) { latestCausesAreKept(t) }

// oldEventsAreNoReason has a view go stale as long after a silence as that may have led to it,
// and then a moment later.
func oldEventsAreNoReason(t testing.TB) {
	for _, late := range []bool{false, true} {
		s := newStory()
		after := s.window
		if late {
			after += time.Nanosecond
		}
		s.Note(event.ViewInstalled{Header: s.head(0), View: view(1, 1, 2)})
		s.Note(event.PeerSilent{Header: s.head(time.Second), Peer: 2})
		s.Note(event.ViewStale{Header: s.head(after), Reason: membership.LeaseExpired, By: 2})
		require.Equal(t, late, len(s.Explain(View)[0].Because) == 0, "%v later", after)
		require.Equal(t, "view-stale", s.Explain(Node(2))[0].Event.Kind(), "the accused node's record has it")
	}
}

func TestAStrangerWithAPeersIDExplainsNothingOfThePeer(t *testing.T) {
	s := newStory()
	s.Note(event.PeerSilent{Header: s.head(0), Peer: 2})
	s.Note(event.Mismatch{Header: s.head(time.Second), Peer: 2, Elsewhere: true})
	require.Equal(t, "peer-silent", s.Explain(Node(2))[0].Event.Kind())
}

// whoCameBackIsNotBlamed has a node fall silent and come back before a lease ends.
func whoCameBackIsNotBlamed(t testing.TB) {
	s := newStory()
	s.Note(event.ViewInstalled{Header: s.head(0), View: view(1, 1, 2, 3)})
	s.Note(event.PeerSilent{Header: s.head(time.Second), Peer: 2})
	s.Note(event.PeerAlive{Header: s.head(time.Millisecond), Peer: 2})
	s.Note(event.PeerSilent{Header: s.head(time.Millisecond), Peer: 3})
	s.Note(event.LeadLost{Header: s.head(time.Millisecond), Reason: leader.LeaseExpired})
	because := s.Explain(Leader)[0].Because
	require.Len(t, because, 1)
	require.Equal(t, timed.NodeID(3), because[0].(event.PeerSilent).Peer)
}

// latestCausesAreKept notes more causes than are kept.
func latestCausesAreKept(t testing.TB) {
	s := newStory()
	for range maxCauses + 3 {
		s.Note(event.Unfit{Header: s.head(time.Second)})
	}
	causes := s.Explain(Leader)
	require.Len(t, causes, maxCauses)
	for i, c := range causes {
		require.Equal(t, s.seq-uint64(i), c.Event.Head().Sequence)
	}
}

// A view names who left and who came, and why.
func TestAViewNamesWhoCameAndWhoLeft(t *testing.T) {
	s := newStory()
	s.Note(event.ViewInstalled{Header: s.head(0), View: view(1, 1, 2)})
	s.Note(event.PeerLeaving{Header: s.head(time.Second), Peer: 2})
	s.Note(event.PeerAlive{Header: s.head(0), Peer: 3, Bound: time.Millisecond})
	s.Note(event.ViewInstalled{Header: s.head(10 * time.Millisecond), View: view(2, 1, 3)})
	because := s.Explain(View)[0].Because
	require.Len(t, because, 2)
	require.Equal(t, []string{"peer-alive", "peer-leaving"}, []string{because[0].Kind(), because[1].Kind()}, "the latest first")
}

// Each subject keeps its own causes: a link that fails all the time does not push out why
// the clock stepped.
func TestTheRecordIsBounded(t *testing.T) {
	s := newStory()
	s.Note(event.ClockStepped{Header: s.head(0), Step: time.Second})
	for range 100 {
		s.Note(event.PeerSilent{Header: s.head(time.Second), Peer: 2})
		s.Note(event.PeerAlive{Header: s.head(time.Second), Peer: 2})
	}
	require.Len(t, s.Explain(Node(2)), maxCauses)
	require.Equal(t, s.seq, s.Explain(Node(2))[0].Event.Head().Sequence)
	require.Len(t, s.Explain(Clock), 1)
}

// Every event belongs to a subject, except those about the record of events itself.
func TestEveryEventHasASubject(t *testing.T) {
	s := newStory()
	for _, e := range []event.Event{event.Ready{}, event.Restarted{}, event.Inconsistent{}, event.Elected{}, event.Elected{Global: true},
		event.LeadLost{}, event.Following{}, event.Unfit{}, event.QuorumChange{}, event.OtherQuorum{Peer: 2}, event.ViewInstalled{},
		event.ViewFresh{}, event.ViewStale{}, event.SlowConsumer{}, event.ClockAdopted{}, event.ClockStepped{}, event.UTCChanged{},
		event.Falseticker{Node: 2}, event.Truechimer{Node: 2}, event.ClockFault{Peer: 2}, event.PeerAlive{Peer: 2}, event.PeerSilent{Peer: 2},
		event.PeerRestarted{Peer: 2}, event.PeerLeaving{Peer: 2}, event.PeerCloned{Peer: 2}, event.PeerDuplicated{Peer: 2}, event.PeerForgot{Peer: 2}, event.Mismatch{Peer: 2}, event.PacketUnsent{Peer: 2}} {
		require.NotEmpty(t, s.subjects(e), e.Kind())
	}
	require.Empty(t, s.subjects(event.Missed{}))
}
