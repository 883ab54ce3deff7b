package clocksync_test

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/clocksync"
)

// Two readings of one timeline: which was taken first? If their intervals overlap, nobody
// can know.
func ExampleOrder() {
	at := func(ms int, deviation time.Duration) clocksync.Reading {
		return clocksync.Reading{Time: clocksync.Time(ms) * clocksync.Time(time.Millisecond), Deviation: deviation,
			Status: clocksync.Internal, Timeline: clocksync.TimelineID{Leader: 1, Sequence: 1}}
	}
	a, b := at(10, time.Millisecond), at(15, time.Millisecond)
	fmt.Println(clocksync.Order(a, b))
	b.Deviation = 10 * time.Millisecond
	fmt.Println(clocksync.Order(a, b))
	// Output:
	// earlier <nil>
	// unordered <nil>
}
