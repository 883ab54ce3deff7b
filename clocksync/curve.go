package clocksync

import "github.com/failaware/failaware/timed"

const (
	// leastFit is the least number of samples that a line is fitted through.
	leastFit = 8
	// rarely is the squared distance, in variances, between the number of runs and
	// the expected number for a line: two and a half standard deviations.
	rarely = 6.25
)

// refit fits the line and removes the oldest samples while they show a curve: the
// temperature changes the rate of a clock, and old rates no longer count.
func (s *steering) refit(now timed.Instant) {
	s.fit(now)
	for s.n > leastFit && s.curved(now) {
		s.n = max(leastFit, s.n-s.n/4)
		s.fit(now)
	}
}

// curved reports whether samples lie on one side of the line for longer than chance
// explains (the runs test of Wald and Wolfowitz).
func (s *steering) curved(now timed.Instant) bool {
	var count [2]float64 // below the line, and above
	runs, last := 0.0, -1
	for k := range s.n {
		o := s.sample(k)
		guess := s.offset + float64(float64(s.rate)*seconds(o.at, now))
		side := 0
		if float64(o.offset()-s.origin) > guess {
			side = 1
		}
		count[side]++
		if side != last {
			runs++
		}
		last = side
	}
	n := float64(s.n)
	more := float64(2*count[0]*count[1]) / n // expected number of runs beyond the first
	short := more + 1 - runs
	return short > 0 && float64(short*short) > rarely*float64(more*(more-1))/(n-1)
}
