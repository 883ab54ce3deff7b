package failaware

import (
	"time"

	"github.com/failaware/failaware/internal/eventring"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/loop"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

// sink is the node as its loop sees it: it turns what the loop reports into events.
// This is the only file of this package whose code runs on the loop's goroutine,
// except for warnQuorum, which runs before it.
type sink Node

func newEventRing(size int) *eventring.Ring[Event] { return eventring.New[Event](size) }

// header returns the header of the next event.
func (s *sink) header() EventHeader {
	return EventHeader{Sequence: s.events.Last() + 1, Time: time.Now()}
}

// Event implements [loop.Sink].
func (s *sink) Event(e *stack.Event) {
	if x := s.translate(e); x != nil {
		s.events.Add(x)
	}
}

// Restarted implements [loop.Sink].
func (s *sink) Restarted(why life.Reason, previous, boot BootID) {
	s.events.Add(Restarted{s.header(), restartReasons[why], previous, boot})
}

// published calls Config.OnPublish.
func (s *sink) published(x *loop.Snapshot, turn, done timed.Instant) {
	s.cfg.OnPublish(Published{Turn: turn, Done: done, Epoch: x.Era, Self: x.Self,
		Leading: x.Leading, LeadUntil: x.Expiration, Support: x.Support,
		Global: x.Global, GlobalUntil: x.GlobalUntil,
		View: x.View, ViewUntil: x.ValidUntil})
}

// warnQuorum says so if the configuration names another quorum system than the one
// in use: it has no effect.
func (n *Node) warnQuorum(s *epoch.State) {
	if c := n.cfg.Quorum; s != nil && c != nil && s.System != "" && c.String() != s.System {
		n.events.Add(QuorumChange{(*sink)(n).header(), QuorumIgnored, s.Epoch, s.System, NoNode})
	}
}

// translate turns an event of the stack into one for the application.
func (s *sink) translate(e *stack.Event) Event {
	h := s.header()
	switch e.Kind {
	case stack.EventReady:
		return Ready{h, s.loop.Snapshot().Self.Boot}
	case stack.EventPeerAlive:
		return PeerAlive{h, e.Peer, e.Bound}
	case stack.EventPeerSilent:
		return PeerSilent{h, e.Peer, e.Age, e.Bound, e.Deaf}
	case stack.EventPeerRestarted:
		return PeerRestarted{h, e.Peer, e.Boot}
	case stack.EventPeerLeaving:
		return PeerLeaving{h, e.Peer, e.Boot}
	case stack.EventTwins:
		return PeerCloned{h, e.Peer, e.Boot}
	case stack.EventElected:
		return Elected{h}
	case stack.EventLeadLost:
		return LeadLost{h, e.Lost, e.Peer}
	case stack.EventFollowing:
		return Following{h, e.Peer, e.Boot}
	case stack.EventUnfit:
		return Unfit{h}
	case stack.EventViewInstalled:
		return ViewInstalled{h, e.View, e.Previous, e.View.Transitional(e.Previous), e.View.Merged()}
	case stack.EventViewFresh:
		return ViewFresh{h, viewID(e.View)}
	case stack.EventViewStale:
		return ViewStale{h, viewID(e.View), e.Stale, e.Peer}
	case stack.EventClockAdopted:
		return ClockAdopted{h, e.Timeline, e.Parent}
	case stack.EventClockStepped:
		return ClockStepped{h, e.Timeline, e.Parent, e.Step}
	case stack.EventClockFault:
		return ClockFault{h, e.Peer, e.Boot, e.Bound}
	case stack.EventUTCChanged:
		return UTCChanged{h, e.UTC}
	case stack.EventFalseticker:
		return Falseticker{h, (*Node)(s).nameOf(e.Source), e.Source, e.Peer, e.Step}
	case stack.EventTruechimer:
		return Truechimer{h, (*Node)(s).nameOf(e.Source), e.Source, e.Peer}
	case stack.EventSlowConsumer:
		x := SlowConsumer{EventHeader: h, View: viewID(e.View)}
		if q := s.loop.Deliveries(); q != nil {
			x.Backlog = q.Backlog()
		}
		return x
	case stack.EventGlobalElected:
		return GlobalElected{h}
	case stack.EventGlobalLost:
		return GlobalLost{h, e.Lost, e.Peer}
	case stack.EventEpoch:
		return QuorumChange{h, quorumSteps[e.Change.Kind], e.Change.Epoch, e.Change.System, e.Change.Peer}
	case stack.EventOtherQuorum:
		return OtherQuorum{h, e.Peer, e.Quorum.Epoch, e.Quorum.Digest}
	case stack.EventMismatch:
		return Mismatch{h, e.Peer, (*Node)(s).mismatch(e.Peer, e.MaxDrift, e.FastThreshold)}
	}
	return nil
}

func viewID(v *View) ViewID {
	if v == nil {
		return ViewID{}
	}
	return v.ID
}
