package diagram_test

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/failaware/failaware/sim/diagram"
)

// Two nodes elect a leader, lose each other, and one of them crashes.
func ExampleRender() {
	const ms = time.Millisecond
	run := &diagram.Run{
		Title:    "Two nodes",
		Subtitle: "election period 25 ms",
		Nodes:    []string{"north", "south"},
		IDs:      []string{"id 1", "id 2"},
		To:       200 * ms,
		Messages: []diagram.Message{
			{From: 0, To: 1, Sent: 20 * ms, Arrived: 22 * ms, Label: "request 1"},
			{From: 1, To: 0, Sent: 22 * ms, Arrived: 25 * ms, Label: "vote for 1"},
			{From: 0, To: 1, Sent: 45 * ms, Arrived: 61 * ms, Fate: diagram.Slow, Label: "request 2"},
			{From: 0, To: 1, Sent: 95 * ms, Fate: diagram.Lost, Label: "request 3"},
		},
		Bars: []diagram.Bar{
			{Node: 0, Kind: diagram.Lead, From: 25 * ms, To: 90 * ms, Label: "{1,2}"},
			{Node: 1, Kind: diagram.Lock, From: 22 * ms, To: 92 * ms},
			{Node: 0, Kind: diagram.View, From: 30 * ms, To: 88 * ms, Group: 7, Label: "v7 {1,2}"},
			{Node: 0, Kind: diagram.Stale, From: 88 * ms, To: 200 * ms, Group: 7, Label: "v7 {1,2}"},
			{Node: 1, Kind: diagram.Down, From: 130 * ms, To: 200 * ms},
		},
		Marks: []diagram.Mark{
			{Node: diagram.All, Kind: diagram.Fault, At: 80 * ms, Label: "cut 1→2"},
			{Node: 1, Kind: diagram.Fault, At: 130 * ms, Label: "crash"},
			{Node: 0, Kind: diagram.App, At: 50 * ms, Label: "answer 17"},
		},
	}
	var picture bytes.Buffer
	if err := diagram.Render(&picture, run, diagram.Options{}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.Count(picture.String(), `class="message `), "messages")
	// Output: 4 messages
}
