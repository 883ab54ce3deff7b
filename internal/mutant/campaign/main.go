//go:build mutants

// Command campaign looks for every planted bug: it plays the table of kills, a
// process for each row since a planted bug is switched on for a whole process,
// and prints which check noticed what, after how many seeds. It exits with 1
// when a bug survives, is in no row, or the median of the seeds is too large.
//
//	go run -tags mutants ./internal/mutant/campaign [-jobs 2] [-first 1] [-o table|json]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/kill"
)

// mostSeeds is the largest median of seeds: above it the simulator has become
// too blunt for the rules that it is to guard.
const mostSeeds = 200

func main() {
	var (
		jobs  = flag.Int("jobs", 2, "how many rows are played at once")
		first = flag.Uint64("first", 1, "the first seed")
		form  = flag.String("o", "table", "what to print: table, or json with an object for each line")
		limit = flag.Duration("timeout", 3*time.Minute, "the longest time for one row")
	)
	flag.Parse()
	if *jobs < 1 || flag.NArg() > 0 || (*form != "table" && *form != "json") {
		fmt.Fprintln(os.Stderr, "campaign: -jobs must be at least 1, -o table or json, and there are no arguments")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := run(ctx, *jobs, *first, *limit, newPrinter(*form))
	if err != nil {
		fmt.Fprintln(os.Stderr, "campaign:", err)
	}
	if err != nil || !ok {
		stop()
		os.Exit(1)
	}
}

// run plays all rows and reports whether every planted bug was noticed in time.
func run(ctx context.Context, jobs int, first uint64, limit time.Duration, p printer) (bool, error) {
	start := time.Now()
	bins, err := build(ctx)
	if err != nil {
		return false, err
	}
	defer bins.remove()
	rows, results := make(chan kill.Kill), make(chan result)
	var players sync.WaitGroup
	for range jobs {
		players.Go(func() {
			for k := range rows {
				results <- bins.play(ctx, k, first, limit)
			}
		})
	}
	go func() {
		for _, k := range kill.Table {
			rows <- k
		}
		close(rows)
		players.Wait()
		close(results)
	}()
	var all []result
	p.begin()
	for r := range results {
		all = append(all, r)
		p.row(r)
	}
	s := summarize(all, mutant.Count-1, time.Since(start))
	p.end(s)
	return s.ok(), ctx.Err()
}
