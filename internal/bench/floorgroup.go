package bench

import (
	"context"
	"time"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// measure makes a group send messages and returns the counters of the members. rate is
// that of all senders together, in messages per second; 0: as many as the window takes.
func (o *floorOptions) measure(ctx context.Context, rate float64) (*floorRun, []floorCount, error) {
	clock, err := hwclock.New()
	if err != nil {
		return nil, nil, err
	}
	g := new(crowd)
	defer g.stop()
	run := &floorRun{Number: 1, Size: o.Size, Packet: o.Packet, Rounds: o.Rounds}
	for id := timed.NodeID(1); int(id) <= o.Members; id++ {
		j := &job{Kind: floorJob, ID: id, Listen: "127.0.0.1:0", Floor: &floorSetup{Plain: o.Plain, Procs: o.Procs}}
		if err := g.start(o.Launch, j); err != nil {
			return nil, nil, err
		}
		if id == 1 || o.All {
			run.Senders.Add(id)
		}
	}
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if run.Rate = rate / float64(run.Senders.Len()); rate > 0 {
		run.Packet = min(o.Packet, o.Size) // due messages are sent alone
	}
	counts, err := g.floor(clock, run, o.For)
	return run, counts, err
}

// floor makes all members take part in a run that is measured for d, and returns their
// counters.
func (c *crowd) floor(clock *hwclock.Clock, run *floorRun, d time.Duration) ([]floorCount, error) {
	const untilAllKnow = 50 * time.Millisecond
	run.Begin = clock.Now().Add(untilAllKnow)
	run.Measured = run.Begin.Add(d / 10)
	run.End = run.Measured.Add(d)
	var waits []func() (*reply, error)
	for _, one := range c.children {
		waits = append(waits, one.ask(command{Do: doFloor, Peers: c.peers, Floor: run,
			Millis: int((run.End.Sub(clock.Now()) + castDrain).Milliseconds())}))
	}
	counts := make([]floorCount, len(waits))
	for i, wait := range waits {
		reply, err := wait()
		if err != nil {
			return nil, err
		}
		counts[i] = *reply.Floor
	}
	return counts, nil
}
