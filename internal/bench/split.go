package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/failaware/failaware/timed"
)

// SplitOptions are the choices of [Split].
type SplitOptions struct {
	Setup
	Nodes int
	Count int // number of splits and merges
}

// Check returns an error if the choices make no sense.
func (o *SplitOptions) Check() error {
	return errors.Join(least("nodes", o.Nodes, 2), least("count", o.Count, 1))
}

// SplitResult is the result of [Split].
type SplitResult struct {
	Head
	Nodes  int    `json:"nodes"`
	Halves [2]int `json:"halves"`
	// Notice: from the first node's cut until no node counts a node of the other half
	// as alive.
	Notice             Summary   `json:"notice"`
	NoticeDistribution Histogram `json:"notice_distribution"`
	// Elected: until each half has a leader that all its nodes follow.
	Elected             Summary   `json:"elected"`
	ElectedDistribution Histogram `json:"elected_distribution"`
	// HalvesFresh: until each half has a leader of all its nodes, and all its
	// nodes hold one fresh view of just them.
	HalvesFresh Summary `json:"halves_fresh"`
	// Merged: from the first node's healing until all nodes hold one fresh view
	// of all.
	Merged Summary `json:"merged"`
	// StaleSplit and StaleMerge: the time for which a node's view was not up to
	// date; the longest of all nodes.
	StaleSplit Summary `json:"stale_split"`
	StaleMerge Summary `json:"stale_merge"`
	// CutSkew: from the first node's cut to the last one's.
	CutSkew Summary `json:"cut_skew"`
	Failed  int     `json:"failed"`
}

// splitTimes gathers trials.
type splitTimes struct {
	notice, elected, halves, merged, staleSplit, staleMerge, skew []time.Duration
}

// splitWait is the time limit for a split group, or a healed one, to become fresh.
const splitWait = 15 * time.Second

// Split cuts a group in two halves by filters at the sockets, in the kernel, and
// heals it again.
func Split(ctx context.Context, opt SplitOptions) (*SplitResult, error) {
	ctx, cancel := opt.bounded(ctx)
	defer cancel()
	r := &SplitResult{Head: opt.head(SplitKind), Nodes: opt.Nodes, Halves: [2]int{opt.Nodes - opt.Nodes/2, opt.Nodes / 2}}
	g, err := opt.startGroup(ctx, opt.Nodes, nil)
	if err != nil {
		return nil, err
	}
	defer g.stop()
	var t splitTimes
	r.CutShort, err = opt.repeat(ctx, opt.Count, "splits", func() error {
		err := g.split(ctx, &t)
		if errors.Is(err, errPatience) {
			r.Failed++
			err = g.heal()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	r.Notice, r.Elected = Summarize(t.notice), Summarize(t.elected)
	r.NoticeDistribution, r.ElectedDistribution = histogram(t.notice), histogram(t.elected)
	r.HalvesFresh, r.Merged = Summarize(t.halves), Summarize(t.merged)
	r.StaleSplit, r.StaleMerge, r.CutSkew = Summarize(t.staleSplit), Summarize(t.staleMerge), Summarize(t.skew)
	if opt.Timing == timed.LAN() && r.Merged.Count > 0 {
		r.Aims = []Aim{aimMillis("notice, p50", r.Notice.P50, 150*time.Millisecond),
			aimMillis("merge, p50", r.Merged.P50, 250*time.Millisecond)}
	}
	return r, nil
}

// split cuts and heals the group once.
func (g *group) split(ctx context.Context, t *splitTimes) error {
	if _, err := g.calm(ctx); err != nil {
		return err
	}
	halves := g.halves()
	cut, last, err := g.cut(halves)
	if err != nil {
		return err
	}
	lines := [2]*timeline{{ids: halves[0]}, {ids: halves[1]}}
	apart := func(n *now) bool {
		for _, l := range lines {
			for id := range l.ids.All() {
				if !n[id].Alive.Subset(l.ids) {
					return false
				}
			}
		}
		return true
	}
	led := func(n *now) bool { return lines[0].led(n) && lines[1].led(n) }
	settled := func(n *now) bool { return led(n) && lines[0].fresh(n) && lines[1].fresh(n) }
	err = g.wait(ctx, splitWait, func() bool {
		n := g.current(g.all)
		return apart(n) && settled(n)
	})
	if err != nil {
		return err
	}
	all := g.timelineOf(g.all)
	noticed, _ := all.first(cut, apart)
	elected, _ := all.first(cut, led)
	fresh, _ := all.first(cut, settled)
	staleSplit := all.longestStale(cut, fresh)

	time.Sleep(4*g.timing.ElectionPeriod + rand.N(2*g.timing.ElectionPeriod))
	g.forget()
	healed, _, err := g.cut([2]timed.Set{})
	if err != nil {
		return err
	}
	if err := g.wait(ctx, splitWait, func() bool { return all.led(g.current(g.all)) && all.fresh(g.current(g.all)) }); err != nil {
		return err
	}
	all = g.timelineOf(g.all)
	merged, _ := all.first(healed, all.fresh)
	t.skew = append(t.skew, last.Sub(cut))
	t.notice = append(t.notice, noticed.Sub(cut))
	t.elected = append(t.elected, elected.Sub(cut))
	t.halves = append(t.halves, fresh.Sub(cut))
	t.staleSplit = append(t.staleSplit, staleSplit)
	t.merged = append(t.merged, merged.Sub(healed))
	t.staleMerge = append(t.staleMerge, all.longestStale(healed, merged))
	return nil
}

// halves divides the nodes at random.
func (g *group) halves() (h [2]timed.Set) {
	rest := g.all
	for h[0].Len() < g.all.Len()-g.all.Len()/2 {
		id := pick(rest)
		rest.Remove(id)
		h[0].Add(id)
	}
	h[1] = rest
	return h
}

// cut separates two halves, or heals the group if they are empty. It returns the
// instants at which the first and the last node began the change.
func (g *group) cut(halves [2]timed.Set) (first, last timed.Instant, err error) {
	answers, err := g.askAll(g.all, func(id timed.NodeID) command {
		other := halves[0]
		if halves[0].Has(id) {
			other = halves[1]
		}
		c := command{Do: doCut}
		for far := range other.All() {
			c.Ports = append(c.Ports, g.port(far))
		}
		return c
	})
	if err != nil {
		return 0, 0, err
	}
	first = timed.Never
	for _, a := range answers {
		first, last = timed.Earlier(first, a.At), timed.Later(last, a.At)
	}
	return first, last, nil
}

// heal connects all nodes again.
func (g *group) heal() error {
	_, _, err := g.cut([2]timed.Set{})
	return err
}

// Text implements [Result].
func (r *SplitResult) Text(w io.Writer) error {
	var more []string
	if r.Failed > 0 {
		more = append(more, fmt.Sprintf("%d trials failed: not fresh within %v", r.Failed, splitWait))
	}
	return r.text(w, fmt.Sprintf("%d nodes, a process each, timing %s; cut %d/%d in the kernel, at the sockets", r.Nodes, r.Preset, r.Halves[0], r.Halves[1]),
		[][]string{
			summaryHead(""),
			summaryRow(r.Notice, "cut → all notice"),
			summaryRow(r.Elected, "cut → both halves led"),
			summaryRow(r.HalvesFresh, "cut → both halves led and fresh"),
			summaryRow(r.StaleSplit, "view stale after the cut"),
			summaryRow(r.Merged, "healed → one fresh view of all"),
			summaryRow(r.StaleMerge, "view stale after healing"),
			summaryRow(r.CutSkew, "first → last node's cut"),
		}, more...)
}
