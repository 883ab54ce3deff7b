package lab

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// host runs a machine and its detector in a process of a bare world, as the loop of a
// node runs the platform's stack.
type host struct {
	lab   *run
	node  *sim.Node
	m     Machine
	d     Detector
	skew  time.Duration // of the synchronized clock, if the machine goes by one
	alive timed.Set
	timer sim.Timer
	armed timed.Instant
	out   []Effect
	acted bool // since its claim was read
}

// maxTurns bounds how often a machine is called at one instant. A machine that is still due
// then would be due forever.
const maxTurns = 64

// start begins a process.
func (h *host) start() {
	h.armed = timed.Never
	h.alive = h.d.Alive(h.node.Instant())
	h.perform(h.m.Start(h.now(), h.alive, h.out[:0]))
	h.turn()
}

// now reads the clock that the machine goes by.
func (h *host) now() timed.Instant {
	if h.lab.synchronized {
		return timed.Instant(h.node.World().Time() + clockOrigin + h.skew)
	}
	return h.node.Instant()
}

// clockOrigin keeps the synchronized clocks from zero, which means "none".
const clockOrigin = time.Hour

// when returns the true time of an instant of that clock.
func (h *host) when(t timed.Instant) time.Duration {
	switch {
	case t == timed.Never:
		return sim.Never
	case h.lab.synchronized:
		return time.Duration(t) - clockOrigin - h.skew
	}
	return h.node.When(t)
}

func (h *host) deliver(msg sim.Message) {
	m, err := ParseMessage(msg.Payload)
	if err != nil {
		return
	}
	if m.Kind.detects() {
		h.perform(h.d.HandleMessage(h.node.Instant(), msg.From.Node, &m, h.out[:0]))
	} else {
		h.perform(h.m.HandleMessage(h.now(), msg.From.Node, &m, h.alive, h.out[:0]))
	}
	h.turn()
}

// elect calls for an election.
func (h *host) elect() {
	h.perform(h.m.Elect(h.now(), h.alive, h.out[:0]))
	h.turn()
}

// turn handles the due timers of detector and machine, and arms the timer.
func (h *host) turn() {
	for range maxTurns {
		now := h.node.Instant()
		if h.d.Deadline() <= now {
			h.perform(h.d.HandleTimeout(now, h.out[:0]))
		}
		alive := h.d.Alive(now)
		if alive == h.alive && h.m.Deadline() > h.now() {
			if h.d.Deadline() > now {
				h.arm()
				return
			}
			continue
		}
		h.alive = alive
		h.perform(h.m.HandleTimeout(h.now(), alive, h.out[:0]))
	}
	panic(fmt.Sprintf("lab: %T: still due after %d turns at one instant", h.m, maxTurns))
}

func (h *host) arm() {
	wait := min(h.d.Deadline().Sub(h.node.Instant()), h.m.Deadline().Sub(h.now()))
	due := h.node.Instant().Add(wait)
	if due == h.armed {
		return
	}
	h.timer.Stop()
	if h.armed = due; wait < fault.MaxDuration {
		h.timer = h.node.After(wait, func() {
			h.armed = timed.Never
			h.turn()
		})
	}
}

func (h *host) perform(out []Effect) {
	h.acted = true
	h.out = out[:0]
	for i := range out {
		e := &out[i]
		h.lab.sent[e.Message.Kind]++
		h.lab.buf = e.Message.Append(h.lab.buf[:0])
		h.node.Send(e.To, h.lab.buf)
	}
}

// says names a message in pictures; those of detectors have no name.
func says(payload []byte) string {
	m, err := ParseMessage(payload)
	if err != nil || m.Kind.detects() {
		return ""
	}
	s := m.Kind.String()
	switch {
	case m.Kind == RingElection || m.Kind == RingElected:
		s += " " + m.Candidate.String()
	case m.Kind == CoordinatorReply || m.Kind == ThereReply || m.Kind == AcceptReply:
		if m.Yes {
			s += " yes"
		} else {
			s += " no"
		}
	}
	return s
}
