package datagram

import (
	"testing"
	"time"
)

// A peer whose clock jumps back is heard again after the separation, too: its stamps are smaller
// than the one that said last whether it hears this node.
func jumpedBack(t testing.TB) {
	for _, jump := range []time.Duration{-10 * ms, -time.Second / 2, -time.Minute} {
		for node := range 2 {
			p := newPair(t)
			p.now += 2 * time.Minute
			p.exchange(time.Second)
			p.skew[node] += jump
			p.exchange(50 * ms)
			p.exchange(time.Second)
			p.alive(true, "later")
			p.bounded()
		}
	}
}

func TestAClockThatJumpedBackIsLearntAnew(t *testing.T) { jumpedBack(t) }
