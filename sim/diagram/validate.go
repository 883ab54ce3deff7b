package diagram

import (
	"errors"
	"fmt"
	"time"
)

// validate names the first element or option that cannot be drawn.
func validate(r *Run, o *Options) error {
	if r == nil {
		return errors.New("diagram: no Run")
	}
	for _, check := range []func(*Run, *Options) error{checkOptions, checkNodes, checkMessages, checkBars, checkMarks} {
		if err := check(r, o); err != nil {
			return fmt.Errorf("diagram: %w", err)
		}
	}
	return nil
}

func checkOptions(r *Run, o *Options) error {
	if o.Width != 0 && (o.Width < MinWidth || o.Width > MaxWidth) {
		return fmt.Errorf("Options.Width: %d is not within %d..%d", o.Width, MinWidth, MaxWidth)
	}
	if o.MaxMessages < 0 {
		return fmt.Errorf("Options.MaxMessages: %d is negative", o.MaxMessages)
	}
	if err := checkSpan("Run", r.From, r.To); err != nil {
		return err
	}
	if o.From != 0 || o.To != 0 {
		return checkSpan("Options", o.From, o.To)
	}
	return nil
}

func checkSpan(what string, from, to time.Duration) error {
	if to <= from {
		return fmt.Errorf("%s.To: %v is not after From, %v", what, to, from)
	}
	if from < -MaxTime || to > MaxTime {
		return fmt.Errorf("%s.From, To: %v..%v is not within ±%v", what, from, to, MaxTime)
	}
	return nil
}

func checkNodes(r *Run, _ *Options) error {
	if len(r.Nodes) == 0 || len(r.Nodes) > MaxNodes {
		return fmt.Errorf("Run.Nodes: %d nodes are not within 1..%d", len(r.Nodes), MaxNodes)
	}
	if len(r.IDs) != 0 && len(r.IDs) != len(r.Nodes) {
		return fmt.Errorf("Run.IDs: %d ids for %d nodes", len(r.IDs), len(r.Nodes))
	}
	return nil
}

func checkMessages(r *Run, _ *Options) error {
	for i := range r.Messages {
		m := &r.Messages[i]
		switch {
		case !r.has(m.From):
			return fmt.Errorf("Run.Messages[%d].From: no node %d", i, m.From)
		case !r.has(m.To):
			return fmt.Errorf("Run.Messages[%d].To: no node %d", i, m.To)
		case m.From == m.To:
			return fmt.Errorf("Run.Messages[%d].To: node %d sends to itself", i, m.To)
		case m.Fate < 0 || int(m.Fate) >= len(fateNames):
			return fmt.Errorf("Run.Messages[%d].Fate: no fate %d", i, m.Fate)
		case m.Fate != Lost && m.Arrived < m.Sent:
			return fmt.Errorf("Run.Messages[%d].Arrived: %v is before Sent, %v", i, m.Arrived, m.Sent)
		}
	}
	return nil
}

func checkBars(r *Run, _ *Options) error {
	for i := range r.Bars {
		b := &r.Bars[i]
		switch {
		case !r.has(b.Node):
			return fmt.Errorf("Run.Bars[%d].Node: no node %d", i, b.Node)
		case b.Kind < 0 || int(b.Kind) >= len(barNames):
			return fmt.Errorf("Run.Bars[%d].Kind: no kind %d", i, b.Kind)
		case b.To < b.From:
			return fmt.Errorf("Run.Bars[%d].To: %v is before From, %v", i, b.To, b.From)
		}
	}
	return nil
}

func checkMarks(r *Run, _ *Options) error {
	for i := range r.Marks {
		m := &r.Marks[i]
		switch {
		case m.Node != All && !r.has(m.Node):
			return fmt.Errorf("Run.Marks[%d].Node: no node %d", i, m.Node)
		case m.Kind < 0 || int(m.Kind) >= len(markNames):
			return fmt.Errorf("Run.Marks[%d].Kind: no kind %d", i, m.Kind)
		}
	}
	return nil
}

func (r *Run) has(node int) bool { return node >= 0 && node < len(r.Nodes) }
