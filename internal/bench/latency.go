package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/timed"
)

// LatencyOptions are the choices of [Latency].
type LatencyOptions struct {
	Setup
	Nodes       int
	Size        int // of messages, in bytes
	Atomicities []failaware.Atomicity
	Awake       bool          // keep processors from sleeping
	For         time.Duration // of each measurement
}

// LatencyResult is the result of [Latency].
type LatencyResult struct {
	Head
	Nodes int           `json:"nodes"`
	Size  int           `json:"size"`
	Awake bool          `json:"awake"`
	Floor Summary       `json:"floor"` // see [FloorLatency]
	Cells []LatencyCell `json:"cells"`
}

// LatencyCell is the result for one atomicity.
type LatencyCell struct {
	Atomicity string  `json:"atomicity"`
	Latency   Summary `json:"latency"` // until the last application has the message
	// Packets follow each other on the way to that application, in the mean.
	Packets float64        `json:"packets"`
	Stages  []LatencyStage `json:"stages"`
	// Unknown is the number of messages whose way is not known.
	Unknown int `json:"unknown"`
}

// LatencyStage is the time of messages in one stage, of all packets on the way together.
type LatencyStage struct {
	Name string  `json:"name"`
	Took Summary `json:"took"`
}

// Check returns an error if the choices make no sense.
func (o *LatencyOptions) Check() error {
	errs := []error{within("nodes", o.Nodes, 2, timed.MaxNodes), within("size", o.Size, castHead, 1<<20), within("seconds", o.For, time.Millisecond, maxCastFor)}
	if o.Awake {
		if err := MayKeepAwake(); err != nil {
			errs = append(errs, fmt.Errorf("--awake: %w", err))
		}
	}
	return errors.Join(errs...)
}

// Latency measures where the time of a message goes, at 100 messages a second from one
// sender in total order, against the sockets alone in the same run. The loops of the nodes
// note when they read and write packets.
func Latency(ctx context.Context, opt LatencyOptions) (*LatencyResult, error) {
	ctx, cancel := opt.bounded(ctx)
	defer cancel()
	r := &LatencyResult{Head: opt.head(LatencyKind), Nodes: opt.Nodes, Size: opt.Size, Awake: opt.Awake}
	if err := keepAwakeIf(opt.Awake, func() error { return r.measure(ctx, &opt) }); err != nil {
		return nil, fmt.Errorf("bench: latency: %w", err)
	}
	return r, nil
}

func (r *LatencyResult) measure(ctx context.Context, opt *LatencyOptions) error {
	cast := BroadcastOptions{Setup: opt.Setup, Packet: loopbackPacket()}
	floor, err := measureFloorLatency(ctx, floorOptions{Members: opt.Nodes, Size: opt.Size, Packet: min(opt.Size, cast.Packet),
		Procs: cast.procs(opt.Nodes), For: opt.For, Launch: opt.Launch}, castSlow)
	if err != nil {
		return err
	}
	r.Floor = floor.Latency
	g, err := opt.startGroup(ctx, opt.Nodes, func(g *group) {
		g.cast = &castSetup{Packet: cast.Packet, Procs: cast.procs(opt.Nodes), Marks: true}
	})
	if err != nil {
		return err
	}
	defer g.stop()
	for i, atomicity := range opt.Atomicities {
		if err := g.untilWhole(ctx); err != nil {
			return err
		}
		run := castRun{Number: uint32(i + 1), Size: opt.Size, Order: failaware.TotalOrder, Atomicity: atomicity, Rate: castSlow, Every: 1}
		run.Senders.Add(1)
		answers, err := g.askCast(&run, opt.For)
		if err != nil {
			return err
		}
		c := latencyCell(answers, g.port)
		c.Atomicity = atomicity.String()
		r.Cells = append(r.Cells, c)
		p50, p99 := 1.4, 2.0
		if atomicity == failaware.StrictAtomicity {
			p50 = 2.2
		}
		if c.Latency.Count > 0 && r.Floor.Count > 0 {
			r.Aims = append(r.Aims, aim(c.Atomicity+", p50", float64(c.Latency.P50)/float64(r.Floor.P50), p50, "floors"),
				aim(c.Atomicity+", p99", float64(c.Latency.P99)/float64(r.Floor.P99), p99, "floors"))
		}
	}
	return context.Cause(ctx) // nil unless the time is up
}

// latencyCell follows the messages of a run.
func latencyCell(answers map[timed.NodeID]*reply, port func(timed.NodeID) uint16) (c LatencyCell) {
	t := track{map[timed.NodeID][]mark{}, map[uint16]timed.NodeID{}}
	type end struct {
		castTrace
		member  timed.NodeID
		members int
	}
	ends := map[uint32]end{}
	for id, a := range answers {
		t.marks[id], t.ports[port(id)] = a.Cast.Marks, id
		for _, trace := range a.Cast.Traces {
			e := ends[trace.Number]
			e.members++
			if trace.Had > e.Had {
				e.castTrace, e.member = trace, id
			}
			ends[trace.Number] = e
		}
	}
	var all []time.Duration
	var took [stages][]time.Duration
	packets := 0
	for _, e := range ends {
		if e.members < len(answers) {
			continue
		}
		all = append(all, e.Had.Sub(e.Sent))
		w, ok := t.way(&e.castTrace, e.member)
		if !ok {
			c.Unknown++
			continue
		}
		packets += w.packets
		for s := range stages {
			took[s] = append(took[s], w.took[s])
		}
	}
	c.Latency = Summarize(all)
	if known := len(all) - c.Unknown; known > 0 {
		c.Packets = float64(packets) / float64(known)
	}
	for s := range stages {
		c.Stages = append(c.Stages, LatencyStage{s.String(), Summarize(took[s])})
	}
	return c
}

// Text implements [Result].
func (r *LatencyResult) Text(w io.Writer) error {
	rows := [][]string{summaryHead("atomicity", "stage"), summaryRow(r.Floor, "-", "floor")}
	var more []string
	for _, c := range r.Cells {
		rows = append(rows, summaryRow(c.Latency, c.Atomicity, "all"))
		for _, s := range c.Stages {
			rows = append(rows, summaryRow(s.Took, c.Atomicity, s.Name))
		}
		more = append(more, fmt.Sprintf("%s: %.2f packets follow each other; the way of %d messages is not known", c.Atomicity, c.Packets, c.Unknown))
	}
	awake := "processors sleep in between"
	if r.Awake {
		awake = "processors are kept from sleeping"
	}
	return r.text(w, fmt.Sprintf("a process per member, %d members, %d bytes, %d messages/s from one sender, timing %s; %s",
		r.Nodes, r.Size, castSlow, r.Preset, awake), rows, more...)
}
