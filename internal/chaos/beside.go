package chaos

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// BesideOptions are the choices of [Beside]. Those of a run count for our own nodes.
type BesideOptions struct {
	Options
	Trials   int    // of each fault
	Programs string // the directory of etcd and etcdctl
}

// BesideResult is the result of [Beside].
type BesideResult struct {
	Rows []*BesideRow `json:"rows"`
}

// BesideRow is what a system did in all trials of a fault.
type BesideRow struct {
	System string          `json:"system"`
	Fault  Kind            `json:"fault"`
	Next   []time.Duration `json:"next_ns"` // from the fault until another leads
	Both   []time.Duration `json:"both_ns"` // for which two ran and believed to lead
}

func (r *BesideResult) add(system string, k Kind, next int64, both time.Duration) {
	i := slices.IndexFunc(r.Rows, func(x *BesideRow) bool { return x.System == system && x.Fault == k })
	if i < 0 {
		r.Rows, i = append(r.Rows, &BesideRow{System: system, Fault: k}), len(r.Rows)
	}
	r.Rows[i].Next = append(r.Rows[i].Next, time.Duration(next))
	r.Rows[i].Both = append(r.Rows[i].Both, both)
}

// Text writes the result for people.
func (r *BesideResult) Text(w io.Writer) error {
	p := printer{w: w}
	p.line("%-40s %-6s %6s %28s %28s", "system", "fault", "trials", "another leads after (median)", "two believe to lead (most)")
	for _, x := range r.Rows {
		p.line("%-40s %-6s %6d %28v %28v", x.System, x.Fault, len(x.Next), median(x.Next).Round(time.Millisecond), slices.Max(x.Both).Round(100*time.Microsecond))
	}
	return p.err
}

func median(list []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// Check returns an error if the choices make no sense.
func (o *BesideOptions) Check() error {
	if o.Trials < 1 || o.Trials > 50 {
		return fmt.Errorf("--trials %d: it must be 1 to 50", o.Trials)
	}
	return o.Options.Check()
}
