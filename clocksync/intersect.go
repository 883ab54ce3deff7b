package clocksync

// bound is an end of an interval.
type bound struct {
	at  Time
	end bool
}

// before orders ends: where one interval ends and another begins, both contain
// the point.
func (b bound) before(c bound) bool { return b.at < c.at || b.at == c.at && !b.end && c.end }

// Majority returns how many of n intervals must contain a point: more than half.
func Majority(n int) int { return n/2 + 1 }

// intersect returns the hull of all points that lie in a majority of the
// intervals whose ends are given, or false if there is no such point.
//
// If at least a majority of the intervals contain the truth, the truth is such a
// point, and the hull contains it. The part that most intervals share need not:
// a liar may overlap with one half of those that tell the truth.
func intersect(ends []bound) (low, high Time, ok bool) {
	for i := 1; i < len(ends); i++ { // a handful, nearly sorted: nothing is allocated
		for k := i; k > 0 && ends[k].before(ends[k-1]); k-- {
			ends[k], ends[k-1] = ends[k-1], ends[k]
		}
	}
	need := Majority(len(ends) / 2)
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
