package clocksync

// bound is an end of an interval.
type bound struct {
	at  Time
	end bool
}

// before orders ends. Where one interval ends and another begins, both contain the
// point.
func (b bound) before(c bound) bool { return b.at < c.at || b.at == c.at && !b.end && c.end }

// majority returns how many of n intervals must contain a point: more than half.
func majority(n int) int { return n/2 + 1 }

// intersect returns the hull of all points that lie in at least need of the intervals with
// the given ends; ok is false if there is no such point.
//
// If so many of the intervals contain the truth, the truth is such a point, and the
// hull contains it. The part that most intervals share need not contain it: a falseticker
// may overlap with half of the others.
func intersect(ends []bound, need int) (low, high Time, ok bool) {
	for i := 1; i < len(ends); i++ { // a few, nearly sorted; this allocates nothing
		for k := i; k > 0 && ends[k].before(ends[k-1]); k-- {
			ends[k], ends[k-1] = ends[k-1], ends[k]
		}
	}
	depth := 0
	for _, e := range ends {
		if !e.end {
			depth++
			if depth == need && !ok {
				low, ok = e.at, true
			}
			continue
		}
		if depth == need {
			high = e.at
		}
		depth--
	}
	return low, high, ok
}
