// Package brief writes durations for people.
package brief

import "time"

// Duration returns a duration, rounded to what matters: to 100 ns below a
// millisecond, and to 10 µs above.
func Duration(d time.Duration) string {
	if d.Abs() < time.Millisecond {
		return d.Round(100 * time.Nanosecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}
