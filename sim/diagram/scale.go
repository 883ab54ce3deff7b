package diagram

import (
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A scale maps time to the horizontal axis. It computes in floating point:
// differences of extreme times do not fit into a Duration.
type scale struct {
	from, to time.Duration
	x0, x1   float64
}

func (s *scale) x(t time.Duration) float64 {
	return s.x0 + (float64(t)-float64(s.from))/(float64(s.to)-float64(s.from))*(s.x1-s.x0)
}

// clamp is x, kept within the picture.
func (s *scale) clamp(t time.Duration) float64 { return min(max(s.x(t), s.x0), s.x1) }

func (s *scale) shows(t time.Duration) bool { return t >= s.from && t <= s.to }

func (s *scale) overlaps(from, to time.Duration) bool { return to >= s.from && from <= s.to }

// minTickGap is the room for a tick's label and for air.
const minTickGap = 84

// step returns the smallest of 1, 2, 5 times a power of ten, in nanoseconds,
// that keeps ticks apart, and into how many parts small ticks divide it.
func (s *scale) step() (step time.Duration, parts int) {
	least := minTickGap / (s.x1 - s.x0) * (float64(s.to) - float64(s.from))
	for unit := 1.0; ; unit *= 10 {
		for _, m := range [...]struct {
			factor float64
			parts  int
		}{{1, 5}, {2, 4}, {5, 5}} {
			if unit*m.factor >= least {
				return time.Duration(unit * m.factor), m.parts
			}
		}
	}
}

// ticks yields the multiples of step that show.
func (s *scale) ticks(step time.Duration) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		first := s.from / step * step
		if first < s.from {
			first += step
		}
		for t := first; t <= s.to && yield(t); t += step {
		}
	}
}

// units are those of time axes, the largest first.
var units = [...]struct {
	unit time.Duration
	name string
}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "µs"}, {1, "ns"}}

// tickLabel writes a multiple of step in the largest unit that takes at most
// one decimal and is not more than all that the axis shows.
func (s *scale) tickLabel(t, step time.Duration) string {
	if t == 0 {
		return "0"
	}
	unit, name := time.Duration(1), "ns"
	for _, u := range units {
		if step >= u.unit/10 && max(s.to, -s.from) >= u.unit {
			unit, name = u.unit, u.name
			break
		}
	}
	decimals := 0
	if step < unit {
		decimals = 1
	}
	return separated(strconv.FormatFloat(float64(t)/float64(unit), 'f', decimals, 64)) + " " + name
}

// plural formats a count with its noun.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return count(n) + " " + noun
}

func count(n int) string { return separated(strconv.Itoa(n)) }

// separated puts commas between groups of three digits.
func separated(digits string) string {
	sign := ""
	if digits[0] == '-' {
		sign, digits = "−", digits[1:]
	}
	fraction := ""
	if i := strings.IndexByte(digits, '.'); i >= 0 {
		digits, fraction = digits[:i], digits[i:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits + fraction
}

// typical returns the value with the given share of values below it; it
// reorders them. Without values it returns zero.
func typical(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[int(math.Floor(share*float64(len(values)-1)))]
}
