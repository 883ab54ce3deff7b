// Command campaign finds out which checks notice a bug.
//
// Without -patch it plays the table of planted bugs: one process for each kill,
// since a bug is switched on for a whole process. It prints which check noticed
// each bug, after how many seeds, and exits with 1 if a bug survives, has no kill,
// or the median of the seeds is too large.
//
//	go run ./internal/mutant/campaign [-jobs 2] [-first SEED] [-o table|json] [-doc docs/mutants.md]
//
// With -patch it tries one bug that is not in the table: a patch in the form of
// git diff, or a directory of files that replace those of the same path. It plays
// quick checks in the order of their cost until one fails, or with -all every
// check, and exits with 1 if none fails.
//
//	go run ./internal/mutant/campaign -patch bug.diff [-all] [-seeds 200] [-o table|json]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/failaware/failaware/internal/mutant/planted"
)

// mostSeeds is the largest median of seeds. Above it the simulator has become
// too blunt for the rules that it guards.
const mostSeeds = 200

func main() {
	var (
		jobs  = flag.Int("jobs", 2, "how many kills are played at once")
		first = flag.Uint64("first", 0, "the first seed; 0: 1, or the one that the table has learned")
		form  = flag.String("o", "table", "output format: table, or json with an object for each line")
		limit = flag.Duration("timeout", 5*time.Minute, "the longest time for one kill, or with -patch for the tests of one package")
		doc   = flag.String("doc", "", "play from seed 1 and, if all bugs were noticed, replace the table of this document and learn the seeds")
		patch = flag.String("patch", "", "try the bug of this patch, or of this directory of files")
		all   = flag.Bool("all", false, "with -patch: play the slow tests too, and continue after a check has noticed the bug")
		seeds = flag.Uint64("seeds", 200, "with -patch: how many seeds of each kind of world are tried")
	)
	flag.Parse()
	if *jobs < 1 || flag.NArg() > 0 || (*form != "table" && *form != "json") {
		fmt.Fprintln(os.Stderr, "campaign: -jobs must be at least 1, -o table or json, and there are no arguments")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var ok bool
	var err error
	if *patch != "" {
		ok, err = try(ctx, *patch, trial{max(*first, 1), *seeds, *limit, *all, *form == "json"})
	} else {
		ok, err = run(ctx, *jobs, *first, *limit, *doc, newPrinter(*form))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "campaign:", err)
		stop()
		os.Exit(2)
	}
	if !ok {
		stop()
		os.Exit(1)
	}
}

// run plays all kills and reports whether every planted bug was noticed in time.
func run(ctx context.Context, jobs int, first uint64, limit time.Duration, doc string, p printer) (bool, error) {
	start := time.Now()
	if doc != "" && first == 0 {
		first = 1
	}
	bins, err := build(ctx)
	if err != nil {
		return false, err
	}
	defer bins.remove()
	kills := planted.Kills()
	all := make([]result, len(kills))
	next, results := make(chan int), make(chan int)
	var players sync.WaitGroup
	for range jobs {
		players.Go(func() {
			for i := range next {
				all[i] = bins.play(ctx, kills[i], first, limit)
				results <- i
			}
		})
	}
	go func() {
		for i := range kills {
			next <- i
		}
		close(next)
		players.Wait()
		close(results)
	}()
	p.begin()
	for i := range results {
		p.row(all[i])
	}
	s := summarize(all, planted.All(), time.Since(start))
	p.end(s)
	if err := ctx.Err(); err != nil || doc == "" || !s.ok() {
		return s.ok(), err
	}
	if err := document(doc, all, s); err != nil || first != 1 {
		return true, err
	}
	seeds := map[planted.Kill]uint64{}
	for _, r := range all {
		if r.Seeds > 0 {
			seeds[r.Kill] = r.seeds
		}
	}
	return true, planted.Learn(bins.root, seeds)
}
