package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/sim"
)

// simRun is one call of the simulator's command.
type simRun struct {
	flags  *simFlags
	opt    sim.Options
	output cli.Format
	in     io.Reader
	out    io.Writer
	err    io.Writer
	label  string   // of lines of progress
	report *os.File // nil: none
	began  time.Time
	took   time.Duration // for the runs, without shrinking and drawing

	result simResult
	broken *sim.Violation
	found  *sim.Case // the failing or the requested case; nil: none
}

// simResult is the JSON form of the result.
type simResult struct {
	sim.Tally
	Violation *simViolation `json:"violation,omitempty"`
	Shrunk    *simShrunk    `json:"shrunk,omitempty"`
	Case      string        `json:"case,omitempty"`    // file
	Diagram   string        `json:"diagram,omitempty"` // file
}

// simViolation is a broken promise.
type simViolation struct {
	Seed   uint64  `json:"seed"`
	Check  string  `json:"check"`
	Node   int     `json:"node"`
	AtMS   float64 `json:"at_ms"` // true time
	Detail string  `json:"detail"`
	Again  string  `json:"again"` // the command that runs it again
}

// open checks and opens the output files before anything runs.
func (s *simRun) open() (err error) {
	f := s.flags
	if err := mayBeNew("--save", f.save); err != nil {
		return err
	}
	if err := hasDirectory("--diagram", f.diagram); err != nil {
		return err
	}
	if f.report != "" {
		s.report, err = openReport(f.report)
	}
	return err
}

// openReport opens the file of --report.
func openReport(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("--report: %w", err)
	}
	return file, nil
}

func (s *simRun) close() {
	if s.report != nil {
		_ = s.report.Close()
	}
}

// errViolation ends a campaign that found a violation: exit code 1.
var errViolation = errors.New("a promise was broken")

func (s *simRun) run(ctx context.Context) error {
	s.err = &lockedWriter{w: s.err}
	ctx, stop := interruptible(ctx, s.err)
	defer stop()
	problem, err := s.perform(ctx)
	if err != nil {
		return err
	}
	if err := s.print(); err != nil {
		return err
	}
	return s.verdict(problem)
}

// perform performs the runs and the flags' tasks after them. The problem is an error
// after the runs; err means that there are no results.
func (s *simRun) perform(ctx context.Context) (problem, err error) {
	s.began = time.Now()
	runs := s.campaign
	if s.flags.one() && s.flags.plays() == nil {
		runs = s.single
	}
	if err := runs(ctx); err != nil {
		return nil, err
	}
	s.took = time.Since(s.began)
	s.tellViolation()
	problem = errors.Join(s.small(ctx), s.draw(ctx))
	if s.report != nil {
		problem = errors.Join(problem, s.appendReport(time.Now()))
	}
	return problem, nil
}

// verdict returns the error for the exit code.
func (s *simRun) verdict(problem error) error {
	missing := s.flags.requireCoverage && len(s.result.Never) > 0
	if missing {
		for _, what := range s.result.Never {
			fmt.Fprintf(s.err, "failaware-lab: --require-coverage: never reached: %s\n", what)
		}
	}
	switch {
	case problem != nil:
		return cli.No(problem)
	case s.broken != nil:
		return cli.Printed(errViolation)
	case s.result.Interrupted:
		return cli.Printed(context.Canceled)
	case missing:
		return cli.Printed(cli.ErrNo)
	}
	return nil
}

// interruptible returns a context that the first signal ends, which it says. The second
// signal ends the program. The function that it returns waits until all is said: what was
// interrupted may end at once, and the program with it.
func interruptible(ctx context.Context, stderr io.Writer) (context.Context, func()) {
	ctx, restore := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	said := make(chan struct{})
	forget := context.AfterFunc(ctx, func() {
		defer close(said)
		restore()
		fmt.Fprintln(stderr, "failaware-lab: interrupted: the results so far follow, if there are any; interrupt again to end at once")
	})
	return ctx, func() {
		if !forget() {
			<-said
		}
		restore()
	}
}

// lockedWriter is a writer for concurrent use.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// tellViolation prints the broken promise and the command that runs it again.
func (s *simRun) tellViolation() {
	v := s.broken
	if v == nil {
		return
	}
	again := s.flags.again(v.Seed)
	if s.flags.replay != "" {
		again = "failaware-lab sim --trace --replay " + s.flags.replay
	}
	s.result.Violation = &simViolation{Seed: v.Seed, Check: v.Check, Node: int(v.Node), AtMS: float64(v.At.Microseconds()) / 1000,
		Detail: v.Detail, Again: again}
	fmt.Fprintf(s.err, "failaware-lab: %v\nreplay: %s\n", v, again)
}
