package lab

import "github.com/failaware/failaware/timed"

// Detector is a failure detector at one process, in the same form as a
// [Machine]. It may be wrong in both ways.
type Detector interface {
	HandleMessage(now timed.Instant, from timed.NodeID, m *Message, out []Effect) []Effect
	HandleTimeout(now timed.Instant, out []Effect) []Effect
	Deadline() timed.Instant
	// Alive returns the processes that are not suspected, this one among them.
	Alive(now timed.Instant) timed.Set
}

// Trusting is a detector that suspects no process and sends nothing.
type Trusting timed.Set

// HandleMessage implements [Detector].
func (Trusting) HandleMessage(_ timed.Instant, _ timed.NodeID, _ *Message, out []Effect) []Effect {
	return out
}

// HandleTimeout implements [Detector].
func (Trusting) HandleTimeout(_ timed.Instant, out []Effect) []Effect { return out }

// Deadline implements [Detector].
func (Trusting) Deadline() timed.Instant { return timed.Never }

// Alive implements [Detector].
func (t Trusting) Alive(timed.Instant) timed.Set { return timed.Set(t) }
