package bench

import "context"

// FloorLatency is the latency of messages over the sockets alone, for one size of the
// group and of messages.
type FloorLatency struct {
	Members int `json:"members"`
	Size    int `json:"size"`
	Packet  int `json:"packet"` // the largest, in bytes
	Senders int `json:"senders"`
	// Latency is from the instant at which the sender is about to send until the
	// last receiver has read the message.
	Latency Summary `json:"latency"`
	// Missing is the number of messages that did not reach all receivers in time.
	Missing int `json:"missing"`
}

// measureFloorLatency measures the latency of few messages over the sockets alone: rate
// is the number that all senders together send per second, in turn. The members sleep in
// between, so the result is mostly the time that the machine takes to wake them. As in
// [measureFloor], one system call sends a message to all receivers.
func measureFloorLatency(ctx context.Context, opt floorOptions, rate float64) (FloorLatency, error) {
	run, counts, err := opt.measure(ctx, rate)
	if err != nil {
		return FloorLatency{}, err
	}
	return floorLatency(run, counts), nil
}

// floorLatency combines the traces of the members.
func floorLatency(run *floorRun, counts []floorCount) FloorLatency {
	l := FloorLatency{Members: len(counts), Size: run.Size, Packet: run.sizes()[0], Senders: run.Senders.Len()}
	traces := make([][]castTrace, len(counts))
	for i := range counts {
		traces[i] = counts[i].Traces
	}
	l.Latency, l.Missing = sumUpTraces(traces)
	return l
}
