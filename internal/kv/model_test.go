package kv

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
)

// model is a linearizable store in its simplest form: it forgets nothing, and looks at all
// it has for every command.
type model struct {
	revision uint64
	keys     map[string]modelKey
	leases   map[Dot]modelLease
	clock    orderedClock
	taken    uint64 // commands with an effect
	told     bool   // a Tick has said what its writer had seen: before, the rules of earlier builds hold
	changes  []modelChange
	places   []Place // by revision
	expired  uint64
}

type modelKey struct {
	value            string // its length and first byte
	version, created uint64
	lease            Dot
	own              bool // the write has made the lease
}

func begin(value []byte) string { return fmt.Sprint(len(value), value[0]) }

type modelLease struct {
	ttl      time.Duration
	timeline clocksync.TimelineID
	end      clocksync.Time
	waits    uint64 // without a timeline: until a Tick has seen so many commands
}

type modelChange struct {
	key              string
	revision         uint64
	expired, deleted bool
}

// begin returns a lease of this time whose time begins with a command.
func (m *model) begin(ttl time.Duration, at clocksync.Reading) modelLease {
	if Tells(&at) {
		return modelLease{ttl: ttl, timeline: at.Timeline, end: at.Time + clocksync.Time(at.Deviation+ttl)}
	}
	return m.wait(ttl)
}

// wait returns a lease that waits for a Tick that has seen the present command.
func (m *model) wait(ttl time.Duration) modelLease {
	if !m.told {
		return modelLease{ttl: ttl}
	}
	return modelLease{ttl: ttl, waits: m.taken + 1}
}

// advance lets the time pass that a command tells.
func (m *model) advance(c *Command) {
	at := c.At
	if !Tells(&at) {
		return
	}
	if c.Op == Tick && c.Seen > 0 {
		m.told = true
	}
	earliest := at.Time - clocksync.Time(at.Deviation)
	if at.Timeline == m.clock.timeline {
		m.clock.now = max(m.clock.now, earliest)
	} else if c.Op == Tick || !m.told {
		m.clock = orderedClock{at.Timeline, earliest}
	} else {
		return
	}
	var over []string
	for id, l := range m.leases {
		switch {
		case l.timeline == m.clock.timeline:
			if l.end < m.clock.now {
				over = append(over, id.String())
			}
		case !m.told || c.Op == Tick && l.timeline.None() && l.waits <= c.Seen:
			m.leases[id] = m.begin(l.ttl, at)
		case c.Op == Tick && !l.timeline.None():
			m.leases[id] = m.wait(l.ttl)
		}
	}
	for _, id := range slices.Sorted(slices.Values(over)) {
		d, _ := ParseDot(id)
		m.end(d, true)
	}
}

// end ends a lease and its keys.
func (m *model) end(id Dot, expired bool) {
	var keys []string
	for key, k := range m.keys {
		if k.lease == id {
			keys = append(keys, key)
		}
	}
	if len(keys) > 0 {
		m.revision++
	}
	for _, key := range slices.Sorted(slices.Values(keys)) {
		delete(m.keys, key)
		m.changes = append(m.changes, modelChange{key, m.revision, expired, true})
		if expired {
			m.expired++
		}
	}
	delete(m.leases, id)
}

// leave ends the lease that the last write of a key has made, unless another key has it.
func (m *model) leave(key string) {
	id := m.keys[key].lease
	for other, k := range m.keys {
		if other != key && k.lease == id {
			return
		}
	}
	if m.keys[key].own {
		delete(m.leases, id)
	}
}

// apply returns the status of a command that is within the limits.
func (m *model) apply(c *Command) Status {
	m.advance(c)
	status := m.perform(c)
	if status == Done {
		m.taken++
	}
	return status
}

