package clocksync

import (
	"math"
	"slices"
	"time"

	"github.com/failaware/failaware/timed"
)

// Config configures a [Sync]. Every field is needed.
type Config struct {
	Self   timed.Incarnation
	Timing timed.Timing
	// MaxDeviation is ε: a reading is Internal while its deviation is at most ε.
	MaxDeviation time.Duration
	// MaxSlew is the largest correction of the displayed clock's rate, in parts per
	// billion; at most MaxSlewLimit.
	MaxSlew int64
	// StepThreshold is the difference above which a change of timeline steps
	// the displayed clock instead of slewing it.
	StepThreshold time.Duration
	// MaxUTCError is the largest bound on the distance from UTC at which a reading
	// is External.
	MaxUTCError time.Duration
	// MinReferences is how many external references the leader must know before it
	// believes any. With 2f+1 of them, f falsetickers change nothing, however the
	// group is partitioned. With fewer, all references of a partition may be
	// falsetickers.
	MinReferences int
}

// Defaults of package failaware, which fills them in, and the limit of MaxSlew. Rates
// are in parts per billion.
const (
	DefaultMaxDeviation  = time.Millisecond
	DefaultMaxSlew       = 500_000
	MaxSlewLimit         = 1_000_000
	DefaultStepThreshold = 10 * time.Millisecond
	DefaultMaxUTCError   = 50 * time.Millisecond
	DefaultMinReferences = 1
)

// LeastSlew returns the smallest MaxSlew with which a clock can follow every other one, in parts
// per billion: each of the two may be wrong by ρ, in opposite directions. With a smaller one,
// the deviation of such a pair can grow without end.
func LeastSlew(rho timed.Drift) int64 { return 2 * int64(rho) }

// Sync is the state of one node's clock. It is a pure machine for one goroutine.
type Sync struct {
	cfg      Config
	snap     Snapshot
	line     Line          // of the own timeline, while it is the current one
	promised timed.Instant // the line stays as it is until then
	sequence uint64
	shared   bool        // the clock has followed a timeline that others share
	left     []farewell  // of the last timeline of each other node that it has left
	sources  *references // nil until a reference is known
	proof    proof       // of the known interval of UTC, or of that before a leap second
	audit    audit
}

// New returns the clock of an incarnation that starts at now, when the wall clock shows
// wall. The first timeline starts there; a wall clock after the year 2097 counts as 2097.
func New(cfg Config, now timed.Instant, wall Time) *Sync {
	return &Sync{cfg: cfg, audit: audit{shown: wall.clamp()}, snap: Snapshot{
		base: now, shown: wall.clamp(), slewEnd: now,
		rho: cfg.Timing.MaxDrift, epsilon: cfg.MaxDeviation, maxUTC: cfg.MaxUTCError,
	}}
}

// Snapshot returns the state that readings depend on.
func (c *Sync) Snapshot() Snapshot { return c.snap }

// Read returns the reading at now.
func (c *Sync) Read(now timed.Instant) Reading { return c.snap.Read(now) }

// ReadInto writes the reading at now into r.
func (c *Sync) ReadInto(now timed.Instant, r *Reading) { c.snap.ReadInto(now, r) }

// HandleLead makes this node's displayed clock group time, without a jump. The node
// leads from now on.
func (c *Sync) HandleLead(now timed.Instant, out []Effect) []Effect {
	if c.snap.own && c.snap.known {
		return out // still on its own timeline, whose line continues as promised
	}
	shown := c.snap.show(now)
	c.leave(shown)
	id := c.lead(now, shown)
	out = append(out, Effect{Kind: Adopted, Timeline: id, Parent: c.line.Parent})
	if c.sources != nil {
		out = c.combine(now, c.expire(now, out))
	}
	return out
}

// NoteShared notes that others share the displayed clock. From now on a change of
// timeline steps it only when the difference is large.
func (c *Sync) NoteShared() { c.shared = true }

// Line returns the line of this node's timeline; own is false unless this is the
// current timeline.
func (c *Sync) Line() (l Line, own bool) { return c.line, c.snap.own }

// Announce announces the line and UTC with a lease that ends at until. Its effects are
// SendLine and, if it knows UTC or who has proved it, SendUTC. The promise binds the leader's own readings
// too: they are in holdover after it, because another node may lead.
func (c *Sync) Announce(now, until timed.Instant, out []Effect) []Effect {
	if !c.snap.own {
		return out
	}
	c.snap.until = until
	c.promised = timed.Later(c.promised, until) // a renewed lease may end before an older one
	l := c.line
	l.Until = until
	out = append(out, Effect{Kind: SendLine, Line: l})
	if u, ok := c.utc(now); ok {
		out = append(out, Effect{Kind: SendUTC, UTC: u})
	}
	return out
}

