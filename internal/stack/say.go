package stack

import "github.com/failaware/failaware/timed"

// Say sends a packet to a peer although nothing is due: one that carries what an
// application says, outside of the frames.
func (s *Stack) Say(now timed.Instant, to timed.NodeID, out []Effect) []Effect {
	s.begin(now, out)
	s.box.beat.Add(to)
	return s.end(now)
}
