package main

// valve decides whether this node's valve is open. Of all nodes, at most one may have it
// open: the one that leads with the support of more than half of them.
//
// It has no goroutine and reads no clock, so the simulator can run it, and main runs
// the same code over UDP.
type valve struct {
	// leads asks whether this node leads so now. It reads the hardware clock.
	leads func() bool
	// wanted says that somebody wants the valve open.
	wanted bool
}

// open reports whether the valve is open now. The hardware asks before each pulse, and a
// valve without pulses closes by its spring.
func (v *valve) open() bool { return v.wanted && v.leads() }
