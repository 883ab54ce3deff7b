package api

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
)

// EventOf returns the wire form of an event of a node. run distinguishes the runs of
// the program, whose sequence numbers do not compare.
func EventOf(e event.Event, node failaware.NodeID, run string) Event {
	h := e.Head()
	w := Event{ID: eventID(run, h.Sequence), Sequence: h.Sequence, Time: h.Time.UTC(), Node: int(node),
		Kind: e.Kind(), Text: e.String()}
	fillFields(&w, e)
	return w
}

// topics are the selectable parts of the stream. Events that concern all parts are
// always sent.
var topics = map[string][]string{
	"views":     {"view-"},
	"leader":    {"elected", "lead-lost", "following", "unfit", "global-", "other-quorum", "quorum-change"},
	"clock":     {"clock-"},
	"peers":     {"peer-", "mismatch"},
	"broadcast": {"slow-consumer", "stamp-ahead"},
	"all":       {""},
}

// always are the kinds that are part of every topic.
var always = []string{"ready", "restarted", "inconsistent", "packet-unsent", "missed"}

// Topics are the topics of the stream of events.
func Topics() []string { return []string{"views", "leader", "clock", "peers", "broadcast", "all"} }

// kinds are all kinds of events.
var kinds = []string{"clock-adopted", "clock-falseticker", "clock-fault", "clock-stepped", "clock-truechimer", "clock-utc", "elected", "following",
	"global-elected", "global-lost", "inconsistent", "lead-lost", "mismatch", "missed", "other-quorum", "packet-unsent", "peer-alive", "peer-cloned",
	"peer-duplicated", "peer-forgot", "peer-leaving", "peer-restarted", "peer-silent", "quorum-change", "ready", "restarted", "slow-consumer", "stamp-ahead",
	"unfit", "view-fresh", "view-installed", "view-stale"}

// Kinds returns all kinds of events.
func Kinds() []string { return slices.Clone(kinds) }

// KindsOf returns the kinds of events of a topic, or the one kind of that name. There
// are none for any other name. Unlike in streams, the events that concern all topics
// are only part of the topic all.
func KindsOf(name string) (of []string) {
	for _, kind := range kinds {
		if kind == name || hasPrefix(kind, topics[name]) {
			of = append(of, kind)
		}
	}
	return of
}

// wanted reports whether a kind of event belongs to a topic.
func wanted(topic, kind string) bool {
	return hasPrefix(kind, topics[topic]) || hasPrefix(kind, always)
}

func hasPrefix(kind string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(kind, prefix) })
}

func eventID(run string, seq uint64) string { return run + "." + strconv.FormatUint(seq, 10) }

// parseEventID returns the sequence number after which a stream continues. An id from another
// run of the node counts as 0: the stream then has all events since the start of this run.
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

// NewRun draws the name of a run of the program.
func NewRun() string {
	return strconv.FormatUint(uint64(time.Now().UnixNano()), 36)
}
