package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/failaware/failaware/internal/figure"
)

// NamedFigure is a figure and the name of the file to write it to, without the
// ending.
type NamedFigure struct {
	Name   string
	Figure *figure.Figure
}

// Figures returns the pictures of a result in JSON, the output of the benchmarks.
func Figures(result []byte) ([]NamedFigure, error) {
	var head struct {
		Kind Kind `json:"benchmark"`
	}
	if err := json.Unmarshal(result, &head); err != nil {
		return nil, fmt.Errorf("not a benchmark's result in JSON: %w", err)
	}
	switch head.Kind {
	case ElectionKind:
		return read(result, (*ElectionResult).figures)
	case SplitKind:
		return read(result, (*SplitResult).figures)
	case CollationKind:
		return read(result, (*CollationResult).figures)
	case "":
		return nil, errors.New(`no "benchmark" in it: it is no result from which pictures are drawn`)
	}
	return nil, fmt.Errorf("no pictures are drawn of benchmark %q", head.Kind)
}

func read[R any](result []byte, draw func(*R) ([]NamedFigure, error)) ([]NamedFigure, error) {
	r := new(R)
	if err := json.Unmarshal(result, r); err != nil {
		return nil, fmt.Errorf("not a result of this version's benchmarks: %w", err)
	}
	return draw(r)
}

// density returns a histogram as samples per unit of time, so that histograms of
// different widths compare.
func (h *Histogram) density(unit time.Duration) []figure.Point {
	points := make([]figure.Point, 0, len(h.Counts)+1)
	perUnit := float64(unit) / float64(h.Width)
	for i, n := range h.Counts {
		x := float64(h.From+time.Duration(i)*h.Width) / float64(unit)
		points = append(points, figure.Point{X: x, Y: float64(n) * perUnit})
	}
	end := float64(h.From+time.Duration(len(h.Counts))*h.Width) / float64(unit)
	return append(points, figure.Point{X: end})
}

// densityOfLog is the density over the logarithm of time: samples per per cent of the
// time. On a logarithmic axis, equal areas are equal numbers of samples.
func (h *Histogram) densityOfLog(unit time.Duration) []figure.Point {
	points := h.density(unit)
	for i := range points {
		middle := points[i].X + float64(h.Width)/float64(unit)/2
		points[i].Y *= middle / 100
	}
	return points
}

// cumulated returns the share of samples up to the end of each bin.
func (h *Histogram) cumulated(unit time.Duration) []figure.Point {
	all := h.Beyond
	for _, n := range h.Counts {
		all += n
	}
	points, sum := []figure.Point{{X: float64(h.From) / float64(unit)}}, 0
	for i, n := range h.Counts {
		sum += n
		points = append(points, figure.Point{X: float64(h.From+time.Duration(i+1)*h.Width) / float64(unit), Y: 100 * float64(sum) / float64(all)})
	}
	return points
}

// spectral are colours of the palette in the order of the rainbow, for series
// that have an order.
var spectral = [...]int{1, 6, 3, 7, 2, 5, 4, 8}

// figures draws the distribution of election times for each size, their mean and 99th
// percentile over the sizes (Fetzer & Cristian, figures 25 and 26), and the effect of
// collation.
func (r *ElectionResult) figures() ([]NamedFigure, error) {
	dist := figure.Panel{Title: "how many", X: "election time (µs)", Y: "elections per 1 % of the time", LogX: true}
	share := figure.Panel{Title: "how many within a time", X: "election time (µs)", Y: "elections (%)", LogX: true}
	mean, p99, floor := figure.Series{Name: "mean", Dots: true}, figure.Series{Name: "99th percentile", Dots: true},
		figure.Series{Name: "scatter and gather without a protocol, mean", Dots: true, Dashed: true}
	count := 0
	for i := range r.Sizes {
		s := &r.Sizes[i]
		if s.Election.Count == 0 {
			continue
		}
		count = max(count, s.Election.Count)
		n := float64(s.Nodes)
		mean.Points = append(mean.Points, figure.Point{X: n, Y: micros(s.Election.Mean)})
		p99.Points = append(p99.Points, figure.Point{X: n, Y: micros(s.Election.P99)})
		if s.Floor.Count > 0 {
			floor.Points = append(floor.Points, figure.Point{X: n, Y: micros(s.Floor.Mean)})
		}
		if s.Nodes > 1 { // a single node waits for nothing: a needle at 0
			colour := spectral[len(dist.Series)%len(spectral)]
			dist.Series = append(dist.Series, figure.Series{Name: fmt.Sprintf("%d processes", s.Nodes),
				Points: s.Distribution.densityOfLog(time.Microsecond), Steps: true, Colour: colour})
			share.Series = append(share.Series, figure.Series{Points: s.Distribution.cumulated(time.Microsecond), Colour: colour})
		}
	}
	if len(dist.Series) == 0 {
		return nil, errors.New("the result has no elections of two processes or more")
	}
	means := figure.Panel{X: "processes", Y: "time (µs)", Series: []figure.Series{mean, p99}}
	if len(floor.Points) > 0 {
		means.Series = append(means.Series, floor)
	}
	notes := []string{fmt.Sprintf("%d elections for each number of processes, UDP on loopback; the slowest 1 %% are not drawn", count), r.Machine.String()}
	var figures []NamedFigure
	if len(r.Sizes) > 1 {
		figures = []NamedFigure{
			{"election-times", &figure.Figure{Title: "Distribution of election times", Notes: notes, Panels: []figure.Panel{dist, share}}},
			{"election-means", &figure.Figure{Title: "Election time by the number of processes", Notes: notes, Panels: []figure.Panel{means}}},
		}
	}
	for i := range r.Sizes {
		if s := &r.Sizes[i]; s.Collated.Count > 0 {
			figures = append(figures, s.collatedFigure(&r.Machine))
		}
	}
	if len(figures) == 0 {
		return nil, errors.New("the result has elections of one size only, and no collated replies to compare them with")
	}
	return figures, nil
}

