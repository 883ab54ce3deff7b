package event_test

import (
	"fmt"

	"github.com/failaware/failaware/event"
)

// Programs tell events apart by their type, and every event prints as a sentence.
func Example() {
	for _, e := range []event.Event{
		event.Elected{Global: true},
		event.Missed{Count: 12},
	} {
		switch e := e.(type) {
		case event.Elected:
			fmt.Printf("begin: %s (%s)\n", e, e.Kind())
		case event.Missed:
			fmt.Println("ask for the present state:", e)
		}
	}
	// Output:
	// begin: this node leads globally (global-elected)
	// ask for the present state: 12 events were missed
}
