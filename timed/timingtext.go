package timed

import (
	"strconv"
	"strings"
	"time"
)

// unknown is the text of a time that is not known.
const unknown = "unknown"

// String returns the constants in one line, as in "drift 100 ppm, one-way timeout
// 4.9ms, …". A constant that is not set is unknown.
func (t Timing) String() string {
	if t == (Timing{}) {
		return unknown
	}
	var b strings.Builder
	b.WriteString("drift ")
	if t.MaxDrift < 0 {
		b.WriteString(unknown)
	} else {
		b.WriteString(strconv.FormatFloat(float64(t.MaxDrift)/1000, 'f', -1, 64) + " ppm")
	}
	for _, c := range []struct {
		name string
		d    time.Duration
	}{
		{"one-way timeout", t.OneWayTimeout}, {"fast threshold", t.FastThreshold}, {"scheduling delay", t.SchedulingDelay},
		{"election period", t.ElectionPeriod}, {"keepalive period", t.KeepalivePeriod}, {"expires", t.Expires},
		{"lock time", t.LockTime}, {"max lock time", t.MaxLockTime},
	} {
		b.WriteString(", " + c.name + " ")
		if c.d <= 0 {
			b.WriteString(unknown)
		} else {
			b.WriteString(c.d.String())
		}
	}
	if t.MinDelay != 0 {
		b.WriteString(", min delay " + t.MinDelay.String())
	}
	return b.String()
}

// String returns the bounds in one line, rounded up, as in "ready 80.03ms, notice
// 115.01ms, …". A bound that is zero, as after a failed [Timing.Validate], is unknown.
func (b Bounds) String() string {
	if b == (Bounds{}) {
		return unknown
	}
	return "ready " + roundedUp(b.Ready) + ", notice " + roundedUp(b.Notice) + ", depose " + roundedUp(b.Depose) +
		", elect " + roundedUp(b.Elect) + ", view " + roundedUp(b.View) + ", rejoin " + roundedUp(b.Rejoin)
}

// roundedUp returns the text of an upper bound. Rounded up, the longest durations overflow;
// they stand for no bound.
func roundedUp(d time.Duration) string {
	up := roundUp(d)
	if d <= 0 || up < d {
		return unknown
	}
	return up.String()
}
