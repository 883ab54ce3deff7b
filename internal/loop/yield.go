package loop

import (
	"time"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/timed"
)

// shortWait is a connection that can look for packets without waiting, and whose
// wait can be made shorter while it lasts: see the methods of [udp.Conn].
type shortWait interface {
	Expect(time.Duration)
	Waited() bool
	Hasten(deadline timed.Instant)
}

const (
	// answerTime is how long the loop looks for packets before it waits, while a
	// message waits for an answer of another member: the answer has often come in less
	// time than it takes to put a thread to sleep and to wake it. It costs at most that
	// much of a processor for each turn in which messages wait, and nothing at other
	// times; threads that want the processor have it.
	answerTime = 30 * time.Microsecond
	// longestTurns is how long a loop that always finds packets keeps its processor
	// from the other goroutines, unless the application waits for it. The runtime would
	// take it away after 10 ms.
	longestTurns = 200 * time.Microsecond
)

// yielding shares the processor between the loop and the application.
type yielding struct {
	wait  shortWait     // nil: the connection cannot do that
	woke  bool          // the application was woken in this turn
	since timed.Instant // when the loop last let others have its processor
}

// expect tells the connection before a wait whether packets are expected very soon.
func (y *yielding) expect(s *stack.Stack) {
	if y.wait != nil && s != nil && s.BroadcastState().Awaits() {
		y.wait.Expect(answerTime)
	}
}

// yields reports whether it is time to let other goroutines have the processor: at
// once if the application has just been woken, and otherwise before the loop holds
// others up for long. Yielding more often would let the runtime wake another thread
// to run the loop, which costs more than most turns.
func (y *yielding) yields(now timed.Instant) bool {
	if y.wait != nil && y.wait.Waited() {
		y.since = now
	}
	if !y.woke && y.wait != nil && now.Sub(y.since) < longestTurns {
		return false
	}
	y.woke, y.since = false, now
	return true
}
