package clocksync

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Limits of references.
const (
	// MaxReferences is how many references a node keeps, including those of its
	// followers.
	MaxReferences = 64
	// SampleLife is how long a reference counts after its last sample. Its interval
	// stays true for longer but becomes wide.
	SampleLife = 10 * time.Minute
	// ProofLife is how long the references that proved UTC last are remembered. While fewer
	// count, as many of them may be falsetickers as of all. Those that are silent for longer
	// are taken for retired.
	ProofLife = 24 * time.Hour
	// MaxForwarded is how many samples a packet carries.
	MaxForwarded = 2
	// forwardTimes is how often a new sample is sent at once, because packets get
	// lost. forwardEvery is the time after which it is sent again, because leaders
	// forget.
	forwardTimes = 2
	forwardEvery = 2 * time.Second
)

// Forwarded is samples of a follower's own references, on their way to its leader. They
// are not combined, because only the node that sees all samples can find falsetickers.
type Forwarded struct {
	Count uint8
	List  [MaxForwarded]Sample
}

// Samples returns the samples.
func (f *Forwarded) Samples() []Sample { return f.List[:min(int(f.Count), MaxForwarded)] }

// reference is the knowledge of one external reference.
type reference struct {
	interval // the best one, on the local clock
	source   SourceID
	node     timed.NodeID  // the node that asked it last
	newest   timed.Instant // when the newest sample held
	leap     Leap
	wrong    bool // a falseticker: its interval contradicts the majority
	unjudged bool // its newest sample has not been compared with known UTC
	told     uint8
	toldAt   timed.Instant
}

// references holds all external references that a node knows, and the steering that
// follows them.
type references struct {
	list     []reference
	ends     []bound // scratch space
	steer    steering
	toldTo   timed.Incarnation // the leader to which samples were sent
	next     int               // the last reference that was considered for forwarding
	leapAt   Time              // the leap second that may be near, or 0
	leapOver timed.Instant     // when it is not any more
}

// proof is how many references proved UTC last, and when; 0: nobody knows.
type proof struct {
	count int
	at    timed.Instant
}

// counts returns how many references proved UTC last, and how many of them may be falsetickers;
// 0 when that was too long ago.
func (p *proof) counts(now timed.Instant) (proved, falsetickers int) {
	if p.count == 0 || now.Sub(p.at) > ProofLife {
		return 0, 0
	}
	return p.count, p.count - majority(p.count)
}

// refs returns the references. It allocates them, because most nodes never have any.
func (c *Sync) refs() *references {
	if c.sources == nil {
		c.sources = &references{}
	}
	return c.sources
}

// maxAhead is how far a sample may be ahead of now, which was read before the sample
// came.
const maxAhead = time.Second

// HandleSample takes a sample of one of this node's own references.
func (c *Sync) HandleSample(now timed.Instant, s *Sample, out []Effect) []Effect {
	if !s.Valid() || s.At > now.Add(maxAhead) {
		return out
	}
	i := interval{s.At, s.Low, s.High}.project(now, c.snap.rho)
	return c.learn(now, c.cfg.Self.Node, s, i, s.At, out)
}

// HandleForwarded takes samples that a follower has forwarded. H_follower − H_self lies
// in [lo, hi] at now.
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

