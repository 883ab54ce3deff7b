package timed_test

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/timed"
)

// The guarantees of a preset, and those of a faster group, whose settings do not fit
// together yet.
func ExampleTiming_Validate() {
	t := timed.LAN()
	bounds, err := t.Validate()
	fmt.Println(bounds.Elect.Round(time.Millisecond), err)
	t.Expires = 60 * time.Millisecond
	_, err = t.Validate()
	fmt.Println(err)
	// Output:
	// 280ms <nil>
	// Expires: 60ms is too short: with KeepalivePeriod 25ms, SchedulingDelay 5ms and FastThreshold 10ms it must be at least 80.006001ms
}

func ExampleSet() {
	s := timed.SetOf(3, 1, 2)
	fmt.Println(s, s.Len(), s.Has(4), s.Minus(timed.SetOf(1)).Min())
	// Output: {1 2 3} 3 false 2
}
