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

// samples are the values of a measure with both builds.
type samples struct{ old, new []float64 }

// judge prints the tables. It returns errWorse if a measure is worse in each of several
// repetitions. A measure that is good enough in one of them is not measured again.
//
// The first repetition suspects a measure if it is clearly worse. The others measure anew,
// and are tested together. Each by itself has so few values that a real difference would
// often pass as chance in one of them.
func judge(measure inTurns, all []benchmark, out io.Writer) error {
	suspects := map[string]*samples{}
	for again := range repeats {
		found := map[string]*samples{}
		var left []benchmark
		for _, b := range all {
			old, new, err := measure(b)
			if err != nil {
				return err
			}
			before := len(found)
			for name, c := range table(old, new, out) {
				s := suspects[name]
				switch {
				case again == 0 && c.clearly():
					found[name] = &samples{}
				case s != nil && c.slower():
					s.old, s.new = append(s.old, old[name]...), append(s.new, new[name]...)
					if again < repeats-1 || compare(s.old, s.new).clearly() {
						found[name] = s
					}
				}
			}
			if len(found) > before {
				left = append(left, b)
			}
		}
		if suspects, all = found, left; len(suspects) == 0 {
			return nil
		}
		fmt.Fprintf(out, "worse, %d of %d times: %s\n", again+1, repeats, strings.Join(slices.Sorted(maps.Keys(suspects)), "; "))
	}
	return errWorse
}

// comparison is that of benchstat.
type comparison struct {
	before, after benchmath.Summary
	benchmath.Comparison
}

func compare(old, new []float64) (c comparison) {
	thresholds := benchmath.DefaultThresholds
	a, b := benchmath.NewSample(old, &thresholds), benchmath.NewSample(new, &thresholds)
	return comparison{benchmath.AssumeNothing.Summary(a, confidence), benchmath.AssumeNothing.Summary(b, confidence), benchmath.AssumeNothing.Compare(a, b)}
}

// slower reports whether the median is worse.
func (c comparison) slower() bool { return c.after.Center >= c.before.Center*(1+mostWorse) }

// clearly reports whether it is, and not by chance.
func (c comparison) clearly() bool { return c.slower() && c.P <= c.Alpha }

// table prints the values of both builds as benchstat does: medians, their difference if it
// is more than chance, and the probability of such samples if nothing differs. It returns
// the comparisons.
func table(old, new map[string][]float64, out io.Writer) map[string]comparison {
	all := map[string]comparison{}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "in floors\told\tnew\tdelta\t")
	for _, name := range slices.Sorted(maps.Keys(old)) {
		c := compare(old[name], new[name])
		all[name] = c
		fmt.Fprintf(w, "%s\t%.3f ± %s\t%.3f ± %s\t%s\t%s\n", name, c.before.Center, c.before.PctRangeString(), c.after.Center, c.after.PctRangeString(),
			c.FormatDelta(c.before.Center, c.after.Center), c.Comparison)
	}
	w.Flush()
	return all
}
