package demo

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/timed"
)

// Entry is a line of the journal: an event that some nodes noticed at about the same
// time, or a fault.
type Entry struct {
	At    time.Duration // since the beginning
	Nodes failaware.Set // the nodes that noticed; empty for faults
	Kind  string        // the event's kind, or "fault"
	Text  string        // the text of the first event
	Peers failaware.Set // the peers that the event is about, if any

	topic string
}

const (
	kindFault   = "fault"
	journalSize = 512
	// mergeWithin is the longest time between events of several nodes that become
	// one line.
	mergeWithin = 150 * time.Millisecond
)

// journal keeps the recent events and faults, and merges events of several nodes about
// the same change.
type journal struct {
	mu      sync.Mutex
	entries []Entry
	first   int // the number of entries[0]
	views   []ViewRecord
}

// ViewRecord is a view that a node installed.
type ViewRecord struct {
	Node failaware.NodeID
	event.ViewInstalled
}

func newJournal() *journal { return new(journal) }

// event takes an event of a node.
func (j *journal) event(at time.Duration, id failaware.NodeID, e event.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if v, ok := e.(event.ViewInstalled); ok {
		if len(j.views) == journalSize {
			j.views = append(j.views[:0], j.views[journalSize/2:]...)
		}
		j.views = append(j.views, ViewRecord{id, v})
	}
	topic := topicOf(e)
	for i := len(j.entries) - 1; i >= 0 && at-j.entries[i].At <= mergeWithin; i-- {
		old := &j.entries[i]
		if old.topic == "" {
			break // a fault came in between
		}
		if old.topic == topic && !old.Nodes.Has(id) {
			old.Nodes.Add(id)
			return
		}
	}
	j.add(Entry{At: at, Nodes: timed.SetOf(id), Kind: e.Kind(), Text: textOf(e), Peers: peersOf(e), topic: topic})
}

// note records a fault.
func (j *journal) note(at time.Duration, text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(Entry{At: at, Kind: kindFault, Text: text})
}

func (j *journal) add(e Entry) {
	if len(j.entries) == journalSize {
		j.entries = append(j.entries[:0], j.entries[journalSize/2:]...)
		j.first += journalSize / 2
	}
	j.entries = append(j.entries, e)
}

// since returns a copy of the entries with numbers from number on that are older than
// until, and the number that follows them.
func (j *journal) since(number int, until time.Duration) ([]Entry, int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	from := max(number-j.first, 0)
	to := from
	for to < len(j.entries) && j.entries[to].At < until {
		to++
	}
	if from >= to {
		return nil, max(number, j.first)
	}
	return append([]Entry(nil), j.entries[from:to]...), j.first + to
}

// next returns the number of the next entry.
func (j *journal) next() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.first + len(j.entries)
}

// installed returns a copy of the latest views.
func (j *journal) installed() []ViewRecord {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]ViewRecord(nil), j.views...)
}

// condense merges simultaneous events of the same nodes about several peers into one
// entry.
func condense(list []Entry) (short []Entry) {
next:
	for _, e := range list {
		for i := len(short) - 1; i >= 0 && !e.Peers.Empty() && e.At-short[i].At <= mergeWithin; i-- {
			if s := &short[i]; s.Kind == e.Kind && s.Nodes == e.Nodes {
				s.Peers = s.Peers.Union(e.Peers)
				continue next
			}
		}
		short = append(short, e)
	}
	for i := range short {
		if e := &short[i]; e.Peers.Len() > 1 {
			_, rest, _ := strings.Cut(strings.TrimPrefix(e.Text, "node "), " ")
			e.Text = fmt.Sprintf("nodes %s %s", ids(e.Peers), plural.Replace(" " + rest)[1:])
		}
	}
	return short
}

// plural makes the text of an event about one peer one about several, without its subject.
var plural = strings.NewReplacer(" is ", " are ", "it does", "they do", "does not", "do not", "or was", "or were",
	"which heard it", "which heard them", "its last", "the last")

func peersOf(e event.Event) failaware.Set {
	switch e := e.(type) {
	case event.PeerAlive:
		return timed.SetOf(e.Peer)
	case event.PeerSilent:
		return timed.SetOf(e.Peer)
	}
	return failaware.Set{}
}

// topicOf returns the subject of an event, the same for all nodes that notice the same
// change.
func topicOf(e event.Event) string {
	k := e.Kind() + " "
	switch e := e.(type) {
	case event.PeerAlive:
		return k + e.Peer.String()
	case event.PeerSilent:
		return k + e.Peer.String()
	case event.PeerRestarted:
		return k + e.Peer.String()
	case event.PeerLeaving:
		return k + e.Peer.String()
	case event.Following:
		return k + e.Leader.String()
	case event.ViewInstalled:
		return k + e.View.ID.String()
	case event.ViewFresh:
		return k + e.View.String()
	case event.ViewStale:
		return k + e.View.String() + e.Reason.String()
	case event.ClockAdopted:
		return k + e.Timeline.String()
	case event.ClockStepped:
		return k + e.Timeline.String()
	case event.LeadLost:
		return k + e.String()
	}
	return k
}

var (
	bootInID = regexp.MustCompile(`(\d+@\d+)/[0-9a-f]{16}`)
	newToIt  = regexp.MustCompile(`, of which \{[\d ]*\} are new to this node`)
)

// textOf is the text of an event for readers who see its nodes beside it and do not
// know boot ids.
func textOf(e event.Event) string {
	text := strings.TrimPrefix(e.String(), "this node ")
	return newToIt.ReplaceAllString(bootInID.ReplaceAllString(text, "$1"), "")
}