// learn keeps the interval i at now of a sample that was taken at at.
func (c *Sync) learn(now timed.Instant, node timed.NodeID, s *Sample, i interval, at timed.Instant, out []Effect) []Effect {
	out = c.expire(now, out)
	t := c.refs()
	if !i.reachable() || t.nearLeap(now, i) || s.overLeap(i) {
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
	// A repeated sample is mapped a little differently.
	fresh := r.newest == 0 || at > r.newest.Add(sameSample)
	old := r.project(now, c.snap.rho)
	switch {
	case old.meets(i):
		r.interval = old.and(i)
	case fresh:
		r.interval = i
	default:
		return out // the server may have been mended since, which another node has seen
	}
	if fresh {
		r.newest, r.told, r.unjudged = at, 0, true
		r.node, r.leap = node, s.Leap
	}
	if c.snap.own {
		out = c.combine(now, out)
	} else {
		out = c.compare(now, out)
	}
	// In a dispute, nobody knows whether the sample is right.
	if r := t.of(s.Source); fresh && r != nil && !r.wrong && c.snap.utc.state != UTCDisputed {
		t.steer.add(s.Source, i)
	}
	return out
}

// sameSample is the largest difference between two mappings of one sample. References
// are asked less often.
const sameSample = 100 * time.Millisecond

// ReferenceInfo is the knowledge of one reference at an instant.
type ReferenceInfo struct {
	Source SourceID
	// Node is the node that asks it: this one or, at the leader, a follower.
	Node timed.NodeID
	// Low and High bound UTC if the reference is right.
	Low, High Time
	// Age is the age of its newest sample.
	Age  time.Duration
	Leap Leap
	// Falseticker reports that it contradicts the known interval of UTC.
	Falseticker bool
}

// References returns the knowledge of each reference at now.
func (c *Sync) References(now timed.Instant) (list []ReferenceInfo) {
	if c.sources == nil {
		return nil
	}
	for k := range c.sources.list {
		r := &c.sources.list[k]
		i := r.project(now, c.snap.rho)
		list = append(list, ReferenceInfo{Source: r.source, Node: r.node, Low: i.low, High: i.high,
			Age: max(now.Sub(r.newest), 0), Leap: r.leap, Falseticker: r.wrong})
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

// expire forgets references without a recent sample, and those whose leap second has come.
// If it is that of the known UTC, it forgets everything, because UTC jumps against all clocks.
func (c *Sync) expire(now timed.Instant, out []Effect) []Effect {
	if u := &c.snap.utc; u.void != 0 && now >= u.void {
		t := c.refs() // a node without references may lead before the leap second is over
		t.awaitLeap(now, leapOf(u.low), u.interval, c.snap.rho)
		t.list, t.steer = t.list[:0], steering{}
		out = c.setUTC(utcBound{}, out)
	}
	t := c.sources
	if t == nil {
		return out
	}
	if end, i := t.leapCome(now, c.snap.rho); end != 0 && end != t.leapAt {
		t.awaitLeap(now, end, i, c.snap.rho)
		t.steer = steering{}
	}
	kept := t.list[:0]
	for _, r := range t.list {
		if now.Sub(r.newest) <= SampleLife && !r.over(now, c.snap.rho) {
			kept = append(kept, r)
		}
	}
	t.list = kept
	return out
}

// setUTC sets the known interval of UTC.
func (c *Sync) setUTC(u utcBound, out []Effect) []Effect {
	was := c.snap.utc.state
	c.snap.utc = u
	if u.state == was {
		return out
	}
	return append(out, Effect{Kind: UTCChanged, State: u.state})
}

// combine intersects all references at once. Intersecting those of each node first would
// let a few nodes with falsetickers outvote the others.
//
// While fewer references count than those that proved UTC last, here or at the leaders before, all
// falsetickers may be among them: what all others of them agree on counts, within the known
// interval, which stays true. After a leap second no interval is known.
func (c *Sync) combine(now timed.Instant, out []Effect) []Effect {
	t := c.sources
	if t == nil || len(t.list) == 0 || len(t.list) < c.cfg.MinReferences {
		return out // the known interval stays and gets wider
	}
	proved, falsetickers := c.proof.counts(now)
	fewer, need := c.snap.utc.state != UTCDisputed && len(t.list) < proved, majority(len(t.list))
	if fewer {
		need = len(t.list) - falsetickers
	}
	if need < 1 {
		return c.compare(now, out)
	}
	known := c.snap.utc.project(now, c.snap.rho)
	t.ends = t.ends[:0]
	for k := range t.list {
		i := t.list[k].project(now, c.snap.rho)
		if fewer && c.snap.utc.state == UTCKnown {
			if !i.meets(known) {
				continue
			}
			i = i.and(known)
		}
		t.ends = append(t.ends, bound{i.low, false}, bound{i.high, true})
	}
	low, high, ok := intersect(t.ends, need)
	switch {
	case !ok && fewer:
		return c.compare(now, out)
	case !ok:
		t.steer.lost()
		return c.setUTC(utcBound{state: UTCDisputed}, out)
	case !fewer:
		c.proof = proof{len(t.list), now}
	}
	u := utcBound{interval: interval{now, low, high}, state: UTCKnown, leap: t.leap(need)}
	u.void = u.voidFrom(u.leap, c.snap.rho)
	out = c.setUTC(u, out)
	return c.compare(now, out)
}

// compare finds the references that contradict the known interval of UTC. A follower
// knows only its own references. A falseticker is right again by a new sample only: intervals
// that are wider because they are older contradict less, and say nothing new.
func (c *Sync) compare(now timed.Instant, out []Effect) []Effect {
	t := c.sources
	if t == nil || c.snap.utc.state != UTCKnown {
		return out
	}
	utc := c.snap.utc.project(now, c.snap.rho)
	for k := range t.list {
		r := &t.list[k]
		i := r.project(now, c.snap.rho)
		wrong := !i.meets(utc)
		if wrong != r.wrong && (wrong || r.unjudged) {
			r.wrong = wrong
			e := Effect{Kind: Truechimer, Source: r.source, Peer: r.node, Step: i.middle().Sub(utc.middle())}
			if wrong {
				e.Kind = Falseticker
				t.steer.forget(r.source)
			}
			out = append(out, e)
		}
		r.unjudged = false
	}
	return out
}
