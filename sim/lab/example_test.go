package lab_test

import (
	"context"
	"fmt"

	"github.com/failaware/failaware/sim/lab"
)

// The bully algorithm and the platform's own election in a network that splits for a
// while: how much of the time did two connected processes lead?
func ExampleCompare() {
	algorithms, err := lab.FindAlgorithms("bully,local")
	if err != nil {
		panic(err)
	}
	scenarios, err := lab.FindScenarios("partition")
	if err != nil {
		panic(err)
	}
	rows, err := lab.Compare(context.Background(), lab.Plan{Algorithms: algorithms, Scenarios: scenarios, First: 1, Seeds: 1})
	for _, r := range rows {
		fmt.Printf("%s: %.1f %%\n", r.Algorithm, 100*float64(r.Two)/float64(r.Simulated))
	}
	fmt.Println(err)
	// Output:
	// bully: 48.9 %
	// local: 0.0 %
	// <nil>
}
