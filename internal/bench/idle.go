package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/failaware/failaware/timed"
)

// IdleOptions are the choices of [Idle].
type IdleOptions struct {
	Setup
	Nodes int
	For   time.Duration
}

// Check returns an error if the choices make no sense.
func (o *IdleOptions) Check() error {
	return errors.Join(least("nodes", o.Nodes, 2), within("for", o.For, time.Millisecond, time.Hour))
}

// IdleResult is the result of [Idle].
type IdleResult struct {
	Head
	Seconds float64    `json:"seconds"`
	Nodes   []IdleNode `json:"nodes"`
	Mean    IdleNode   `json:"mean"`
	Worst   IdleNode   `json:"worst"` // of each column
	// Rounds is how often the leader asks its followers in a second, and Floor the processor
	// time of a request to each of them and its answer, as often, over the sockets alone.
	Rounds float64 `json:"rounds_per_s"`
	Floor  float64 `json:"floor_cpu_percent_of_a_core"` // mean of the processes
}

// IdleNode is the usage of one process.
type IdleNode struct {
	ID       int     `json:"id,omitempty"`
	Leads    bool    `json:"leads,omitempty"`
	Sent     float64 `json:"sent_per_s"`
	Received float64 `json:"received_per_s"`
	CPU      float64 `json:"cpu_percent_of_a_core"`
	System   float64 `json:"cpu_percent_in_the_kernel"`
	Resident float64 `json:"resident_mib"`
	Switches float64 `json:"waits_per_s"`
	Garbage  float64 `json:"collections_per_s"`
	Bytes    float64 `json:"allocated_bytes_per_s"`
}

// roundBytes is the size of the floor's requests and answers, about that of a node's.
const roundBytes = 200

// Idle lets a group run without work and measures its usage, and then that of the sockets
// alone.
func Idle(ctx context.Context, opt IdleOptions) (*IdleResult, error) {
	r, err := measureIdle(ctx, &opt)
	if err != nil {
		return nil, err
	}
	r.Rounds = r.Worst.Sent / float64(opt.Nodes-1) // the leader sends most
	opt.progress("sockets alone, for %v", opt.For)
	floor := floorOptions{Members: opt.Nodes, Size: roundBytes, Packet: roundBytes, For: opt.For, Launch: opt.Launch}
	r.Floor, err = measureFloorRounds(ctx, floor, r.Rounds)
	return r, err
}

func measureIdle(ctx context.Context, opt *IdleOptions) (*IdleResult, error) {
	r := &IdleResult{Head: opt.head(IdleKind)}
	g, err := opt.startGroup(ctx, opt.Nodes, nil)
	if err != nil {
		return nil, err
	}
	defer g.stop()
	if err := g.untilWhole(ctx); err != nil {
		return nil, err
	}
	if err := sleep(ctx, time.Second); err != nil {
		return nil, err
	}
	measure := func() (map[timed.NodeID]*reply, error) {
		return g.askAll(g.all, func(timed.NodeID) command { return command{Do: doUsage} })
	}
	before, err := measure()
	if err != nil {
		return nil, err
	}
	opt.progress("%d nodes are idle for %v", opt.Nodes, opt.For)
	if err := sleep(ctx, opt.For); err != nil {
		return nil, err
	}
	after, err := measure()
	if err != nil {
		return nil, err
	}
	lead, _ := g.leader()
	for id := range g.all.All() {
		n := idleNode(before[id], after[id])
		n.ID, n.Leads = int(id), id == lead
		r.Seconds = after[id].At.Sub(before[id].At).Seconds()
		r.add(n)
	}
	switch opt.Timing {
	case timed.Local():
		r.Aims = append(r.Aims, aim("CPU per node, mean", r.Mean.CPU, 1, "% of a core"),
			aim("CPU per node, worst", r.Worst.CPU, 2, "% of a core"))
	case timed.LAN():
		r.Aims = append(r.Aims, aim("CPU per node, mean", r.Mean.CPU, 0.25, "% of a core"))
	}
	r.Aims = append(r.Aims, aim("resident memory per node, worst", r.Worst.Resident, 15, "MiB"))
	return r, nil
}

// idleNode returns the usage between two reports.
func idleNode(before, after *reply) IdleNode {
	a, b := before.Usage, after.Usage
	seconds := after.At.Sub(before.At).Seconds()
	rate := func(from, to uint64) float64 { return float64(to-from) / seconds }
	return IdleNode{
		Sent: rate(a.Sent, b.Sent), Received: rate(a.Got, b.Got),
		CPU: 100 * (b.CPU - a.CPU).Seconds() / seconds, System: 100 * (b.System - a.System).Seconds() / seconds,
		Resident: float64(b.Resident) / (1 << 20), Switches: rate(a.Switches, b.Switches),
		Garbage: float64(b.Collections-a.Collections) / seconds, Bytes: rate(a.Allocated, b.Allocated),
	}
}

// add adds a node to the result.
func (r *IdleResult) add(n IdleNode) {
	r.Nodes = append(r.Nodes, n)
	k := float64(len(r.Nodes))
	each := func(value float64, mean, worst *float64) {
		*mean += (value - *mean) / k
		*worst = max(*worst, value)
	}
	each(n.Sent, &r.Mean.Sent, &r.Worst.Sent)
	each(n.Received, &r.Mean.Received, &r.Worst.Received)
	each(n.CPU, &r.Mean.CPU, &r.Worst.CPU)
	each(n.System, &r.Mean.System, &r.Worst.System)
	each(n.Resident, &r.Mean.Resident, &r.Worst.Resident)
	each(n.Switches, &r.Mean.Switches, &r.Worst.Switches)
	each(n.Garbage, &r.Mean.Garbage, &r.Worst.Garbage)
	each(n.Bytes, &r.Mean.Bytes, &r.Worst.Bytes)
}

// sleep waits, unless ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Text implements [Result].
func (r *IdleResult) Text(w io.Writer) error {
	rows := [][]string{{"node", "sent/s", "received/s", "CPU %", "kernel %", "resident MiB", "waits/s", "collections/s", "bytes/s"}}
	row := func(name string, n *IdleNode) {
		rows = append(rows, []string{name, fmt.Sprintf("%.0f", n.Sent), fmt.Sprintf("%.0f", n.Received),
			fmt.Sprintf("%.2f", n.CPU), fmt.Sprintf("%.2f", n.System), fmt.Sprintf("%.1f", n.Resident),
			fmt.Sprintf("%.0f", n.Switches), fmt.Sprintf("%.2f", n.Garbage), fmt.Sprintf("%.0f", n.Bytes)})
	}
	for i := range r.Nodes {
		name := strconv.Itoa(r.Nodes[i].ID)
		if r.Nodes[i].Leads {
			name += " (leads)"
		}
		row(name, &r.Nodes[i])
	}
	row("mean", &r.Mean)
	row("worst", &r.Worst)
	return r.text(w, fmt.Sprintf("%d nodes, a process each, timing %s, idle for %.1f s", len(r.Nodes), r.Preset, r.Seconds), rows,
		fmt.Sprintf("floor: sockets alone, with a request to each follower and its answer %.0f times a second: %.2f %% of a core per process; the nodes take %.1f floors",
			r.Rounds, r.Floor, r.Mean.CPU/r.Floor))
}
