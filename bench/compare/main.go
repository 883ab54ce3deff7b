// Command compare measures an old build of failaware-lab and that of the working tree in
// turns, and fails if the new one is clearly slower. All values are ratios to the floor of
// the machine in the same run, so that another machine, or one that is busy, changes old and
// new alike.
//
//	compare [-old COMMIT] [-rounds N]        # in a checkout of failaware
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

const (
	// repeats is how often a measure must be worse, one after the other, before the
	// comparison fails.
	repeats = 3
	// fewestRounds is the least for which the test can tell old from new: with fewer, even
	// samples without any overlap have p > 0.05.
	fewestRounds = 4
	mostRounds   = 100
)

// errWorse says that the new build is slower.
var errWorse = errors.New("the new build is worse")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := do(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errWorse):
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(2)
	}
}

func do(ctx context.Context, args []string, out, progress io.Writer) error {
	f := flag.NewFlagSet("compare", flag.ContinueOnError)
	f.SetOutput(progress)
	old := f.String("old", "", "the old commit; by default where this branch left main, or the last version")
	rounds := f.Int("rounds", 6, "measurements of each build, for each of up to three repetitions")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if *rounds < fewestRounds || *rounds > mostRounds {
		return fmt.Errorf("-rounds: %d is not in [%d, %d]", *rounds, fewestRounds, mostRounds)
	}
	c, err := buildBoth(ctx, *old, progress)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "old: %s; new: the working tree; medians of %d measurements in turns, in floors of the same run\n", c.rev, *rounds)
	return judge(func(b benchmark) (old, new map[string][]float64, err error) {
		return c.inTurns(ctx, b, *rounds)
	}, benchmarks, out)
}