func (m *model) perform(c *Command) Status {
	old, exists := m.keys[c.Key]
	lease, leased := m.leases[c.Lease]
	switch {
	case c.Match && c.Version != (Version{Revision: old.version}):
		return Mismatch
	case c.Op == Delete && !exists, c.Lease != (Dot{}) && c.TTL == 0 && !leased, c.Op == Resolve:
		return NotFound
	}
	switch c.Op {
	case Put:
		m.revision++
		if m.keys[c.Key].lease != c.Lease || c.TTL != 0 {
			m.leave(c.Key)
		}
		k := modelKey{begin(c.Value), m.revision, m.revision, c.Lease, false}
		if exists {
			k.created = old.created
		}
		if c.TTL != 0 {
			k.lease, k.own, m.leases[c.Dot] = c.Dot, true, m.begin(c.TTL, c.At)
		}
		m.keys[c.Key] = k
		m.changes = append(m.changes, modelChange{c.Key, m.revision, false, false})
	case Delete:
		m.revision++
		m.leave(c.Key)
		delete(m.keys, c.Key)
		m.changes = append(m.changes, modelChange{c.Key, m.revision, false, true})
	case Grant:
		m.leases[c.Dot] = m.begin(c.TTL, c.At)
	case Renew:
		again := m.begin(lease.ttl, c.At)
		if again.timeline == lease.timeline {
			again.end = max(again.end, lease.end)
		} else if m.told {
			again = m.wait(lease.ttl)
		}
		m.leases[c.Lease] = again
	case Revoke:
		m.end(c.Lease, false)
	}
	return Done
}

// twin is a state beside its model.
type twin struct {
	t      testing.TB
	rnd    *rand.Rand
	s      *State
	m      model
	n      uint64
	now    time.Duration         // true
	former int                   // so many commands are of earlier builds, whose Ticks do not say what they have seen
	read   map[Dot]time.Duration // when the clock of a command was read
	ends   map[Dot]time.Duration // no lease may end before, by true time

	late []Command // drawn, and overtaken by others
	done []Command // the last ones
}

// modelKeys are the keys of a twin. Some begin with others.
var modelKeys = []string{"a", "aa", "ab", "b", "b/", "b/a", "b/b", "c"}

func newTwin(t testing.TB, seed uint64) *twin {
	w := &twin{t: t, rnd: rand.New(rand.NewPCG(seed, 11)), s: New(Linearizable), now: time.Hour,
		m:    model{keys: map[string]modelKey{}, leases: map[Dot]modelLease{}, places: []Place{{}}},
		read: map[Dot]time.Duration{}, ends: map[Dot]time.Duration{}}
	if seed%3 == 0 {
		w.former = w.rnd.IntN(300)
	} else {
		w.n++
		w.apply(Command{Op: Tick, Dot: Dot{1, w.n}, At: at(line(1), w.now, deviation), Seen: 1})
	}
	return w
}

// reading returns a reading of one of three timelines, which are far apart. Most commands
// come from the first, and some from no clock.
func (w *twin) reading() clocksync.Reading {
	n := max(0, w.rnd.IntN(12)-8)
	if n == 3 {
		return clocksync.Reading{Deviation: clocksync.UnknownBound}
	}
	off := []time.Duration{0, -59 * time.Minute, time.Hour}[n] + time.Duration(w.rnd.Int64N(int64(2*deviation))) - deviation
	return at(line(1+n), w.now+off, deviation)
}

// lease returns a lease that there is or was.
func (w *twin) lease() (id Dot) {
	for d := range w.m.leases {
		if id == (Dot{}) || d.compare(id) < 0 {
			id = d
		}
	}
	if id == (Dot{}) || w.rnd.IntN(5) == 0 {
		id = Dot{1, 1 + w.rnd.Uint64N(w.n)}
	}
	return id
}

// command applies a random command to both. It may be an old one that others have overtaken, or
// come again.
func (w *twin) command() {
	c := w.draw()
	if w.rnd.IntN(5) == 0 {
		w.late = append(w.late, c)
		i := w.rnd.IntN(len(w.late))
		c = w.late[i]
		w.late = slices.Delete(w.late, i, i+1)
		if len(w.late) < 3 {
			w.late = append(w.late, c)
			return
		}
	}
	w.apply(c)
	if w.done = append(w.done, c); len(w.done) > 9 {
		w.done = w.done[1:]
	}
	if w.rnd.IntN(5) == 0 {
		again := w.done[w.rnd.IntN(len(w.done))]
		r := w.s.Apply(again.Encode())
		require.Equal(w.t, Repeated, r.Status, "%v", again.Op)
		require.Equal(w.t, w.m.revision, r.Revision)
	}
}

