package kv

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
)

// A part of a group in a random world, with what the state need not know: all writes that
// it has seen, and true time.
type part struct {
	s    *State
	seen map[Dot]bool          // with an effect
	took map[Dot]Command       // with an effect or without
	ends map[Dot]time.Duration // no lease may end before, by true time

	line, former int       // the timelines of its leader, and of the one before
	flight       []Command // which wait to be ordered
}

// random is a world of parts that split, write and meet.
type random struct {
	t     testing.TB
	rnd   *rand.Rand
	now   time.Duration // true
	parts []*part
	n     map[uint64]uint64     // the last number of each writer
	wrote map[Dot]time.Duration // when the clock of a command was read
	lines []time.Duration       // how far timelines are from true time
	met   map[string]int        // how often something happened
}

// The clocks of a world are wrong by up to deviation, and all leases last for ttl.
const deviation, ttl = 5 * time.Millisecond, time.Second

func newRandom(t testing.TB, seed uint64) *random {
	w := &random{t: t, rnd: rand.New(rand.NewPCG(seed, 7)), now: time.Hour, n: map[uint64]uint64{}, wrote: map[Dot]time.Duration{}, met: map[string]int{}}
	p := &part{s: New(Partitionable), seen: map[Dot]bool{}, took: map[Dot]Command{}, ends: map[Dot]time.Duration{}}
	p.line = w.newLine()
	p.former = p.line
	w.parts = []*part{p}
	w.apply(p, Command{Op: Tick, Dot: w.name(), At: w.reading(p.line), Seen: 1})
	return w
}

// newLine begins a timeline, and returns its number. It may be close to others, or far away.
func (w *random) newLine() int {
	far := []time.Duration{ttl / 4, ttl, time.Hour}[w.rnd.IntN(3)]
	w.lines = append(w.lines, time.Duration(w.rnd.Int64N(int64(2*far)))-far)
	return len(w.lines)
}

// reading returns a reading of a clock that is right within its deviation.
func (w *random) reading(n int) clocksync.Reading {
	off := time.Duration(w.rnd.Int64N(int64(2*deviation))) - deviation
	return at(line(n), w.now+w.lines[n-1]+off, deviation)
}

// clock returns what the clock of some writer of a part reads. Some have not heard of the leader,
// and some do not know the time.
func (w *random) clock(p *part) clocksync.Reading {
	switch w.rnd.IntN(20) {
	case 0:
		return clocksync.Reading{Time: clocksync.Time(w.now) * 2, Deviation: clocksync.UnknownBound}
	case 1, 2:
		return w.reading(p.former)
	}
	return w.reading(p.line)
}

// tick returns a command as stores submit it: they look how far the state is before they read the
// clock, if that matters.
func (w *random) tick(p *part) Command {
	c := Command{Op: Tick, Dot: w.name(), At: w.reading(p.line)}
	if _, seen := p.s.Due(c.At, true); seen {
		c.Seen = p.s.Seen()
	}
	w.wrote[c.Dot] = w.now
	return c
}

// name returns the name of another command, of one of five writers.
func (w *random) name() Dot {
	writer := uint64(1 + w.rnd.IntN(5))
	w.n[writer]++
	return Dot{writer, w.n[writer]}
}

// play lets some hundred things happen.
func (w *random) play() {
	for range 150 {
		w.now += time.Duration(w.rnd.Int64N(int64(4 * deviation)))
		if w.rnd.IntN(20) == 0 {
			w.now += time.Duration(w.rnd.Int64N(int64(ttl)))
		}
		p := w.parts[w.rnd.IntN(len(w.parts))]
		if w.rnd.IntN(1500) == 0 {
			w.refusals(p)
		}
		switch w.rnd.IntN(24) {
		case 0, 1:
			if len(w.parts) < 4 {
				w.parts = append(w.parts, w.split(p))
			}
		case 2, 3:
			w.meet()
		case 4:
			w.lead(p)
		case 5, 6, 7:
			w.send(p, w.tick(p))
		case 8, 9, 10, 11:
			w.order(p)
		default:
			w.command(p)
		}
	}
	for len(w.parts) > 1 {
		w.meet()
	}
	w.rest(w.split(w.parts[0]))
}

// lead gives a part another leader.
func (w *random) lead(p *part) {
	p.former, p.line = p.line, w.newLine()
	w.met["led"]++
}

// rest applies what waits, and then only the commands that a store submits when leases are due.
// All of them end.
func (w *random) rest(p *part) {
	for len(p.flight) > 0 {
		w.order(p)
	}
	const look = ttl / 10
	for began := w.now; p.s.leases.n > 0; w.now += look {
		require.LessOrEqual(w.t, w.now-began, ttl+4*deviation+3*look, "a lease does not end")
		if c := w.tick(p); due(p.s, c.At) {
			w.apply(p, c)
		}
	}
}

