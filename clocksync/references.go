package clocksync

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Limits of references.
const (
	// MaxReferences is how many references a node keeps, its own and those that
	// others told it of.
	MaxReferences = 64
	// SampleLife is how long a reference counts after its last sample. Its
	// interval would hold for longer, but gets wide.
	SampleLife = 10 * time.Minute
	// MaxForwarded is how many samples a packet carries.
	MaxForwarded = 2
	// forwardTimes is how often a new sample is told, since packets get lost, and
	// forwardEvery how often it is told again, since leaders forget.
	forwardTimes = 2
	forwardEvery = 2 * time.Second
)

// Forwarded are samples of a follower's own references, on their way to its
// leader: each by itself, because only who sees all of them can tell which lie.
type Forwarded struct {
	Count uint8
	List  [MaxForwarded]Sample
}

// Samples returns the samples.
func (f *Forwarded) Samples() []Sample { return f.List[:min(int(f.Count), MaxForwarded)] }

// reference is what is known of one external reference.
type reference struct {
	interval // the best one, in the local clock
	source   SourceID
	node     timed.NodeID  // who asks it
	newest   timed.Instant // when the newest sample held
	leap     Leap
	liar     bool // its interval lies outside of what the majority says
	told     uint8
	toldAt   timed.Instant
}

// references are all external references that a node knows, and what it makes
// of them.
type references struct {
	list   []reference
	ends   []bound // scratch space
	steer  steering
	toldTo timed.Incarnation
	next   int  // whose turn it is to be forwarded
	leapAt Time // the leap second that is announced, or 0
}

// refs returns the references, which most nodes never have.
func (c *Sync) refs() *references {
	if c.sources == nil {
		c.sources = &references{}
	}
	return c.sources
}

// maxAhead is how far a sample may be ahead of the turn that takes it, whose
// instant was read before it came.
const maxAhead = time.Second

// HandleSample takes a sample of one of this node's own references.
func (c *Sync) HandleSample(now timed.Instant, s *Sample, out []Effect) []Effect {
	if !s.Valid() || s.At > now.Add(maxAhead) {
		return out
	}
	i := interval{s.At, s.Low, s.High}.project(now, c.snap.rho)
	return c.learn(now, c.cfg.Self.Node, s, i, s.At, out)
}

// HandleForwarded takes samples that a follower has forwarded: H_follower − H_self
// lies in [lo, hi] at now.
func (c *Sync) HandleForwarded(now timed.Instant, from timed.NodeID, f *Forwarded, lo, hi time.Duration, out []Effect) []Effect {
	if !c.snap.own || lo > hi {
		return out
	}
	for k := range f.Samples() {
		s := &f.List[k]
		if !s.Valid() || s.At > now.Add(hi) {
			continue
		}
		i := interval{s.At, s.Low, s.High}.mapped(now, now.Add(lo), now.Add(hi), c.snap.rho)
		out = c.learn(now, from, s, i, s.At.Add(-lo-(hi-lo)/2), out)
	}
	return out
}

// learn keeps the interval i, which holds now, of a sample that was taken at.
func (c *Sync) learn(now timed.Instant, node timed.NodeID, s *Sample, i interval, at timed.Instant, out []Effect) []Effect {
	out = c.expire(now, out)
	t := c.refs()
	if t.nearLeap(i) {
		return out
	}
	r := t.of(s.Source)
	if r == nil {
		if len(t.list) >= MaxReferences {
			return out
		}
		t.list = append(t.list, reference{source: s.Source, interval: i})
		r = &t.list[len(t.list)-1]
	}
	old := r.project(now, c.snap.rho)
	if r.interval = i; old.meets(i) {
		r.interval = old.and(i)
	}
	// Samples come again, and are mapped a little differently then.
	fresh := r.newest == 0 || at > r.newest.Add(sameSample)
	if fresh {
		r.newest, r.told = at, 0
	}
	r.node, r.leap = node, s.Leap
	if c.snap.own {
		out = c.combine(now, out)
	} else {
		out = c.compare(now, out)
	}
	if r := t.of(s.Source); fresh && r != nil && !r.liar {
		t.steer.add(s.Source, i)
	}
	return out
}

// sameSample is by how much two mappings of one sample may differ; no reference
// is asked as often.
const sameSample = 100 * time.Millisecond

