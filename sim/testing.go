package sim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// T is the part of *testing.T that [Test] needs.
type T interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Test tests an application. It runs a campaign, of 200 seeds unless c says otherwise, and
// fails if a promise is broken. It shrinks the failing run, by as many simulated events as
// take some seconds, and prints its faults, one a line, and the stack of a panic. It writes
// the run to a file below testdata/sim, in a directory named after the test. From then on
// the test replays it first.
//
// The test also fails if the same seed gives two different runs, because no failure could
// be replayed.
func Test(t T, c Campaign) {
	t.Helper()
	if c.Play != nil {
		t.Fatalf("sim: Test plays seeds with Run only")
		return
	}
	if c.Seeds == 0 && c.Time == 0 {
		c.Seeds = testSeeds
	}
	if c.First == 0 {
		c.First = 1
	}
	dir := filepath.Join("testdata", "sim", fileName(t.Name()))
	if err := replay(dir, &c); err != nil {
		t.Fatalf("%v", err)
		return
	}
	if err := checkRepeatable(&c); err != nil {
		t.Fatalf("%v", err)
		return
	}
	tally, v, err := c.Run(context.Background())
	if err != nil {
		t.Fatalf("%v", err)
		return
	}
	if v != nil {
		t.Fatalf("%s", explain(dir, &c, v))
		return
	}
	t.Logf("sim: %d seeds, %.0f simulated seconds, %d events, hash %s", tally.Seeds, tally.SimulatedSeconds, tally.Events, tally.Hash)
}

const (
	testSeeds = 200

	// The search for a smaller case is bounded by what it simulates, so that fast and slow
	// machines keep the same case.
	shrinkEvents = 5_000_000
	leastShrinks = 20 // however many events a run has
)

// shrinksOf returns how often a case may run while it is shrunk.
func shrinksOf(c *Case) (int, error) {
	r, err := c.Run()
	return int(min(max(shrinkEvents/max(r.Events, 1), leastShrinks), defaultShrinkRuns)), err
}

// replay runs the cases in a directory. Its error describes the first one that fails.
func replay(dir string, c *Campaign) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	for _, name := range files { // in the order of their names
		k, err := readCaseFile(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		opt := c.optionsOf(k.Seed)
		k.Options.App, k.Options.Bare, k.Options.Trace = opt.App, opt.Bare, opt.Trace
		r, err := k.Run()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if r.Violation != nil {
			return fmt.Errorf("sim: the kept case %s fails: %w\n%s", name, r.Violation, k.text())
		}
	}
	return nil
}

func readCaseFile(name string) (Case, error) {
	f, err := os.Open(name)
	if err != nil {
		return Case{}, err
	}
	defer f.Close()
	return ReadCase(f)
}

var errNotRepeated = errors.New("the application does not do the same twice: does it look at another clock, " +
	"use other randomness than Node.Random, start goroutines, go through a map, or keep something that worlds share?")

// checkRepeatable runs the first seed twice.
func checkRepeatable(c *Campaign) error {
	var hash [2]uint64
	for i := range hash {
		opt := c.optionsOf(c.First)
		opt.Trace = nil
		r, err := Run(c.First, opt)
		if err != nil {
			return err
		}
		hash[i] = r.Hash
	}
	if hash[0] != hash[1] {
		return fmt.Errorf("sim: seed %d gives two runs, with hashes %016x and %016x: %w", c.First, hash[0], hash[1], errNotRepeated)
	}
	return nil
}

// explain shrinks a failure, writes it to a file, and describes it.
func explain(dir string, c *Campaign, v *Violation) string {
	opt := c.optionsOf(v.Seed)
	opt.Trace = nil
	k, err := CaseOf(v.Seed, opt)
	if err != nil {
		return fmt.Sprintf("sim: %v\n(%v)", v, err)
	}
	before := len(k.Schedule.Faults)
	most, err := shrinksOf(&k)
	if err != nil {
		return fmt.Sprintf("sim: %v\n(%v)", v, err)
	}
	small, runs, err := Shrink(context.Background(), k, ShrinkOptions{MaxRuns: most})
	if errors.Is(err, ErrNoViolation) {
		err = errNotRepeated
	}
	if err != nil {
		return fmt.Sprintf("sim: %v\nRun again, seed %d does not fail so: %v", v, v.Seed, err)
	}
	name, err := writeCaseFile(dir, &small)
	where := fmt.Sprintf("It is kept in %s, and the first thing that this test runs from now on.", name)
	if err != nil {
		where = fmt.Sprintf("It could not be kept: %v.", err)
	}
	return fmt.Sprintf("sim: %v\nShrunk to %d of its %d faults in %d runs: %s\n%s%s", v, len(small.Schedule.Faults), before,
		runs, small.Detail, small.text(), where)
}

// text lists the faults of the case.
func (c *Case) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d nodes, %v, delays %v to %v\n", c.Options.withDefaults().Nodes, c.Options.withDefaults().Duration,
		c.Schedule.Baseline.MinDelay, c.Schedule.Baseline.MaxDelay)
	for i := range c.Schedule.Faults {
		fmt.Fprintf(&b, "    %v\n", c.Schedule.Faults[i])
	}
	return b.String()
}

func writeCaseFile(dir string, c *Case) (name string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	name = filepath.Join(dir, fmt.Sprintf("%s-%d.json", fileName(c.Check), c.Seed))
	f, err := os.Create(name)
	if err != nil {
		return "", err
	}
	return name, errors.Join(c.Write(f), f.Close())
}

// fileName replaces the characters of a name that some file system refuses.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, s)
}
