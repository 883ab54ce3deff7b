package figure

import (
	"math"
	"strconv"
	"strings"
)

// scale maps values to positions along an axis.
type scale struct {
	low, high float64 // values at the ends
	from, to  float64 // positions of the ends
	log       bool
}

// at returns the position of a value.
func (s *scale) at(v float64) float64 {
	return s.from + (s.to-s.from)*(s.of(v)-s.of(s.low))/(s.of(s.high)-s.of(s.low))
}

// of returns the value, or its logarithm on a logarithmic scale.
func (s *scale) of(v float64) float64 {
	if s.log {
		return math.Log10(v)
	}
	return v
}

// tick is a marked value of an axis. Minor ticks have no label.
type tick struct {
	value float64
	label string
}

// ticks returns the ticks of the axis, with about as many labels as count.
func (s *scale) ticks(count int) []tick {
	if s.log {
		return s.logTicks(count)
	}
	step := niceStep((s.high - s.low) / float64(count))
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var all []tick
	for i := math.Ceil(s.low/step - 1e-9); i*step <= s.high+1e-9*step; i++ {
		all = append(all, tick{i * step, grouped(strconv.FormatFloat(i*step, 'f', decimals, 64))})
	}
	return all
}

// niceStep returns the smallest of 1, 2 and 5 times a power of ten that is not
// below least.
func niceStep(least float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(least)))
	for _, factor := range [...]float64{1, 2, 5} {
		if unit*factor >= least*(1-1e-9) {
			return unit * factor
		}
	}
	return 10 * unit
}

// logTicks marks 1 to 9 times each power of ten. It labels 1, 2 and 5 times a
// power if there is room, else the powers.
func (s *scale) logTicks(count int) []tick {
	decades := math.Log10(s.high / s.low)
	labelled := map[float64]bool{1: true}
	if 3*decades <= float64(count)+1 {
		labelled[2], labelled[5] = true, true
	}
	var all []tick
	for e := math.Floor(math.Log10(s.low)); e <= math.Ceil(math.Log10(s.high)); e++ {
		for m := 1.0; m <= 9; m++ {
			v := m * math.Pow(10, e)
			if v < s.low*(1-1e-9) || v > s.high*(1+1e-9) {
				continue
			}
			t := tick{value: v}
			if labelled[m] {
				t.label = grouped(strconv.FormatFloat(v, 'f', max(0, -int(e)), 64))
			}
			all = append(all, t)
		}
	}
	return all
}

// grouped writes a true minus sign, and commas between groups of three digits
// from 10,000 on.
func grouped(number string) string {
	digits, negative := strings.CutPrefix(number, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	if len(whole) > 4 {
		for i := len(whole) - 3; i > 0; i -= 3 {
			whole = whole[:i] + "," + whole[i:]
		}
	}
	if fraction != "" {
		whole += "." + fraction
	}
	if negative && strings.Trim(digits, "0.") != "" {
		return "−" + whole
	}
	return whole
}

// extent is a range of values.
type extent struct{ low, high float64 }

func newExtent() extent { return extent{math.Inf(1), math.Inf(-1)} }

func (e *extent) add(v float64) { e.low, e.high = min(e.low, v), max(e.high, v) }

// padded widens the extent by a share of its length at both ends. An extent
// without a length becomes one.
func (e extent) padded(log bool, share float64) extent {
	switch {
	case log && e.low == e.high:
		return extent{e.low / 2, e.high * 2}
	case log:
		f := math.Pow(e.high/e.low, share)
		return extent{e.low / f, e.high * f}
	case e.low == e.high:
		d := max(math.Abs(e.low)/2, 0.5)
		return extent{e.low - d, e.high + d}
	}
	d := share * (e.high - e.low)
	return extent{e.low - d, e.high + d}
}
