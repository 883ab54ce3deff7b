package bench

import (
	"cmp"
	"slices"
	"time"

	"github.com/failaware/failaware/timed"
)

// stage is a part of the way of a message.
type stage int

// The stages of a message, whose sum is its latency. Those between the first and the last
// come once for each packet on the way.
const (
	stageCall    stage = iota // from the call of Broadcast until the sender's system call
	stageSend                 // from there until the receiver's kernel has the packet
	stageWake                 // from there until the receiver's loop has read it
	stageTurn                 // from there until the receiver sends the next packet on the way
	stageDeliver              // or, after the last packet: until the application has the message
	stages
)

func (s stage) String() string {
	return [...]string{"call", "send", "wake", "turn", "deliver"}[s]
}

// way is the time that a message spent in each stage.
type way struct {
	took    [stages]time.Duration
	packets int
}

// track is the marks of all members.
type track struct {
	marks map[timed.NodeID][]mark
	ports map[uint16]timed.NodeID
}

// at returns the index of the first mark of a member that is later than an instant.
func (t *track) at(id timed.NodeID, after timed.Instant) int {
	i, _ := slices.BinarySearchFunc(t.marks[id], after+1, func(m mark, at timed.Instant) int { return cmp.Compare(m.At, at) })
	return i
}

// wrote returns when a member last began to send packets in (after, until].
func (t *track) wrote(id timed.NodeID, after, until timed.Instant) (at timed.Instant, ok bool) {
	for _, m := range t.marks[id][t.at(id, after):t.at(id, until)] {
		if m.Kind == markWrite {
			at, ok = m.At, true
		}
	}
	return at, ok
}

// mostSteps bounds the search for the path of a message. At 100 messages a second, few
// packets are under way unless the machine is busy.
const mostSteps = 1000

// way follows a message backwards from the application of the member that had it last: from
// a send to the packet that the loop had read before it, and from that packet to its
// sender's last send before its arrival. If a loop had read several packets, the latest one
// that leads to the call counts. ok is false if none does.
func (t *track) way(c *castTrace, member timed.NodeID) (w way, ok bool) {
	steps := 0
	if w, ok = t.back(c, member, c.Had, stageDeliver, &steps); ok || member != c.Sender {
		return w, ok
	}
	sent, ok := t.wrote(member, c.Sent, c.Had)
	if !ok {
		sent = c.Had
	}
	w.took[stageCall], w.took[stageDeliver] = sent.Sub(c.Sent), c.Had.Sub(sent)
	return w, true // the sender waited for no other member
}

// back follows a message backwards from the moment at which a member completed a stage.
func (t *track) back(c *castTrace, member timed.NodeID, did timed.Instant, in stage, steps *int) (w way, ok bool) {
	list := t.marks[member][t.at(member, c.Sent):t.at(member, did)]
	for _, read := range slices.Backward(list) {
		from, known := t.ports[read.Port]
		if read.Kind != markRead || !known || read.Arrived <= c.Sent {
			continue
		}
		if *steps++; *steps > mostSteps {
			return w, false
		}
		sent, ok := t.wrote(from, c.Sent, read.Arrived)
		if !ok {
			continue
		}
		if w, ok = t.back(c, from, sent, stageTurn, steps); !ok && from != c.Sender {
			continue
		} else if !ok {
			w = way{}
			w.took[stageCall] = sent.Sub(c.Sent)
		}
		w.packets++
		w.took[stageSend] += read.Arrived.Sub(sent)
		w.took[stageWake] += read.At.Sub(read.Arrived)
		w.took[in] += did.Sub(read.At)
		return w, true
	}
	return w, false
}
