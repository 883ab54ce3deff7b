package broadcast

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// flood has member 0 send count messages, one decision each, while nothing of the others comes, and
// returns how many were sent. Then all packets come for a while, in which headers tell of clocks
// every step.
func (t *trio) flood(count int, step time.Duration, options func(i int) Options) (cast int) {
	t.drop = func(from, _ int, _ *Packet) bool { return from != 0 }
	for cast = 0; cast < count; cast++ {
		t.now = t.now.Add(20 * time.Microsecond)
		if _, err := t.cast(0, []byte("x"), options(cast)); err != nil {
			break
		}
		t.turn()
	}
	t.drop = nil
	for end := t.now.Add(3 * time.Second); t.now < end && (t.count[0] < cast || t.now < end.Add(-2*time.Second)); {
		t.now = t.now.Add(step)
		t.turn()
		for i := range t.nodes {
			for j := range t.nodes {
				if i != j {
					t.nodes[j].HandlePacket(t.now, incarnation(i), t.nodes[i].Blank(t.reading(i)), nil)
				}
			}
		}
	}
	return cast
}

// missing returns how many of the sent messages are not delivered in the end, at all members.
func (t *trio) missing(sent int) (missing int) {
	for i := range t.nodes {
		missing += sent - t.count[i]
	}
	return missing
}

func timedWeak(int) Options { return Options{TimedOrder, WeakAtomicity} }

// timedFillsTheLog fills the log with messages while those with a stamp wait for the floors of the
// others, and returns how many are missing.
func timedFillsTheLog(options func(i int) Options, ahead time.Duration) int {
	w := newTrio(3, Config{})
	w.ahead[0] = ahead
	return w.missing(w.flood(2*logSize, time.Millisecond, options))
}

// largestFirst fills the log while the message at its first place has the largest stamp of all, and
// lets floors rise in steps that each let one other message through.
func largestFirst() int {
	w := newTrio(3, Config{})
	w.ahead[1], w.ahead[2] = 100*time.Millisecond, -100*time.Millisecond
	if _, err := w.cast(1, []byte("x"), timedWeak(0)); err != nil {
		panic(err)
	}
	for range 3 {
		w.turn()
	}
	return w.missing(1 + w.flood(2*logSize, 20*time.Microsecond, timedWeak))
}

// A message that waits for the others' floors keeps its place in the log. However many follow it
// meanwhile, the floor rises.
func TestTimedMessagesLeaveTheLogRoom(t *testing.T) {
	first := func(i int) Options {
		if i == 0 {
			return timedWeak(i)
		}
		return Options{TotalOrder, WeakAtomicity}
	}
	for name, options := range map[string]func(i int) Options{"the first": first, "all": timedWeak} {
		for _, ahead := range []time.Duration{0, 500 * time.Microsecond, time.Second} {
			require.Zero(t, timedFillsTheLog(options, ahead), "%s, clock ahead by %v", name, ahead)
		}
	}
	require.Zero(t, largestFirst())
}
