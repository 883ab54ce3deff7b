package clocksync

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/failaware/failaware/timed"
)

// String returns the time in RFC 3339 with nanoseconds.
func (t Time) String() string { return t.Go().Format(time.RFC3339Nano) }

// none is the text of the id that names no timeline.
const none = "none"

// String returns the leader, its boot id and the sequence, as in
// "3/00c0ffee00c0ffee/2", or "none".
func (t TimelineID) String() string {
	if t == (TimelineID{}) {
		return none
	}
	return fmt.Sprintf("%d/%v/%d", t.Leader, t.Boot, t.Sequence)
}

// MarshalText returns the text of [TimelineID.String].
func (t TimelineID) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads the text of [TimelineID.MarshalText].
func (t *TimelineID) UnmarshalText(text []byte) error {
	if string(text) == none {
		*t = TimelineID{}
		return nil
	}
	i := max(strings.LastIndexByte(string(text), '/'), 0)
	var leader timed.Incarnation
	sequence, err := strconv.ParseUint(strings.TrimPrefix(string(text[i:]), "/"), 10, 64)
	if err != nil || leader.UnmarshalText(text[:i]) != nil {
		return fmt.Errorf("timeline id %q is not LEADER/BOOT/SEQUENCE", text)
	}
	*t = TimelineID{leader.Node, leader.Boot, sequence}
	return nil
}

// String returns the time with its bounds, as in "2026-11-22T10:00:00.5Z ±14µs,
// internal, timeline 3/00c0ffee00c0ffee/2". Bounds are rounded up. An unknown bound
// prints as unknown.
func (r Reading) String() string {
	var b strings.Builder
	b.WriteString(r.Time.String())
	if r.Deviation == UnknownBound {
		b.WriteString(" with an unknown deviation")
	} else {
		b.WriteString(" ±" + roundUp(r.Deviation).String())
	}
	b.WriteString(", " + r.Status.String())
	if r.UTCBound != UnknownBound && r.Status != Unsynchronized {
		b.WriteString(", UTC ±" + roundUp(r.UTCBound).String())
	}
	b.WriteString(", timeline " + r.Timeline.String())
	if r.Holdover {
		b.WriteString(", in holdover")
	}
	if r.Leap != NoLeap {
		b.WriteString(", leap second: " + r.Leap.String())
	}
	return b.String()
}

// roundUp rounds a bound for display, and never down.
func roundUp(d time.Duration) time.Duration {
	grain := time.Duration(1)
	for d/grain >= 10_000 {
		grain *= 10
	}
	if rounded := d / grain * grain; rounded == d {
		return d
	} else if rounded < UnknownBound-grain {
		return rounded + grain
	}
	return d
}
