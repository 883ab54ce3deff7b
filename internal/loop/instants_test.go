package loop

import (
	"net/netip"
	"reflect"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/admit"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/timed"
)

// elsewhere are the fields of the loop whose instants need no restart, and why.
var elsewhere = map[string]string{
	"l":                  "it is the configuration, and what callers see",
	"life":               "its own tests look at it",
	"trust":              "each incarnation has another one",
	"pub":                "readers compare it with the trust and the era",
	"stack":              "each incarnation has another one",
	"introductions":      "each incarnation has another one",
	"claims.machine":     "each incarnation has another one",
	"clock.until":        "it is set before each wait",
	"opening.attempts":   "it notices by itself that its clock ran backwards",
	"routes.to.stamp":    "it is of the peer's clock",
	"in":                 "it is memory of packets",
	"out":                "it is memory of packets",
	"effects":            "it is memory of one handler",
	"introduced":         "it is memory of one handler",
	"report":             "it is over with the turn",
	"msgs.sends":         "it has no instants of this clock",
	"msgs.deliveries":    "it has no instants of this clock",
	"msgs.outcomes":      "it is over with the turn",
	"msgs.remains":       "it is over with the turn",
	"msgs.yielding.wait": "it is the connection",
}

// instants calls f for each instant in a value, but not for those elsewhere.
func instants(v reflect.Value, path string, f func(path string, at *timed.Instant)) {
	if elsewhere[path] != "" {
		return
	}
	switch {
	case v.Type() == reflect.TypeFor[timed.Instant]():
		f(path, (*timed.Instant)(unsafe.Pointer(v.UnsafeAddr())))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if path != "" && !v.Type().Field(i).Anonymous {
				name = path + "." + name
			} else if path != "" {
				name = path
			}
			instants(v.Field(i), name, f)
		}
	case v.Kind() == reflect.Array || v.Kind() == reflect.Slice:
		for i := range v.Len() {
			instants(v.Index(i), path, f)
		}
	case v.Kind() == reflect.Map:
		for _, k := range v.MapKeys() {
			if e := v.MapIndex(k); e.Kind() == reflect.Pointer {
				instants(e.Elem(), path, f)
			}
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		instants(v.Elem(), path, f)
	}
}

// No instant of a clock that is not trusted any more outlives its incarnation: all of the
// loop are dated anew or forgotten. A later one would silence the node until the clock has
// come that far again.
func TestNoInstantOutlivesItsClock(t *testing.T) { noInstantOutlives(t) }

func noInstantOutlives(t testing.TB) {
	l, _ := newTestLoop(t)
	d := l.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	far := netip.MustParseAddrPort("127.0.0.1:9")
	d.asked = questions{{peer: 2, result: make(chan Assurance, 1)}}
	d.mismatches = mismatches{2: {}}
	d.routes.refusals = refusals{far: {}}
	for id := range d.routes.to[1:] { // the routes of others are empty
		d.routes.known.Add(timed.NodeID(id + 1))
	}
	d.routes.book.Note(1, &admit.Arrival[netip.AddrPort]{From: 2, Addr: far})
	d.routes.to[2].Follow(1, 1, 1, far, false, time.Hour)
	var seen []string
	later := d.clock.now.Add(time.Hour)
	instants(reflect.ValueOf(d).Elem(), "", func(path string, at *timed.Instant) {
		seen = append(seen, path)
		*at = later
	})
	require.Subset(t, seen, []string{"clock.now", "clock.served", "routes.hello", "routes.cleanup", "routes.to.heard", "routes.to.other.until",
		"routes.book.entries.heard", "asked.since", "mismatches.lastPacket", "alarmed", "rivalry.answered", "msgs.took", "msgs.since"})
	d.routes.to[timed.NoNode] = route{}
	now := later.Add(-time.Hour)
	d.restart(life.ClockBackwards, now, d.clock.era)
	instants(reflect.ValueOf(d).Elem(), "", func(path string, at *timed.Instant) {
		require.LessOrEqual(t, *at, now, path)
	})
	require.Empty(t, d.routes.refusals)
}

// What readers were shown counts in one timeline: a clock that steps back to another one
// does not stand still until it has come so far again.
func shownInATimeline(t testing.TB) {
	l, c := newTestLoop(t)
	before := l.Snapshot()
	step(l, c)
	require.Same(t, before.Shown, l.Snapshot().Shown)
	for l.Snapshot().Clock.Timeline() == before.Clock.Timeline() {
		now := c.instant()
		back := clocksync.Time(now.Sub(0)) // long before what it shows
		l.driver.handleSample(&clocksync.Sample{Source: 1, At: now, Low: back, High: back + 1000}, l.driver.clock.era)
		step(l, c)
	}
	require.NotSame(t, before.Shown, l.Snapshot().Shown)
}

func TestWhatWasShownCountsInATimeline(t *testing.T) { shownInATimeline(t) }
