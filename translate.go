package failaware

import (
	"context"
	"time"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/stack"
)

// translate turns an event of the stack into one for the application.
func (d *driver) translate(e *stack.Event) Event {
	h := d.n.hub.header()
	switch e.Kind {
	case stack.EventReady:
		return Ready{h, d.cfg.Self.Boot}
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
		return Falseticker{h, d.n.nameOf(e.Source), e.Source, e.Peer, e.Step}
	case stack.EventTruechimer:
		return Truechimer{h, d.n.nameOf(e.Source), e.Source, e.Peer}
	case stack.EventSlowConsumer:
		s := SlowConsumer{EventHeader: h, View: viewID(e.View)}
		if d.cast.in != nil {
			s.Backlog = d.cast.in.backlog.Load()
		}
		return s
	case stack.EventGlobalElected:
		return GlobalElected{h}
	case stack.EventGlobalLost:
		return GlobalLost{h, e.Lost, e.Peer}
	case stack.EventEpoch:
		return QuorumChange{h, quorumSteps[e.Change.Kind], e.Change.Epoch, e.Change.System, e.Change.Peer}
	case stack.EventOtherQuorum:
		return OtherQuorum{h, e.Peer, e.Quorum.Epoch, e.Quorum.Digest}
	case stack.EventMismatch:
		return Mismatch{h, e.Peer, d.mismatch(e)}
	}
	return nil
}

func viewID(v *View) ViewID {
	if v == nil {
		return ViewID{}
	}
	return v.ID
}

// logEvents writes events to the log, in a goroutine of its own: a log may
// block, and the loop must not.
func (n *Node) logEvents() {
	for e := range n.EventsSince(context.Background(), 0) {
		log := n.log.Debug
		switch e := e.(type) {
		case Ready, PeerRestarted, PeerLeaving, Elected, LeadLost, Following, ViewInstalled, UTCChanged, Truechimer, GlobalElected, GlobalLost:
			log = n.log.Info
		case Unfit, ClockFault, PeerCloned, Mismatch, OtherQuorum, Restarted, ClockStepped, SlowConsumer, Missed, Falseticker:
			log = n.log.Warn
		case QuorumChange:
			if log = n.log.Info; e.Step.wrong() {
				log = n.log.Warn
			}
		}
		log(e.String(), "event", e.Kind(), "sequence", e.Header().Sequence)
	}
}

// rateEvery is how often the kernel is asked about its clock.
const rateEvery = time.Minute

// watchRate compares the corrections of the kernel's clock with ρ, until the
// node stops.
func (n *Node) watchRate() {
	tick := time.NewTicker(rateEvery)
	defer tick.Stop()
	before := hwclock.RateFine
	for {
		status, err := hwclock.Discipline()
		if err != nil {
			return // not to be had here
		}
		verdict := status.Judge(n.cfg.Timing.MaxDrift)
		if verdict != before {
			n.log.Warn("the rate error of the hardware clock is "+verdict.String(),
				"ppb", status.RateError, "maxdrift", int64(n.cfg.Timing.MaxDrift))
			n.do(func(d *driver) { d.judge(verdict) })
			before = verdict
		}
		select {
		case <-n.done:
			return
		case <-tick.C:
		}
	}
}