// copy returns a copy of a state, and demands that it is one.
func (w *random) copy(s *State) *State {
	b := written(w.t, s)
	o := New(s.kind)
	require.NoError(w.t, o.Restore(bytes.NewReader(b)))
	require.Equal(w.t, b, written(w.t, o))
	return o
}

// split returns a part that had all that another one has. What waits may be ordered in both.
func (w *random) split(p *part) *part {
	o := &part{w.copy(p.s), maps.Clone(p.seen), maps.Clone(p.took), maps.Clone(p.ends), p.line, p.former, slices.Clone(p.flight)}
	if w.rnd.IntN(2) == 0 {
		w.lead(o)
	}
	return o
}

// send has a part order a command, now or later.
func (w *random) send(p *part, c Command) {
	if w.rnd.IntN(3) == 0 {
		p.flight = append(p.flight, c)
		return
	}
	w.apply(p, c)
}

// order has a part order one of the commands that wait.
func (w *random) order(p *part) {
	if len(p.flight) == 0 {
		return
	}
	i := w.rnd.IntN(len(p.flight))
	c := p.flight[i]
	p.flight = slices.Delete(p.flight, i, i+1)
	w.apply(p, c)
	w.met["late"]++
}

// command has a part order a random command.
func (w *random) command(p *part) {
	c := Command{Op: []Op{Put, Delete, Grant, Renew, Renew, Revoke, Resolve}[w.rnd.IntN(7)], Dot: w.name(), At: w.clock(p), Key: fmt.Sprint("k", w.rnd.IntN(4))}
	if w.rnd.IntN(2) > 0 {
		c.Op = Put
	}
	w.wrote[c.Dot] = w.now
	switch c.Op {
	case Put:
		c.Value = fmt.Append(nil, w.rnd.IntN(1000))
		if w.rnd.IntN(4) == 0 {
			c.TTL = ttl
		}
		c.Match = w.rnd.IntN(4) == 0
		c.Version = p.s.versionOf(c.Key)
	case Grant:
		c.TTL = ttl
	case Renew, Revoke:
		for _, l := range p.s.leases.all() {
			if c.Lease = l.id; w.rnd.IntN(3) == 0 {
				break
			}
		}
	case Resolve:
		if list := p.s.Conflicts(""); len(list) > 0 {
			c.Key, c.Lease = list[0].Lost.Key, list[0].Lost.Dot
		}
	}
	w.send(p, c)
	if w.rnd.IntN(15) == 0 { // messages that are in flight at a split may be ordered in two parts
		if o := w.parts[w.rnd.IntN(len(w.parts))]; o != p {
			w.apply(o, c)
			w.met["ordered twice"]++
		}
	}
}

// refusals has a new writer write each key, and then has its commands refused, between writes,
// until its numbers have more gaps than a part remembers.
func (w *random) refusals(p *part) {
	writer, number := 1000+w.rnd.Uint64N(1<<20), uint64(0)
	put := func(key string, refused bool) Command {
		number++
		w.wrote[Dot{writer, number}] = w.now
		return Command{Op: Put, Dot: Dot{writer, number}, At: w.clock(p), Key: key, Value: fmt.Append(nil, w.rnd.IntN(1000)), Match: refused, Version: Version{Revision: 1 << 62}}
	}
	for i := range 4 {
		w.apply(p, put(fmt.Sprint("k", i), false))
	}
	for range maxSpans + 1 {
		for _, refused := range []bool{true, false} {
			c := put("refused", refused)
			if p.s.Apply(c.Encode()).Status == Done {
				p.seen[c.Dot], p.took[c.Dot] = true, c
			}
		}
	}
	w.met["refusals"]++
}

// apply lets a part apply a command.
func (w *random) apply(p *part, c Command) {
	before, same := w.copy(p.s), w.copy(p.s)
	r := p.s.Apply(c.Encode())
	require.Equal(w.t, r, same.Apply(c.Encode()), "a copy does the same")
	counted(w.t, p.s)
	require.Equal(w.t, written(w.t, same), written(w.t, p.s))
	w.lasted(p, before, &c)
	p.took[c.Dot] = c
	if r.Status == Done {
		p.seen[c.Dot] = true
		id := c.Dot // if it is a lease
		if c.Op == Renew {
			id = c.Lease
		}
		p.ends[id] = max(p.ends[id], w.wrote[c.Dot]+ttl)
	}
	w.met[c.Op.String()+" "+r.Status.String()]++
}

// lasted demands that no lease has ended early by a command, unless it was of the write that
// the command replaces.
func (w *random) lasted(p *part, before *State, c *Command) {
	old := before.entry(c.Key)
	for _, l := range before.leases.all() {
		if now, _ := p.s.keys.get(c.Key); old != nil && old.Dot == l.id && now != nil && now.Dot == c.Dot {
			w.met["lease of a former write"]++
			continue
		}
		if _, found := p.s.leases.get(l.id.String()); found || c.Op == Revoke && c.Lease == l.id {
			continue
		}
		require.Less(w.t, p.ends[l.id], w.now, "the lease ends early")
		w.met["expired"]++
	}
}

