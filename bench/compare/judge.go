package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/perf/benchmath"
)

// mostWorse is how much slower the new build may be.
const mostWorse = 0.15

// confidence is that of benchstat.
const confidence = 0.95

// inTurns returns the values of the measures of a benchmark with both builds.
type inTurns func(benchmark) (old, new map[string][]float64, err error)

// judge prints the tables. It returns errWorse if a measure is worse in each of several
// repetitions. A measure that is good enough in one of them is not measured again.
func judge(measure inTurns, all []benchmark, out io.Writer) error {
	suspects := map[string]bool{}
	for again := range repeats {
		found := map[string]bool{}
		var left []benchmark
		for _, b := range all {
			old, new, err := measure(b)
			if err != nil {
				return err
			}
			worse := table(old, new, out)
			if again > 0 {
				maps.DeleteFunc(worse, func(name string, _ bool) bool { return !suspects[name] })
			}
			if len(worse) > 0 {
				left = append(left, b)
			}
			maps.Copy(found, worse)
		}
		if suspects, all = found, left; len(suspects) == 0 {
			return nil
		}
		fmt.Fprintf(out, "worse, %d of %d times: %s\n", again+1, repeats, strings.Join(slices.Sorted(maps.Keys(suspects)), "; "))
	}
	return errWorse
}

// table prints the values of both builds as benchstat does: medians, their difference if it
// is more than chance, and the probability of such samples if nothing differs. It returns the
// measures that are worse.
func table(old, new map[string][]float64, out io.Writer) (worse map[string]bool) {
	worse = map[string]bool{}
	thresholds := benchmath.DefaultThresholds
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "in floors\told\tnew\tdelta\t")
	for _, name := range slices.Sorted(maps.Keys(old)) {
		a, b := benchmath.NewSample(old[name], &thresholds), benchmath.NewSample(new[name], &thresholds)
		before, after := benchmath.AssumeNothing.Summary(a, confidence), benchmath.AssumeNothing.Summary(b, confidence)
		c := benchmath.AssumeNothing.Compare(a, b)
		fmt.Fprintf(w, "%s\t%.3f ± %s\t%.3f ± %s\t%s\t%s\n", name, before.Center, before.PctRangeString(), after.Center, after.PctRangeString(),
			c.FormatDelta(before.Center, after.Center), c)
		if c.P <= c.Alpha && after.Center >= before.Center*(1+mostWorse) {
			worse[name] = true
		}
	}
	w.Flush()
	return worse
}
