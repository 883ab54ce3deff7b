package hlc_test

import (
	"fmt"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/clocksync/hlc"
)

// Stamps grow although the clock stands, and stay behind no message that was received. In
// a program, read is the Time of the node's Clock.
func Example() {
	read := func() clocksync.Time { return 1000 }
	c := hlc.New(read, 0)
	fmt.Println(c.Now(), c.Now())
	heard, err := c.Hear(hlc.Stamp{Time: 1500, Logical: 7})
	fmt.Println(heard, err, c.Now())
	// Output:
	// 1000.0 1000.1
	// 1500.8 <nil> 1500.9
}