// meet lets some parts meet. For every value that does not stay it demands a reason.
func (w *random) meet() {
	if len(w.parts) < 2 {
		return
	}
	w.rnd.Shuffle(len(w.parts), func(i, j int) { w.parts[i], w.parts[j] = w.parts[j], w.parts[i] })
	n := 2 + w.rnd.IntN(len(w.parts)-1)
	group := w.parts[:n]
	var branches, others []*State
	seen, took := map[Dot]bool{}, map[Dot]Command{}
	for _, p := range group {
		branches, others = append(branches, w.copy(p.s)), append(others, w.copy(p.s))
		maps.Copy(seen, p.seen)
		maps.Copy(took, p.took)
	}
	m := New(Partitionable)
	m.Merge(branches)
	counted(w.t, m)
	other := w.copy(group[0].s)
	other.Merge(others)
	require.Equal(w.t, written(w.t, m), written(w.t, other), "a merger depends on the branches only")
	for _, p := range group {
		require.Greater(w.t, m.revision, p.s.revision)
		for _, e := range p.s.keys.all() {
			w.explain(group, p, e, m)
		}
	}
	again := w.copy(m)
	for d, c := range took {
		if !seen[d] && w.met["refusals"] > 0 {
			continue // others came after it, more than are remembered
		}
		require.Equal(w.t, Repeated, again.Apply(c.Encode()).Status, "%v, which a part had", d)
	}
	require.Equal(w.t, written(w.t, m), written(w.t, again))
	w.met["met"]++
	ends := map[Dot]time.Duration{}
	for _, l := range m.leases.all() {
		ends[l.id] = w.now + ttl // it begins anew
	}
	all := &part{m, seen, took, ends, group[0].line, group[1].line, nil}
	for _, p := range group {
		for _, c := range p.flight {
			if !slices.ContainsFunc(all.flight, func(o Command) bool { return o.Dot == c.Dot }) {
				all.flight = append(all.flight, c)
			}
		}
	}
	w.parts = append([]*part{all}, w.parts[n:]...)
}

// explain demands that the entry of a part stays, or was overwritten, or overtaken by a
// later write, or is a conflict.
func (w *random) explain(group []*part, p *part, e *Entry, m *State) {
	now, _ := m.keys.get(e.Key)
	require.NotNil(w.t, now, "a key of a part is gone")
	if now.Dot == e.Dot {
		return
	}
	if p.seen[now.Dot] {
		require.True(w.t, slices.ContainsFunc(group, func(o *part) bool {
			f, found := o.s.keys.get(e.Key)
			return found && f.Dot == now.Dot && o.seen[e.Dot]
		}), "%v of %s gives way to %v, which it has overwritten", e.Dot, e.Key, now.Dot)
	}
	for _, o := range group {
		f, found := o.s.keys.get(e.Key)
		if !found || f.Dot == e.Dot {
			continue
		}
		if o.seen[e.Dot] && !p.seen[f.Dot] {
			w.met["overwritten"]++
			return
		}
		if e.At.Timeline == f.At.Timeline && e.At.Deviation == deviation && f.At.Deviation == deviation && e.At.Latest() < f.At.Earliest() {
			require.Less(w.t, w.wrote[e.Dot], w.wrote[f.Dot])
			w.met["overtaken"]++
			return
		}
	}
	if e.Deleted == now.Deleted && bytes.Equal(e.Value, now.Value) {
		return
	}
	c, found := m.conflicts.get(conflictKey(e.Key, e.Dot))
	require.True(w.t, found, "%v of %s is gone without a word", e.Dot, e.Key)
	require.True(w.t, c.resolved || c.Lost.Dot == e.Dot && bytes.Equal(c.Lost.Value, e.Value))
	w.met["conflict"]++
}

// worlds plays random worlds, and returns what happened in them.
func worlds(t testing.TB, first, count uint64) map[string]int {
	met := map[string]int{}
	for seed := range count {
		w := newRandom(t, first+seed)
		w.play()
		for k, n := range w.met {
			met[k] += n
		}
	}
	return met
}

// No value of a part is gone without a reason, in random worlds.
func TestNothingIsLostInSilence(t *testing.T) {
	count := uint64(100)
	if testing.Short() {
		count = 30
	}
	met := worlds(t, 0, count)
	for _, situation := range []string{"met", "overwritten", "overtaken", "conflict", "ordered twice", "expired", "put done", "put version mismatch",
		"delete done", "grant done", "renew done", "revoke done", "resolve done", "tick done",
		"lease of a former write", "refusals", "led", "late"} {
		require.Positive(t, met[situation], situation)
	}
	t.Log(met)
}
