package quorum_test

import (
	"fmt"

	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// A grid of nine nodes needs the votes of five. Sets that leave room for a second quorum
// are refused.
func Example() {
	grid, err := quorum.Parse("grid:1,2,3/4,5,6/7,8,9")
	if err != nil {
		panic(err)
	}
	fmt.Println(grid.IsQuorum(timed.SetOf(1, 2, 3, 4, 7)), grid.IsQuorum(timed.SetOf(1, 2, 4, 5, 7, 8)))
	_, err = quorum.Explicit(timed.SetOf(1, 2), timed.SetOf(3, 4))
	fmt.Println(err)
	// Output:
	// true false
	// quorum: the quorums {1 2} and {3 4} have no node in common
}
