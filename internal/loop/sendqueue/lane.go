package sendqueue

// Lane says whose a message is. The lanes of a class share it by their weights: while
// callers of both wait, each lane gets its part of every batch, however many its callers
// and however large its messages are. A lane may take what the other leaves.
type Lane uint8

// The lanes.
const (
	Application Lane = iota // messages of the node's users
	State                   // snapshots of the replicated state, and what its replicas tell each other

	lanes = 2
)

// laneBytes is the part of classBytes that a lane has while the other one waits: its
// weight.
var laneBytes = [lanes]int{Application: classBytes / 4 * 3, State: classBytes / 4}

// byLane is what a class counts for its lanes, guarded by the mutex of the queue.
type byLane struct {
	// bytes are those of the batch that is being filled, and those that a lane has had
	// beyond its part in earlier ones: a message may be larger than a part.
	bytes     [lanes]int
	waiting   [lanes]int  // callers that wait for room
	overtaken [lanes]int  // those of them that were woken and found no room
	waited    [lanes]bool // some did when this batch began, or have since

	room [lanes]chan struct{} // wakes one caller that waits
}

// fits reports whether a lane may add a message to the batch.
func (c *classQueue) fits(l Lane) bool {
	return c.bytes[l] < laneBytes[l] || c.in.weight < classBytes && !c.contended(l)
}

// contended reports whether the other lane needs its part of the batch. If one of its callers
// has waited, that counts until the batch is full: it may be about to send its next message.
func (c *classQueue) contended(l Lane) bool {
	return c.waiting[1-l] > 0 || c.waited[1-l] && c.in.weight > 0
}

// begin begins a batch. The excess of a lane in the last batch counts in this one, if the
// other lane waits.
func (c *classQueue) begin() {
	for l := range c.bytes {
		c.waited[l] = c.waiting[l] > 0
		if c.bytes[l] -= laneBytes[l]; c.bytes[l] < 0 || c.waiting[1-l] == 0 {
			c.bytes[l] = 0
		}
	}
}