// ReferenceInfo is what is known of one reference at an instant.
type ReferenceInfo struct {
	Source SourceID
	// Node asks it: this one, or one whose samples it gets as the leader.
	Node timed.NodeID
	// UTC is between Low and High, if it tells the truth.
	Low, High Time
	// Age is how long ago its newest sample held.
	Age  time.Duration
	Leap Leap
	// Liar: it contradicts what is known of UTC.
	Liar bool
}

// References returns what is known of each reference at now.
func (c *Sync) References(now timed.Instant) (list []ReferenceInfo) {
	if c.sources == nil {
		return nil
	}
	for k := range c.sources.list {
		r := &c.sources.list[k]
		i := r.project(now, c.snap.rho)
		list = append(list, ReferenceInfo{Source: r.source, Node: r.node, Low: i.low, High: i.high,
			Age: max(now.Sub(r.newest), 0), Leap: r.leap, Liar: r.liar})
	}
	return list
}

func (t *references) of(s SourceID) *reference {
	for k := range t.list {
		if t.list[k].source == s {
			return &t.list[k]
		}
	}
	return nil
}

// expire forgets references that have not been heard for too long, and
// everything when a leap second has come: then UTC has jumped against all clocks.
func (c *Sync) expire(now timed.Instant, out []Effect) []Effect {
	if u := &c.snap.utc; u.void != 0 && now >= u.void {
		t := c.refs() // who never had any may lead before it is over
		t.leapAt = monthEnd(u.low)
		t.list, t.steer = t.list[:0], steering{}
		out = c.setUTC(utcBound{}, out)
	}
	t := c.sources
	if t == nil {
		return out
	}
	kept := t.list[:0]
	for _, r := range t.list {
		if now.Sub(r.newest) <= SampleLife {
			kept = append(kept, r)
		}
	}
	t.list = kept
	return out
}

// nearLeap reports whether an interval lies around a leap second that was
// announced, and forgets the leap second when it lies behind it.
func (t *references) nearLeap(i interval) bool {
	if t.leapAt == 0 {
		return false
	}
	if i.low.Sub(t.leapAt) > LeapMargin {
		t.leapAt = 0
		return false
	}
	return true
}

// setUTC takes what is known of UTC from now on.
func (c *Sync) setUTC(u utcBound, out []Effect) []Effect {
	was := c.snap.utc.state
	c.snap.utc = u
	if u.state == was {
		return out
	}
	return append(out, Effect{Kind: UTCChanged, UTC: u.state})
}

// combine intersects the references, all of them once: intersecting those of
// each node first would let a few nodes with liars outvote the others.
func (c *Sync) combine(now timed.Instant, out []Effect) []Effect {
	t := c.sources
	if t == nil || len(t.list) == 0 || len(t.list) < c.cfg.MinReferences {
		return out // what was known goes on, and gets wider
	}
	t.ends = t.ends[:0]
	for k := range t.list {
		i := t.list[k].project(now, c.snap.rho)
		t.ends = append(t.ends, bound{i.low, false}, bound{i.high, true})
	}
	low, high, ok := intersect(t.ends)
	if !ok {
		t.steer.lost()
		return c.setUTC(utcBound{state: UTCDisputed}, out)
	}
	u := utcBound{interval: interval{now, low, high}, state: UTCKnown, leap: t.leap()}
	u.void = u.voidFrom(u.leap, c.snap.rho)
	out = c.setUTC(u, out)
	return c.compare(now, out)
}

// leap returns what a majority announces.
func (t *references) leap() Leap {
	var votes [LeapDelete + 1]int
	for k := range t.list {
		votes[t.list[k].leap]++
	}
	for l := LeapInsert; l <= LeapDelete; l++ {
		if votes[l] >= Majority(len(t.list)) {
			return l
		}
	}
	return NoLeap
}

// compare finds out which references contradict what is known of UTC. A follower
// knows only its own ones.
func (c *Sync) compare(now timed.Instant, out []Effect) []Effect {
	t := c.sources
	if t == nil || c.snap.utc.state != UTCKnown {
		return out
	}
	utc := c.snap.utc.project(now, c.snap.rho)
	for k := range t.list {
		r := &t.list[k]
		i := r.project(now, c.snap.rho)
		if liar := !i.meets(utc); liar != r.liar {
			r.liar = liar
			e := Effect{Kind: Truechimer, Source: r.source, Node: r.node, Step: i.middle().Sub(utc.middle())}
			if liar {
				e.Kind = Falseticker
				t.steer.forget(r.source)
			}
			out = append(out, e)
		}
	}
	return out
}
