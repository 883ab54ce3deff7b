package life

// Reason says why an incarnation ends.
type Reason uint8

// The reasons.
const (
	None            Reason = iota
	Suspended              // the machine was suspended
	ClockBackwards         // the hardware clock ran backwards
	ClockRate              // the kernel corrects the clock by more than ρ
	PeersContradict        // the clocks of most peers contradict this one's
	Overrun                // the application took its deliveries too slowly for too long
	Inconsistent           // the state of the node broke an invariant
	NewEpoch               // the node has entered another epoch, whose quorums order messages from now on
	LateState              // the application's state came after the others had heard of none
)

// Discredits reports whether nothing that the incarnation has said may be relied on
// after it ended for this reason: the hardware clock, or the node itself, was wrong.
func (r Reason) Discredits() bool {
	return r != None && r != Overrun && r != NewEpoch && r != LateState
}
