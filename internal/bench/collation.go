package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// CollationOptions are the choices of [Collation].
type CollationOptions struct {
	Setup
	Nodes    []int
	Fanout   int
	Delay    time.Duration // the longest of a packet; the shortest is a fifth of it
	Renewals int
	Crashes  int
}

// Check returns an error if the choices make no sense.
func (o *CollationOptions) Check() error {
	errs := []error{least("rounds", o.Renewals, 1), least("crashes", o.Crashes, 0), within("k", o.Fanout, leader.MinFanout, leader.MaxFanout),
		within("delay", o.Delay, 5*timed.MinDuration, min(o.Timing.OneWayTimeout, 5*o.Timing.SchedulingDelay))}
	for _, n := range o.Nodes {
		errs = append(errs, within("nodes", n, 3, timed.MaxNodes))
	}
	return errors.Join(errs...)
}

// CollationResult is the result of [Collation].
type CollationResult struct {
	Head
	Fanout  int             `json:"fanout"`
	DelayUS float64         `json:"delay_us"`
	Sizes   []CollationSize `json:"sizes"`
}

// CollationSize is one size of the group, with direct and with collated replies.
type CollationSize struct {
	Nodes    int           `json:"nodes"`
	Direct   CollationCost `json:"direct"`
	Collated CollationCost `json:"collated"`
}

// CollationCost is the cost of a renewal of the lease.
type CollationCost struct {
	Received  float64 `json:"leader_received"`   // packets
	Sent      float64 `json:"leader_sent"`       // packets
	CPU       float64 `json:"leader_receive_us"` // to decode and handle these packets
	Answers   float64 `json:"group_answers"`     // packets with replies, on all hops
	Group     float64 `json:"group_sent"`        // all packets, keepalives included
	Round     Summary `json:"round"`
	Elections Summary `json:"elections"` // after the crash of a leader of a group at rest
	Returns   Summary `json:"returns"`   // after that of one that a node has just come back to
}

// Collation measures elections of simulated groups, with all replies sent to the
// leader and with replies collated along a tree.
func Collation(ctx context.Context, opt CollationOptions) (*CollationResult, error) {
	ctx, cancel := opt.bounded(ctx)
	defer cancel()
	r := &CollationResult{Head: opt.head(CollationKind), Fanout: opt.Fanout, DelayUS: micros(opt.Delay)}
	for _, n := range opt.Nodes {
		size := CollationSize{Nodes: n}
		for _, c := range []struct {
			cost *CollationCost
			leader.Collation
		}{{&size.Direct, leader.Collation{}}, {&size.Collated, leader.Collation{Above: opt.Fanout + 1, Fanout: opt.Fanout}}} {
			opt.progress("%d nodes, collation above %d", n, c.Above)
			world := sim.Options{Nodes: n, Timing: opt.Timing, Collation: c.Collation}
			weather := fault.Baseline{MinDelay: opt.Delay / 5, MaxDelay: opt.Delay, Lateness: opt.Delay / 5}
			m, err := sim.MeasureRounds(ctx, 1, world, weather, opt.Renewals, opt.Crashes)
			if ctx.Err() != nil {
				r.CutShort = true
				r.judge()
				return r, nil
			}
			if err != nil {
				return nil, fmt.Errorf("bench: %d nodes: %w", n, err)
			}
			*c.cost = CollationCost{Received: m.Received, Sent: m.Sent, CPU: micros(m.Receive), Answers: m.Answers,
				Group: m.Group, Round: Summarize(m.Times), Elections: Summarize(m.Elections), Returns: Summarize(m.Returns)}
		}
		r.Sizes = append(r.Sizes, size)
	}
	r.judge()
	return r, nil
}

// judge compares the result with the aims.
func (r *CollationResult) judge() {
	var small *CollationSize
	for i := range r.Sizes {
		s := &r.Sizes[i]
		if s.Nodes == 8 {
			small = s
		}
		if s.Nodes >= 32 {
			limit := 1.0
			if s.Nodes >= 128 {
				limit = 0.5
			}
			name := fmt.Sprintf("at %d nodes, collated to direct: ", s.Nodes)
			r.Aims = append(r.Aims, aim(name+"packets to the leader", s.Collated.Received/s.Direct.Received, limit, "×"),
				aim(name+"its time to receive them", s.Collated.CPU/s.Direct.CPU, limit, "×"))
		}
		if s.Nodes == 128 && small != nil && small.Collated.Elections.Count > 0 {
			r.Aims = append(r.Aims, aim("election after a crash, p99 at 128 nodes to that at 8",
				float64(s.Collated.Elections.P99)/float64(small.Collated.Elections.P99), 2, "×"))
		}
	}
}

// Text implements [Result].
func (r *CollationResult) Text(w io.Writer) error {
	rows := [][]string{{"nodes", "replies", "to leader", "from leader", "receiving", "answers", "all packets", "round p50", "p99", "crash p50", "p99", "after a return p50", "p99"}}
	for i := range r.Sizes {
		s := &r.Sizes[i]
		rows = append(rows, s.Direct.row(s.Nodes, "direct"), s.Collated.row(s.Nodes, "collated"))
	}
	return r.text(w, fmt.Sprintf("simulated, preset %s, delays up to %v, trees of %d; per renewal of the leader's lease", r.Preset,
		time.Duration(r.DelayUS*float64(time.Microsecond)), r.Fanout), rows)
}

func (c *CollationCost) row(nodes int, how string) []string {
	crashes := []string{"-", "-", "-", "-"}
	if c.Elections.Count > 0 {
		crashes = []string{show(c.Elections.P50), show(c.Elections.P99), show(c.Returns.P50), show(c.Returns.P99)}
	}
	row := []string{fmt.Sprint(nodes), how, fmt.Sprintf("%.1f", c.Received), fmt.Sprintf("%.1f", c.Sent), fmt.Sprintf("%.1fµs", c.CPU),
		fmt.Sprintf("%.1f", c.Answers), fmt.Sprintf("%.0f", c.Group), show(c.Round.P50), show(c.Round.P99)}
	return append(row, crashes...)
}
