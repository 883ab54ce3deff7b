package lab

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// PingTimeout is the failure detector of the lectures: it pings every process in
// each period, and suspects those that have not answered for longer than a time-out.
type PingTimeout struct {
	Self            timed.NodeID
	Peers           timed.Set
	Period, Timeout time.Duration

	next   timed.Instant
	latest [timed.MaxNodes + 1]timed.Instant // the time of the last ping that was answered
}

// NewPingTimeout returns a detector that suspects no process for the first time-out.
func NewPingTimeout(self timed.NodeID, all timed.Set, p Pace, now timed.Instant) *PingTimeout {
	d := &PingTimeout{Self: self, Peers: all.Without(self), Period: p.Period, Timeout: p.Suspect, next: now}
	for id := range d.Peers.All() {
		d.latest[id] = now
	}
	return d
}

// HandleMessage implements [Detector].
func (d *PingTimeout) HandleMessage(now timed.Instant, from timed.NodeID, m *Message, out []Effect) []Effect {
	switch m.Kind {
	case Ping:
		return append(out, Effect{from, Message{Kind: Pong, Start: m.Start}})
	case Pong:
		if m.Start <= now {
			d.latest[from] = timed.Later(d.latest[from], m.Start)
		}
	}
	return out
}

// HandleTimeout implements [Detector].
func (d *PingTimeout) HandleTimeout(now timed.Instant, out []Effect) []Effect {
	if now < d.next {
		return out
	}
	d.next = now.Add(d.Period)
	return toAll(d.Peers, Message{Kind: Ping, Start: now}, out)
}

// Deadline implements [Detector].
func (d *PingTimeout) Deadline() timed.Instant { return d.next }

// Alive implements [Detector].
func (d *PingTimeout) Alive(now timed.Instant) timed.Set {
	s := timed.SetOf(d.Self)
	for id := range d.Peers.All() {
		if now.Sub(d.latest[id]) <= d.Timeout {
			s.Add(id)
		}
	}
	return s
}