// draw returns a random command.
func (w *twin) draw() Command {
	w.n++
	w.now += time.Duration(w.rnd.Int64N(int64(ttl / 5)))
	c := Command{Op: Put, Dot: Dot{1, w.n}, At: w.reading()}
	w.read[c.Dot] = w.now
	if w.rnd.IntN(2) == 0 {
		c.Op = Op(1 + w.rnd.IntN(int(Resolve)))
	}
	if c.Op == Put || c.Op == Delete {
		c.Key = modelKeys[w.rnd.IntN(len(modelKeys))]
		if c.Match = w.rnd.IntN(3) == 0; c.Match && w.rnd.IntN(3) > 0 {
			c.Version.Revision = w.m.keys[c.Key].version
		}
	}
	switch c.Op {
	case Put:
		size := 8
		if w.rnd.IntN(4) == 0 {
			size = MaxValueBytes // a few of them are all the history that is kept
		}
		c.Value = bytes.Repeat([]byte{byte(w.n)}, size)
		switch w.rnd.IntN(5) {
		case 0:
			c.TTL = ttl
		case 1:
			c.Lease = w.lease()
		}
	case Grant:
		c.TTL = ttl
	case Renew, Revoke, Resolve:
		c.Lease = w.lease()
	case Tick:
		if w.n > uint64(w.former) && w.rnd.IntN(9) > 0 {
			c.Seen = max(1, w.m.taken)
		}
	}
	return c
}

// apply applies a command to both.
func (w *twin) apply(c Command) {
	due, leases := due(w.s, c.At), maps.Clone(w.m.leases)
	r, status := w.s.Apply(c.Encode()), w.m.apply(&c)
	var made Dot
	if status == Done && (c.Op == Grant || c.TTL != 0) {
		made = c.Dot
	}
	require.Equal(w.t, made, r.Lease)
	require.Equal(w.t, status, r.Status, "%v", c.Op)
	require.Equal(w.t, w.m.revision, r.Revision)
	require.Equal(w.t, w.m.keys[c.Key].version, r.Version.Revision, "%v", c.Op)
	w.lasted(leases, &c, status)
	if c.Op == Tick {
		require.True(w.t, due || maps.Equal(leases, w.m.leases), "no command was due, and one has changed the leases")
	}
	for n := uint64(len(w.m.places)); n <= w.m.revision; n++ {
		w.m.places = append(w.m.places, Place{Revision: n}) // all but the last one are of leases that have ended
	}
	w.m.places[w.m.revision] = w.s.Place()
}

// lasted demands that none of the former leases has ended early by a command, unless they began
// under the rules of earlier builds.
func (w *twin) lasted(former map[Dot]modelLease, c *Command, status Status) {
	for id := range former {
		if _, lasts := w.m.leases[id]; !lasts && w.former == 0 && c.Op != Revoke && c.Op != Put && c.Op != Delete {
			require.Less(w.t, w.ends[id], w.now, "a lease ends early")
		}
	}
	id := c.Dot // if it is a lease
	if c.Op == Renew {
		id = c.Lease
	}
	if status == Done {
		w.ends[id] = max(w.ends[id], w.read[c.Dot]+ttl)
	}
}

// compare demands that the two have the same.
func (w *twin) compare() {
	require.Equal(w.t, Counts{Expired: w.m.expired}, w.s.counts)
	require.Equal(w.t, len(w.m.leases), w.s.leases.n)
	for id, want := range w.m.leases {
		l, found := w.s.Lease(id)
		require.True(w.t, found)
		got := modelLease{ttl: l.TTL, timeline: l.Timeline, end: l.End}
		if in, _ := w.s.leases.get(id.String()); got.timeline.None() {
			got.waits = uint64(in.end)
		}
		require.Equal(w.t, want, got)
		for _, key := range modelKeys {
			require.Equal(w.t, w.m.keys[key].lease == id, slices.Contains(l.Keys, key))
		}
	}
	size := 0
	for _, key := range modelKeys {
		want, exists := w.m.keys[key]
		e := w.s.Get(key)
		require.Equal(w.t, exists, e != nil)
		if exists {
			size += e.bytes()
			require.Equal(w.t, want, modelKey{begin(e.Value), e.Version.Revision, e.Created, e.Lease, want.own})
		}
	}
	require.Equal(w.t, size, w.s.Summary().Bytes)
	counted(w.t, w.s)
	w.comparePages()
	w.compareChanges()
}