// farewell is the last time that was shown on a timeline. If the timeline comes back,
// the clock must not show less.
type farewell struct {
	id    TimelineID
	shown Time
}

// leave notes the time that the current timeline has shown. Own timelines are not noted, and of
// each other node only the last: the earlier ones never come back, because each new lead starts
// a new one.
func (c *Sync) leave(shown Time) {
	if c.snap.own || c.snap.id.None() {
		return
	}
	f := farewell{c.snap.id, shown}
	if i := slices.IndexFunc(c.left, func(x farewell) bool { return x.id.Leader == f.id.Leader }); i >= 0 {
		c.left[i] = f
		return
	}
	c.left = append(c.left, f)
}

// least returns the least time that a timeline must show.
func (c *Sync) least(id TimelineID) Time {
	least := Time(math.MinInt64)
	for i := range c.left {
		if c.left[i].id == id {
			least = max(least, c.left[i].shown)
		}
	}
	return least
}

// HandleLine takes the leader's announced line. H_leader − H_self lies in [lo, hi] at
// now.
func (c *Sync) HandleLine(now timed.Instant, l *Line, lo, hi time.Duration, out []Effect) []Effect {
	if lo > hi || l.Timeline.None() || l.Timeline.Leader == c.cfg.Self.Node ||
		max(l.Rate, -l.Rate, l.Next, -l.Next) > fastestLine {
		return out
	}
	s := &c.snap
	shown := s.show(now)
	// The leader's clock shows now + [lo, hi].
	early, late := l.At(now.Add(lo)), l.At(now.Add(hi))
	if !early.reachable() || !late.reachable() {
		return out
	}
	half := time.Duration(late-early+1) / 2
	s.seen, s.middle, s.half, s.rate, s.bend, s.next = now, early+Time(half), half, l.Rate, 0, 0
	if l.Bend != 0 {
		s.foresee(now, l, lo, hi)
	}
	s.until = now.Add(s.rho.Trust(l.Until.Sub(now.Add(hi)))) // it may be over
	diff := s.middle.Sub(shown)
	changed := l.Timeline != s.id
	least := Time(math.MinInt64)
	if changed {
		least = c.least(l.Timeline)
		c.leave(shown)
	}
	s.id, s.own, s.known = l.Timeline, false, true
	first := !c.shared
	c.shared = true
	to := max(s.middle, least) // shown itself, if the timeline has shown that when it was left
	if changed && to != shown && (first || diff.Abs() > c.cfg.StepThreshold || shown < least) {
		c.correct(now, to, s.middle.Sub(to), s.rate)
		return append(out, Effect{Kind: Stepped, Timeline: l.Timeline, Parent: l.Parent, Step: to.Sub(shown)})
	}
	c.correct(now, shown, diff, s.rate)
	if changed {
		out = append(out, Effect{Kind: Adopted, Timeline: l.Timeline, Parent: l.Parent})
	}
	return out
}

// foresee notes when, on this clock, the leader's line will bend. The uncertainty of
// that instant is half the width of the offset plus the drift until then. Over this
// time the difference of the two rates widens the interval.
func (s *Snapshot) foresee(now timed.Instant, l *Line, lo, hi time.Duration) {
	bend := l.Bend.Add(-lo - (hi-lo)/2)
	unsure := (hi-lo)/2 + 2 + s.rho.Slack(bend.Sub(now), 2)
	if bend.Add(unsure) > now {
		s.half += timed.Drift(max(l.Next-l.Rate, l.Rate-l.Next)).Slack(unsure, 1) + 1
	}
	if bend <= now {
		s.rate = l.Next
		return
	}
	s.bend, s.next = bend, l.Next
}

// correct slews the displayed clock towards the middle, as fast as allowed, and stops
// there. A line may be faster than that: then the clock falls behind, and its deviation grows.
func (c *Sync) correct(now timed.Instant, shown Time, diff time.Duration, rate int64) {
	slew := c.cfg.MaxSlew
	if diff < 0 {
		slew = -slew
	}
	gain := time.Duration(slew - rate) // against the line, in parts per billion
	var end time.Duration
	if gain != 0 && diff != 0 && (gain > 0) == (diff > 0) {
		end = diff/gain*1e9 + diff%gain*1e9/gain
	}
	s := &c.snap
	s.base, s.shown, s.slew, s.slewEnd = now, shown, slew, now.Add(end)
	s.rest = min(max(rate, -c.cfg.MaxSlew), c.cfg.MaxSlew)
}
