package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/failaware/failaware/timed"
)

// Setup is the common part of the options of all benchmarks.
type Setup struct {
	Preset string // the name of Timing
	Timing timed.Timing
	// Keys makes the nodes seal their packets.
	Keys bool
	// Limit is the longest time to take. The result covers the time until then.
	Limit time.Duration
	// Launch starts children. Only [Election] can do without processes.
	Launch Launcher
	// Progress, if not nil, is called with messages about the progress.
	Progress func(format string, args ...any)
}

// Common returns s.
func (s *Setup) Common() *Setup { return s }

func (s *Setup) progress(format string, args ...any) {
	if s.Progress != nil {
		s.Progress(format, args...)
	}
}

var errLimit = errors.New("the time is up")

// bounded returns a context that ends with the limit.
func (s *Setup) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, s.Limit, errLimit)
}

// head returns the beginning of a result. It describes the machine before the benchmark
// loads it.
func (s *Setup) head(kind Kind) Head {
	return Head{Kind: kind, Machine: ThisMachine(), Preset: s.Preset, Keys: s.Keys}
}

// startGroup starts a group of complete nodes as processes. It first calls change, if not
// nil, with the group.
func (s *Setup) startGroup(ctx context.Context, nodes int, change func(*group)) (*group, error) {
	if s.Launch == nil {
		return nil, errors.New("bench: the nodes must be processes")
	}
	g, err := newGroup(s.Launch, nodes, s.Timing)
	if err != nil {
		return nil, err
	}
	if s.Keys {
		g.key = newKey()
	}
	if change != nil {
		change(g)
	}
	if err := g.startAll(ctx); err != nil {
		g.stop()
		return nil, err
	}
	return g, nil
}

// repeat makes trials, count or as many as there are before the end of ctx. cut
// reports whether there were fewer. It returns no error of a trial that the end of ctx broke
// off, unless that was the first.
func (s *Setup) repeat(ctx context.Context, count int, what string, trial func() error) (cut bool, err error) {
	told := time.Time{}
	for i := range count {
		if i > 0 && ctx.Err() != nil {
			return true, nil
		}
		if err := trial(); err != nil {
			if i > 0 && ctx.Err() != nil {
				return true, nil
			}
			return false, err
		}
		if time.Since(told) > time.Second {
			told = time.Now()
			s.progress("%d of %d %s", i+1, count, what)
		}
	}
	return false, nil
}

// least returns an error if a flag's value is too small.
func least(flag string, value, least int) error {
	if value < least {
		return fmt.Errorf("--%s %d: at least %d is needed", flag, value, least)
	}
	return nil
}

// within returns an error if a flag's value is outside a range.
func within[N int | time.Duration](flag string, value, low, high N) error {
	if value < low || value > high {
		return fmt.Errorf("--%s %v: it must be %v to %v", flag, value, low, high)
	}
	return nil
}
