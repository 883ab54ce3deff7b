package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

// ClockOptions are the choices of [Clock].
type ClockOptions struct {
	Setup
	Nodes int
	Count int           // number of joins of the followers
	Watch time.Duration // for how long after a join, besides the first second
}

// Check returns an error if the choices make no sense.
func (o *ClockOptions) Check() error {
	return errors.Join(least("nodes", o.Nodes, 2), least("count", o.Count, 1))
}

// ClockResult is the result of [Clock].
type ClockResult struct {
	Head
	Nodes int `json:"nodes"`
	Joins int `json:"joins"` // of all followers
	// First and Later are the deviations that followers claimed in the first
	// second after they joined, and after it.
	First Summary `json:"deviation_first_second"`
	Later Summary `json:"deviation_later"`
	// Error is the distance of the followers' clocks from group time. It is known
	// to about half of Margin.
	Error  Summary `json:"error"`
	Margin Summary `json:"margin"`
	// Close is how long after its join a follower's deviation first was at most
	// 100 µs.
	Close Summary `json:"until_100us"`
	// Wrong counts readings whose interval surely did not contain group time, of
	// Checked ones.
	Wrong   int  `json:"wrong"`
	Checked int  `json:"checked"`
	Unknown int  `json:"unknown"` // readings without any bound, after the join
	Now     Cost `json:"now"`
}

// clockTimes gathers the readings of followers.
type clockTimes struct{ first, later, err, margin, close []time.Duration }

// closeEnough is the deviation that a follower should have soon.
const closeEnough = 100 * time.Microsecond

// closeAim is the deviation that it should have almost always.
const closeAim = 30 * time.Microsecond

// joined is how long a follower has to become that close.
const joined = time.Second

// Clock lets followers join a group repeatedly, and compares their clocks' deviations
// with the truth: on one host, the leader's clock can be read at known instants of the
// shared hardware clock.
func Clock(ctx context.Context, opt ClockOptions) (*ClockResult, error) {
	ctx, cancel := opt.bounded(ctx)
	defer cancel()
	r := &ClockResult{Head: opt.head(ClockKind), Nodes: opt.Nodes}
	g, err := opt.startGroup(ctx, opt.Nodes, nil)
	if err != nil {
		return nil, err
	}
	defer g.stop()
	lead, err := g.calm(ctx)
	if err != nil {
		return nil, err
	}
	answers, err := g.askAll(timed.SetOf(lead), func(timed.NodeID) command {
		return command{Do: doCost, Calls: 200_000}
	})
	if err != nil {
		return nil, err
	}
	r.Now = *answers[lead].Cost
	var t clockTimes
	r.CutShort, err = opt.repeat(ctx, opt.Count, "joins", func() error {
		r.Joins++
		return g.rejoin(ctx, opt.Watch, r, &t)
	})
	if err != nil {
		return nil, err
	}
	r.First, r.Later, r.Close = Summarize(t.first), Summarize(t.later), Summarize(t.close)
	r.Error, r.Margin = Summarize(t.err), Summarize(t.margin)
	r.Aims = []Aim{
		aim("deviation p99 in the first second", micros(r.First.P99), micros(closeAim), "µs"),
		aim("deviation p99 after the first second", micros(r.Later.P99), micros(closeAim), "µs"),
		aim("readings that did not contain the truth", float64(r.Wrong), 0, ""),
		aim("Now(), p50", float64(r.Now.Single.P50), 100, "ns"), aim("Now(), allocations", r.Now.Allocations, 0, ""),
	}
	return r, nil
}

// rejoin restarts all followers and watches their clocks.
func (g *group) rejoin(ctx context.Context, watch time.Duration, r *ClockResult, t *clockTimes) error {
	lead, err := g.calm(ctx)
	if err != nil {
		return err
	}
	followers := g.all.Without(lead)
	for id := range followers.All() {
		g.crash(id)
	}
	for id := range followers.All() {
		if err := g.restart(id); err != nil {
			return err
		}
	}
	all := &timeline{ids: g.all}
	err = g.wait(ctx, splitWait, func() bool {
		n := g.current(g.all)
		lead = n[g.all.Min()].Leader
		return all.led(n) && all.fresh(n)
	})
	if err != nil {
		return err
	}
	followers = g.all.Without(lead)
	since, _ := g.timelineOf(g.all).first(0, all.fresh)
	answers, err := g.askAll(g.all, func(id timed.NodeID) command {
		c := command{Do: doClock, Millis: int((joined + watch) / time.Millisecond), Micros: 2000}
		if id == lead {
			c.Micros = 1000
		}
		return c
	})
	if err != nil {
		return err
	}
	known := newTruth(answers[lead].Samples)
	for id := range followers.All() {
		r.take(answers[id].Samples, known, since, t)
	}
	return nil
}

// take checks the samples of a follower that joined at since.
func (r *ClockResult) take(samples []sample, known truth, since timed.Instant, t *clockTimes) {
	reached := false
	for i := range samples {
		s := &samples[i]
		if s.Leads {
			continue // it is group time now
		}
		if s.Deviation == clocksync.UnknownBound {
			r.Unknown++
			continue
		}
		age := s.Before.Sub(since)
		if age < joined {
			t.first = append(t.first, s.Deviation)
		} else {
			t.later = append(t.later, s.Deviation)
		}
		if s.Deviation <= closeEnough && !reached {
			reached, t.close = true, append(t.close, max(age, 0))
		}
		low, high, ok := known.bounds(s)
		if !ok {
			continue
		}
		r.Checked++
		if s.Time.Sub(high) > s.Deviation || low.Sub(s.Time) > s.Deviation {
			r.Wrong++
		}
		t.err = append(t.err, s.Time.Sub(low+(high-low)/2).Abs())
		t.margin = append(t.margin, high.Sub(low))
	}
}

// Text implements [Result].
func (r *ClockResult) Text(w io.Writer) error {
	return r.text(w, fmt.Sprintf("%d nodes, a process each, timing %s; all followers joined %d times", r.Nodes, r.Preset, r.Joins),
		[][]string{
			summaryHead(""),
			summaryRow(r.First, "deviation, first second"),
			summaryRow(r.Later, "deviation, later"),
			summaryRow(r.Close, "joined → deviation ≤ 100 µs"),
			summaryRow(r.Error, "true error"),
			summaryRow(r.Margin, "truth known to"),
			summaryRow(r.Now.Single, "Now(), one call"),
			summaryRow(r.Now.SingleHardware, "hardware clock, one call"),
		},
		fmt.Sprintf("%d of %d readings did not contain the truth; %d readings without a bound", r.Wrong, r.Checked, r.Unknown),
		fmt.Sprintf("Now(): %.0f ns (%.0f ns of them the hardware clock), %.0f allocations", r.Now.Nanoseconds, r.Now.HardwareClock, r.Now.Allocations))
}
