package main

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/clocktrial"
	"github.com/failaware/failaware/internal/figure"
)

// clockPicture collects the samples of one run: the errors of all nodes, and the bounds
// of the first.
type clockPicture struct {
	trial  *clocktrial.Trial
	errors [][]figure.Point // µs, for each node
	error  []figure.Point   // ms, of node 1
	bound  []figure.Span    // ms, of node 1
}

// clockPoints is the limit of points of a line.
const clockPoints = 500

// take takes a sample at every position of the picture. It leaves out the first minute,
// whose errors are so large that they would hide all others.
func (p *clockPicture) take(s *clocktrial.Sample) {
	every := max(time.Second, p.trial.Length/clockPoints).Truncate(time.Second)
	if s.At <= time.Minute || s.At%every != 0 {
		return
	}
	for len(p.errors) < s.Node {
		p.errors = append(p.errors, nil)
	}
	at := s.At.Minutes()
	p.errors[s.Node-1] = append(p.errors[s.Node-1], figure.Point{X: at, Y: float64(s.Error) / 1e3})
	if s.Node == 1 && s.UTCBound != clocksync.UnknownBound {
		bound := float64(s.UTCBound) / 1e6
		p.error = append(p.error, figure.Point{X: at, Y: float64(s.Error) / 1e6})
		p.bound = append(p.bound, figure.Span{X: at, Low: -bound, High: bound})
	}
}

// write draws into a file.
func (p *clockPicture) write(file string) error {
	const x = "time (min)"
	left := figure.Panel{Title: "error: time shown less UTC", X: x, Y: "µs"}
	for i, points := range p.errors {
		left.Series = append(left.Series, figure.Series{Name: fmt.Sprintf("node %d", i+1), Points: points})
	}
	right := figure.Panel{Title: "error of node 1, within the bound that it claims", X: x, Y: "ms", Series: []figure.Series{{Name: "error", Points: p.error}},
		Bands: []figure.Band{{Name: "±UTCBound", Points: p.bound, Colour: 2}}}
	f := figure.Figure{Title: "UTC in the simulator: " + p.trial.Name, Panels: []figure.Panel{left, right},
		Notes: []string{p.trial.About, "failaware-lab sim clocks --scenario " + p.trial.Name + " --plot; seed 1, from the second minute on"}}
	if err := writeFile(file, f.Render); err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	return nil
}
