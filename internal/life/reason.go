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
)

// OfClock reports whether an incarnation that ends for this reason leaves evidence
// against the hardware clock.
func (r Reason) OfClock() bool { return r != None && r != Overrun }
