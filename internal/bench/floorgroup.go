package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// floorGroup are members of the floor, in processes of their own.
type floorGroup struct {
	clock    *hwclock.Clock
	children []*child
	peers    []address
}

// each starts a group of each size, has it send messages of each size, and hands
// over what the members counted. rate is of all senders together, in messages per
// second; 0: as many as the window takes.
func (o *FloorOptions) each(ctx context.Context, rate float64, do func(run *floorRun, counts []floorCount)) error {
	clock, err := hwclock.New()
	if err != nil {
		return err
	}
	for _, n := range o.Members {
		if err := o.measure(ctx, clock, n, rate, do); err != nil {
			return fmt.Errorf("%d members: %w", n, err)
		}
	}
	return nil
}

// measure measures a group with all sizes of messages.
func (o *FloorOptions) measure(ctx context.Context, clock *hwclock.Clock, n int, rate float64, do func(*floorRun, []floorCount)) error {
	g := &floorGroup{clock: clock}
	defer g.stop()
	for id := timed.NodeID(1); int(id) <= n; id++ {
		j := &job{Kind: floorJob, ID: id, Listen: "127.0.0.1:0", Floor: &floorSetup{Buffer: o.Buffer, Plain: o.Plain, Procs: o.Procs}}
		if err := g.start(o.Launch, j); err != nil {
			return err
		}
	}
	for i, size := range o.Sizes {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		run := &floorRun{Number: uint32(i + 1), Size: size, Packet: o.Packet, Window: o.Window}
		run.Senders.Add(1)
		for id := timed.NodeID(2); o.All && int(id) <= n; id++ {
			run.Senders.Add(id)
		}
		if run.Rate = rate / float64(run.Senders.Len()); rate > 0 {
			run.Packet = min(o.Packet, size) // a message that is sent when it is due has no company
		}
		counts, err := g.run(run, o.For)
		if err != nil {
			return err
		}
		do(run, counts)
	}
	return nil
}

// start starts a member.
func (g *floorGroup) start(launch Launcher, j *job) error {
	addr := make(chan string, 1)
	c, err := launch.start(j, func(r *report) {
		if r.Addr != "" {
			addr <- r.Addr
		}
	})
	if err != nil {
		return err
	}
	g.children = append(g.children, c)
	select {
	case a := <-addr:
		g.peers = append(g.peers, address{j.ID, a})
		return nil
	case <-c.over:
		return c.err()
	case <-time.After(answerWait):
		return errors.New("a child did not start")
	}
}

// stop ends all members.
func (g *floorGroup) stop() {
	var done sync.WaitGroup
	for _, c := range g.children {
		done.Go(c.stop)
	}
	done.Wait()
}

// run has all members take part in a run that is measured for d, and returns what
// they counted.
func (g *floorGroup) run(run *floorRun, d time.Duration) ([]floorCount, error) {
	const untilAllKnow = 50 * time.Millisecond
	run.Begin = g.clock.Now().Add(untilAllKnow)
	run.Measured = run.Begin.Add(d / 10)
	run.End = run.Measured.Add(d)
	var waits []func() (*reply, error)
	for _, c := range g.children {
		waits = append(waits, c.ask(command{Do: doFloor, Peers: g.peers, Floor: run,
			Millis: int((run.End.Sub(g.clock.Now()) + castDrain).Milliseconds())}))
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
