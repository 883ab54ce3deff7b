package exhaust

import "testing"

// Votes that a leader hands over are never used twice, whatever packets are late or lost,
// and whoever crashes or resigns again.
func TestResignationsKeepEveryPromise(t *testing.T) {
	for _, opt := range []Options{
		{Depth: 8, Resigns: 1, Starts: []Start{Led}},
		{Depth: 16, Resigns: 2, Faults: 1, VeryLate: true, Starts: []Start{Led}},
		{Nodes: 3, Depth: 12, Resigns: 1, Faults: 1, Starts: []Start{Led}},
	} {
		explored(t, opt)
	}
}