// collatedFigure draws the times of elections with direct and with collated replies
// (Fetzer & Cristian, figure 29).
func (s *ElectionSize) collatedFigure(m *Machine) NamedFigure {
	line := func(name string, h *Histogram) figure.Series {
		return figure.Series{Name: name, Points: h.density(time.Microsecond), Steps: true}
	}
	return NamedFigure{fmt.Sprintf("election-collated-%d", s.Nodes), &figure.Figure{Title: fmt.Sprintf("Direct and collated replies, %d processes", s.Nodes),
		Notes: []string{fmt.Sprintf("%d elections each, UDP on loopback; the slowest 1 %% are not drawn", s.Collated.Count), m.String()},
		Panels: []figure.Panel{{X: "election time (µs)", Y: "elections per µs",
			Series: []figure.Series{line("direct", &s.Distribution), line("collated", &s.CollatedDistribution)}}}}}
}

// figures draws the distributions of the times until a split is noticed and until
// both halves are led (Fetzer & Cristian, figure 27).
func (r *SplitResult) figures() ([]NamedFigure, error) {
	if r.Notice.Count == 0 {
		return nil, errors.New("the result has no splits")
	}
	panel := func(title string, h *Histogram) figure.Panel {
		return figure.Panel{Title: title, X: "time since the cut (ms)", Y: "splits per ms",
			Series: []figure.Series{{Points: h.density(time.Millisecond), Steps: true}}}
	}
	notes := []string{fmt.Sprintf("%d splits of %d nodes into %d and %d, preset %s, UDP on loopback, a process for each node",
		r.Notice.Count, r.Nodes, r.Halves[0], r.Halves[1], r.Preset), r.Machine.String()}
	return []NamedFigure{{"split-times", &figure.Figure{Title: "After a split", Notes: notes, Panels: []figure.Panel{
		panel("exclusion: no node counts the other side as alive", &r.NoticeDistribution),
		panel("election: each side has a leader that all its nodes follow", &r.ElectedDistribution),
	}}}}, nil
}

// figures draws the cost and the duration of a renewal with direct and with collated
// replies (Fetzer & Cristian, figure 29, for larger groups).
func (r *CollationResult) figures() ([]NamedFigure, error) {
	type line = func(*CollationCost) float64
	panel := func(title, y string, what line) figure.Panel {
		p := figure.Panel{Title: title, X: "nodes", Y: y}
		for i, way := range []struct {
			name string
			of   func(*CollationSize) *CollationCost
		}{{"direct", func(s *CollationSize) *CollationCost { return &s.Direct }},
			{"collated", func(s *CollationSize) *CollationCost { return &s.Collated }}} {
			series := figure.Series{Name: way.name, Dots: true, Colour: i + 1}
			for j := range r.Sizes {
				if v := what(way.of(&r.Sizes[j])); v > 0 {
					series.Points = append(series.Points, figure.Point{X: float64(r.Sizes[j].Nodes), Y: v})
				}
			}
			if len(series.Points) > 0 {
				p.Series = append(p.Series, series)
			}
		}
		return p
	}
	if len(r.Sizes) == 0 {
		return nil, errors.New("the result has no groups")
	}
	notes := []string{fmt.Sprintf("simulated network, preset %s, delays of %g to %g µs, replies collated along a tree with %d children",
		r.Preset, r.DelayUS/5, r.DelayUS, r.Fanout), r.Machine.String()}
	return []NamedFigure{{"collation", &figure.Figure{Title: "Direct and collated replies: a renewal of the lease", Notes: notes, Panels: []figure.Panel{
		panel("packets that the leader gets", "packets", func(c *CollationCost) float64 { return c.Received }),
		panel("processor time of the leader for them", "time (µs)", func(c *CollationCost) float64 { return c.CPU }),
		panel("time until all have voted, 99th percentile", "time (µs)", func(c *CollationCost) float64 { return micros(c.Round.P99) }),
	}}}}, nil
}
