package sim

import (
	"context"
	"crypto/sha256"
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
// take some seconds, and prints its faults, one a line, and the application's part of the
// stack of a panic. It writes the run to a file below testdata/sim, in a directory named after
// the test. From then on the test replays it first, with the options of its day: the error of a
// kept case names those that have changed since.
//
// The test also fails if the same seed gives two different runs, because no failure could
// be replayed. A run that ends its goroutine, as t.FailNow does, is kept as it is. Mistakes of
// the test itself, such as an invariant that changes the world, are not kept.
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
	dirs := dirsOf(t.Name())
	for i, dir := range dirs {
		if err := replay(dir, &c); err != nil {
			text := err.Error()
			if i > 0 {
				text += fmt.Sprintf("\nTests with similar names share this directory. Move the file to %s if it is of this test.", dirs[0])
			}
			t.Fatalf("%s", text)
			return
		}
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
		t.Fatalf("%s", explain(dirs[0], &c, v))
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
		k.Options.App, k.Options.Bare, k.Options.Trace, k.Options.contained = opt.App, opt.Bare, opt.Trace, true
		r, err := k.Run()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if r.Violation != nil {
			return fmt.Errorf("sim: the kept case %s fails: %w\n%s%s", name, r.Violation, k.text(), changedText(&k, opt))
		}
	}
	return nil
}

// changedText says which options a test has changed since a case of it was kept, or nothing.
func changedText(k *Case, now Options) string {
	changed := k.changedOptions(now)
	if len(changed) == 0 {
		return ""
	}
	return fmt.Sprintf("It was kept when the test had other options: %s. If they are why it fails, delete the file; "+
		"what fails with the present options is kept anew.\n", strings.Join(changed, ", "))
}

// changedOptions names the options of a test that differ from those of the case, except for those
// that shrinking changes.
func (c *Case) changedOptions(now Options) (names []string) {
	was, now := c.Options.withDefaults(), now.withDefaults()
	byEpochs := func(o *Options) bool { return o.Broadcast != nil && o.Broadcast.ByEpochs }
	for _, o := range []struct {
		name    string
		changed bool
	}{
		{"Broadcast", (was.Broadcast == nil) != (now.Broadcast == nil)},
		{"Broadcast.ByEpochs", byEpochs(&was) != byEpochs(&now)},
		{"Timing", was.Timing != now.Timing},
		{"Mode", was.Mode != now.Mode},
		{"RankBy", was.RankBy != now.RankBy},
		{"Collation", was.Collation != now.Collation},
		{"Nodes", was.Nodes > now.Nodes},
		{"Quorum", was.Quorum != now.Quorum},
		{"Epochs", was.Epochs != now.Epochs},
		{"BrokenClocks", was.BrokenClocks != now.BrokenClocks},
		{"Unequal", was.Unequal != now.Unequal},
		{"Restless", was.Restless != now.Restless},
		{"Preempted", was.Preempted != now.Preempted},
		{"Resolution", was.Resolution != now.Resolution},
	} {
		if o.changed {
			names = append(names, o.name)
		}
	}
	return names
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
		opt.Trace, opt.contained = nil, true
		r, err := Run(c.First, opt)
		if err != nil {
			return err
		}
		if r.Violation != nil && r.Violation.exited {
			return nil // the campaign says so
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
	if v.misuse {
		return fmt.Sprintf("sim: %v", v)
	}
	opt := c.optionsOf(v.Seed)
	opt.Trace = nil
	k, err := CaseOf(v.Seed, opt)
	if err != nil {
		return fmt.Sprintf("sim: %v\n(%v)", v, err)
	}
	if v.exited {
		k.cutAfter(v)
		return fmt.Sprintf("sim: %v\nIt is not shrunk, because each run would fail the test again.\n%s%s", v, k.text(), keepIn(dir, &k))
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
	return fmt.Sprintf("sim: %v\nShrunk to %d of its %d faults in %d runs: %s\n%s%s", v, len(small.Schedule.Faults), before,
		runs, small.Detail, small.text(), keepIn(dir, &small))
}

// keepIn writes a case to a file, and says so.
func keepIn(dir string, c *Case) string {
	name, err := writeCaseFile(dir, c)
	if err != nil {
		return fmt.Sprintf("It could not be kept: %v.", err)
	}
	return fmt.Sprintf("It is kept in %s, and the first thing that this test runs from now on.", name)
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

// dirsOf returns the directory with the cases of a test, and the one that former builds used,
// which tests with similar names shared.
func dirsOf(test string) (dirs []string) {
	former := fileName(test)
	if former != test { // otherwise no other test has the same name
		h := sha256.Sum256([]byte(test))
		dirs = append(dirs, filepath.Join("testdata", "sim", fmt.Sprintf("%s-%x", former, h[:4])))
	}
	return append(dirs, filepath.Join("testdata", "sim", former))
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