// comparePages walks through the keys in pages.
func (w *twin) comparePages() {
	prefix, limit := modelKeys[w.rnd.IntN(len(modelKeys))][:w.rnd.IntN(2)], 1+w.rnd.IntN(4)
	if w.rnd.IntN(2) == 0 {
		prefix = modelKeys[w.rnd.IntN(len(modelKeys))]
	}
	var got, want []string
	for after, more := "", true; more; after = got[len(got)-1] {
		var page []*Entry
		page, more = w.s.List(prefix, after, limit, MaxListBytes)
		require.True(w.t, len(page) <= limit && len(got) <= len(modelKeys), "pages without an end")
		for _, e := range page {
			got = append(got, e.Key)
		}
		if len(got) == 0 {
			break
		}
	}
	for _, key := range modelKeys {
		if _, exists := w.m.keys[key]; exists && strings.HasPrefix(key, prefix) {
			want = append(want, key)
		}
	}
	require.Equal(w.t, want, got)
}

// compareChanges asks for the changes after every place that there was.
func (w *twin) compareChanges() {
	oldest := w.s.Oldest()
	next := 0
	for _, p := range w.m.places {
		for next < len(w.m.changes) && w.m.changes[next].revision <= p.Revision {
			next++
		}
		list, err := w.changesSince(p)
		if p.Revision < oldest {
			require.ErrorIs(w.t, err, ErrCompacted)
			continue
		}
		require.NoError(w.t, err, "changes after %v, of which those after %d are kept", p, oldest)
		require.Len(w.t, list, len(w.m.changes)-next)
		for i, c := range list {
			require.Equal(w.t, w.m.changes[next+i], modelChange{c.Key, c.Revision, c.Expired, c.Deleted})
		}
		err = w.s.Reached(Place{p.Revision, p.Chain ^ 1})
		if p.Chain > 1 {
			require.ErrorIs(w.t, err, ErrOtherPart)
		}
	}
	require.ErrorIs(w.t, w.s.Reached(Place{Revision: w.m.revision + 1}), ErrAhead)
}

// changesSince returns the changes after a place, which it gets in pieces.
func (w *twin) changesSince(p Place) (all []Change, err error) {
	for bytes, more := w.rnd.IntN(1000), true; more; p = all[len(all)-1].Place() {
		var piece []Change
		if piece, more, err = w.s.Since(p, bytes); err != nil || len(all)+len(piece) == 0 {
			return nil, err
		}
		all = append(all, piece...)
	}
	return all, nil
}

// restart replaces the state by what is written down of it.
func (w *twin) restart() {
	b := written(w.t, w.s)
	w.s = New(Linearizable)
	require.NoError(w.t, w.s.Restore(bytes.NewReader(b)))
}

// asTheModel plays random commands, with restarts.
func asTheModel(t testing.TB, first, count uint64) (compacted, expired uint64) {
	for seed := range count {
		w := newTwin(t, first+seed)
		for i := range 400 {
			w.command()
			if i%50 == 49 {
				w.compare()
				w.restart()
				w.compare()
			}
		}
		compacted, expired = compacted+w.s.Oldest(), expired+w.m.expired
	}
	return compacted, expired
}

// A store does what its model does, in random lives with restarts.
func TestStoresDoAsTheModel(t *testing.T) {
	compacted, expired := asTheModel(t, 0, 6)
	require.Positive(t, compacted)
	require.Positive(t, expired)
	t.Log(fmt.Sprint(compacted, " revisions are compacted, ", expired, " keys have expired"))
}
