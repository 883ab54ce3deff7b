package failaware

import (
	"context"
	"iter"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware/event"
)

// Events returns an iterator over the events from the call of Events on. It waits
// for events, and ends when ctx is done, or when the node has stopped and all events
// were delivered. Any number of consumers may iterate at the same time, each in its
// own goroutine. A consumer that falls behind by more than [Config.EventBuffer]
// events gets an [event.Missed] instead of the oldest ones; no consumer ever holds up the
// node.
func (n *Node) Events(ctx context.Context) iter.Seq[event.Event] {
	return n.EventsSince(ctx, n.events.Last())
}

// EventsSince is like [Node.Events], but begins with the first event that is still kept and
// has a sequence number larger than seq; 0 asks for all that are kept. A number that this
// process has not reached yet comes from another process, and counts as 0.
func (n *Node) EventsSince(ctx context.Context, seq uint64) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		seq := seq // each iteration starts there again
		if seq > n.events.Last() {
			seq = 0
		}
		for n.events.Wait(ctx, seq) {
			e, at, missed, ok := n.events.After(seq)
			if !ok {
				continue
			}
			if missed > 0 {
				e = event.Missed{Header: event.Header{Sequence: at, Time: time.Now()}, Count: missed}
			}
			if seq = at; !yield(e) {
				return
			}
		}
	}
}

// maxMessages is how many messages may wait for the log.
const maxMessages = 64

// logLater writes a message to the log, as logEvents does events: a log may block, and its
// handler may call the node. If too many messages wait, the others are lost, and counted.
func (n *Node) logLater(level hclog.Level, text string, args ...any) {
	select {
	case n.messages <- func() { n.log.Log(level, text, args...) }:
	default:
		n.lost.Add(1)
	}
}

// logMessages writes the messages that wait to the log, to the last one.
func (n *Node) logMessages() {
	for {
		select {
		case write := <-n.messages:
			write()
		case <-n.done:
			for len(n.messages) > 0 {
				(<-n.messages)()
			}
			return
		}
		if lost := n.lost.Swap(0); lost > 0 {
			n.log.Warn("the log took too long, and lost messages", "count", lost)
		}
	}
}

// duplicates says when the log has last named another process with the id of a peer. An init
// system starts that again and again.
type duplicates map[NodeID]time.Time

// level returns the level of an event that would have another one: debug, if the log has named such
// a process within the last minute.
func (d *duplicates) level(e event.Event, level hclog.Level, now time.Time) hclog.Level {
	x, ok := e.(event.PeerDuplicated)
	if !ok {
		return level
	}
	if last, ok := (*d)[x.Peer]; ok && now.Sub(last) < time.Minute {
		return hclog.Debug
	}
	if *d == nil {
		*d = duplicates{}
	}
	(*d)[x.Peer] = now
	return level
}

// logEvents writes events to the log. It runs in a goroutine of its own, because a
// log may block and the loop must not.
func (n *Node) logEvents(first *firstStart) {
	var said duplicates
	for e := range n.EventsSince(context.Background(), 0) {
		n.log.Log(said.level(e, n.levelOf(e), time.Now()), e.String(), "event", e.Kind(), "sequence", e.Head().Sequence)
		if first.lost(e) {
			n.log.Warn("this node has a vote in this epoch, and its state directory was empty: if it has run before, stop it, " +
				"and change to a quorum system without it before it comes back")
		}
	}
}
