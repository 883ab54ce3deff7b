package api

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/failaware/failaware"
)

// eventOf returns the wire form of an event. run tells the runs of the program
// apart, whose sequence numbers do not compare.
func eventOf(e failaware.Event, node failaware.NodeID, run string) Event {
	h := e.Header()
	w := Event{ID: eventID(run, h.Sequence), Sequence: h.Sequence, Time: h.Time.UTC(), Node: int(node),
		Kind: e.Kind(), Text: e.String()}
	switch e := e.(type) {
	case failaware.Ready:
		w.Boot = bootText(e.Boot)
	case failaware.PeerAlive:
		w.Peer, w.BoundNS = int(e.Peer), known(e.Bound, failaware.UnknownDelay)
	case failaware.PeerSilent:
		w.Peer, w.BoundNS = int(e.Peer), known(e.LastBound, failaware.UnknownDelay)
		w.SilentForNS, w.Deaf = known(e.SilentFor, 0), e.Deaf
	case failaware.PeerRestarted:
		w.Peer, w.Boot = int(e.Peer), bootText(e.Boot)
	case failaware.PeerLeaving:
		w.Peer, w.Boot = int(e.Peer), bootText(e.Boot)
	case failaware.PeerCloned:
		w.Peer, w.Boot = int(e.Peer), bootText(e.Boot)
	case failaware.LeadLost:
		w.Reason, w.By = e.Reason.String(), int(e.By)
	case failaware.GlobalLost:
		w.Reason, w.By = e.Reason.String(), int(e.By)
	case failaware.GlobalElected:
		w.Leader = number(node)
	case failaware.QuorumChange:
		w.Peer, w.Reason = int(e.Peer), string(e.Step)
	case failaware.OtherQuorum:
		w.Peer, w.Reason = int(e.Peer), e.String()
	case failaware.Elected:
		w.Leader = number(node)
	case failaware.Following:
		w.Leader, w.Boot = number(e.Leader), bootText(e.Boot)
	case failaware.ViewInstalled:
		w.View, w.PreviousView = viewText(e.View.ID), viewText(e.Previous)
		w.Members, w.Transitional = membersOf(e.View), setOf(e.Transitional)
		for _, b := range e.Merged {
			w.Merged = append(w.Merged, Branch{viewText(b.From), setOf(b.Members)})
		}
	case failaware.ViewFresh:
		w.View = viewText(e.View)
	case failaware.ViewStale:
		w.View, w.Reason, w.By = viewText(e.View), e.Reason.String(), int(e.By)
	case failaware.ClockAdopted:
		w.Timeline, w.Parent = timelineText(e.Timeline), timelineText(e.Parent)
	case failaware.ClockStepped:
		step := int64(e.Step)
		w.Timeline, w.Parent, w.StepNS = timelineText(e.Timeline), timelineText(e.Parent), &step
	case failaware.ClockFault:
		w.Peer, w.Boot, w.BoundNS = int(e.Peer), bootText(e.Boot), known(e.Bound, failaware.UnknownDelay)
	case failaware.Mismatch:
		w.Peer, w.Reason = int(e.Peer), e.Difference.Error()
	case failaware.Restarted:
		w.Reason, w.PreviousBoot, w.Boot = string(e.Reason), bootText(e.Previous), bootText(e.Boot)
	case failaware.UTCChanged:
		w.State = e.State.String()
	case failaware.Falseticker:
		off := int64(e.Off)
		w.Source, w.Name, w.Peer, w.StepNS = sourceText(e.Source), e.Name, int(e.Node), &off
	case failaware.Truechimer:
		w.Source, w.Name, w.Peer = sourceText(e.Source), e.Name, int(e.Node)
	case failaware.SlowConsumer:
		w.View, w.Count = viewText(e.View), uint64(e.Backlog)
	case failaware.Missed:
		w.Count = e.Count
	}
	return w
}

func number(id failaware.NodeID) *int {
	n := int(id)
	return &n
}

// topics are the parts of the stream that can be asked for. What concerns all
// of them is always sent.
var topics = map[string][]string{
	"views":     {"view-"},
	"leader":    {"elected", "lead-lost", "following", "unfit", "global-", "other-quorum", "quorum-change"},
	"clock":     {"clock-"},
	"peers":     {"peer-", "mismatch"},
	"broadcast": {"slow-consumer"},
	"all":       {""},
}

// always are the kinds that every topic has.
var always = []string{"ready", "restarted", "missed"}

// Topics are the topics of the stream of events.
func Topics() []string { return []string{"views", "leader", "clock", "peers", "broadcast", "all"} }

// wanted reports whether a kind of event belongs to a topic.
func wanted(topic, kind string) bool {
	for _, list := range [][]string{topics[topic], always} {
		for _, prefix := range list {
			if strings.HasPrefix(kind, prefix) {
				return true
			}
		}
	}
	return false
}

func eventID(run string, seq uint64) string { return run + "." + strconv.FormatUint(seq, 10) }

// parseEventID returns the sequence number after which a stream goes on. An id
// of another run of the node counts as 0: everything since its start is news.
func parseEventID(s, run string) (uint64, error) {
	of, number, found := strings.Cut(s, ".")
	if !found {
		of, number = run, s
	}
	seq, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not the id of an event", s)
	}
	if of != run {
		return 0, nil
	}
	return seq, nil
}

// newRun draws what tells this run of the program from others.
func newRun() string {
	return strconv.FormatUint(uint64(time.Now().UnixNano()), 36)
}
