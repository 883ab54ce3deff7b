package kv

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
)

// line is a timeline of the tests.
func line(leader int) clocksync.TimelineID {
	return clocksync.TimelineID{Leader: 1, Boot: 1, Sequence: uint64(leader)}
}

// at returns a reading of a timeline that is wrong by at most a deviation.
func at(t clocksync.TimelineID, now, deviation time.Duration) clocksync.Reading {
	return clocksync.Reading{Time: clocksync.Time(now), Deviation: deviation, UTCBound: clocksync.UnknownBound, Status: clocksync.Internal, Timeline: t}
}

// world gives commands names and times.
type world struct {
	t    testing.TB
	s    *State
	n    uint64
	name uint64
	now  clocksync.Reading
}

// newWorld returns a world whose state was told before what a Tick had seen.
func newWorld(t testing.TB, kind Kind) *world {
	s := New(kind)
	s.told = true
	return &world{t: t, s: s, name: 1, now: at(line(1), time.Hour, time.Millisecond)}
}

// do performs a command. A Tick has seen all before it.
func (w *world) do(c Command) Result {
	w.n++
	c.Dot, c.At = Dot{w.name, w.n}, w.now
	if c.Op == Tick {
		c.Seen = w.s.Seen()
	}
	return w.s.Apply(c.Encode())
}

func (w *world) put(key, value string) Result {
	return w.do(Command{Op: Put, Key: key, Value: []byte(value)})
}

// value returns the value of a key, or "-".
func (w *world) value(key string) string {
	if e := w.s.Get(key); e != nil {
		return string(e.Value)
	}
	return "-"
}

// part returns a world whose state is a copy, for another part of the group.
func (w *world) part(name uint64) *world {
	o := &world{t: w.t, s: w.copy(), name: name, now: w.now}
	return o
}

// copy returns a copy of the state.
func (w *world) copy() *State {
	s := New(w.s.kind)
	require.NoError(w.t, s.Restore(bytes.NewReader(written(w.t, w.s))))
	return s
}

func written(t testing.TB, s *State) []byte {
	var b bytes.Buffer
	require.NoError(t, s.Snapshot(&b))
	return b.Bytes()
}

// due reports whether a Tick that says what its writer has seen is due.
func due(s *State, at clocksync.Reading) bool {
	due, _ := s.Due(at, true)
	return due
}

func TestKeysAreWrittenReadAndDeleted(t *testing.T) {
	for _, kind := range []Kind{Linearizable, Partitionable} {
		w := newWorld(t, kind)
		r := w.put("a", "1")
		require.Equal(t, Done, r.Status)
		require.Equal(t, uint64(1), r.Revision)
		require.Equal(t, uint64(1), r.Version.Revision)
		require.Equal(t, kind == Partitionable, r.Version.Mark != 0)
		w.put("b", "2")
		w.put("a", "3")
		e := w.s.Get("a")
		require.Equal(t, "3", string(e.Value))
		require.Equal(t, uint64(3), e.Version.Revision)
		require.Equal(t, uint64(1), e.Created)
		require.Equal(t, Done, w.do(Command{Op: Delete, Key: "a"}).Status)
		require.Nil(t, w.s.Get("a"))
		require.Equal(t, NotFound, w.do(Command{Op: Delete, Key: "a"}).Status)
		require.Equal(t, 1, w.s.Summary().Keys)
		w.put("a", "4")
		require.Equal(t, uint64(5), w.s.Get("a").Created, "it exists anew")
	}
}

// casNeedsTheVersion is the rule of cas: nothing happens unless the key has the version.
func casNeedsTheVersion(t testing.TB) {
	w := newWorld(t, Linearizable)
	none := Command{Op: Put, Key: "a", Value: []byte("1"), Match: true}
	require.Equal(t, Done, w.do(none).Status)
	r := w.do(none)
	require.Equal(t, Mismatch, r.Status, "it exists")
	require.Equal(t, w.s.Get("a").Version, r.Version, "the answer has the version of the key")
	require.Equal(t, "1", w.value("a"))
	next := Command{Op: Put, Key: "a", Value: []byte("2"), Match: true, Version: r.Version}
	require.Equal(t, Done, w.do(next).Status)
	require.Equal(t, Mismatch, w.do(next).Status)
	require.Equal(t, Mismatch, w.do(Command{Op: Delete, Key: "a", Match: true, Version: r.Version}).Status)
	require.Equal(t, "2", w.value("a"))
	require.Equal(t, Done, w.do(Command{Op: Delete, Key: "a", Match: true, Version: w.s.Get("a").Version}).Status)
}

func TestCasNeedsTheVersion(t *testing.T) { casNeedsTheVersion(t) }

// appliedOnce is the rule of dots: a command that comes again changes nothing.
func appliedOnce(t testing.TB) {
	w := newWorld(t, Linearizable)
	put := Command{Op: Put, Dot: Dot{9, 1}, Key: "a", Value: []byte("1")}
	miss := Command{Op: Put, Dot: Dot{9, 2}, Key: "a", Value: []byte("9"), Match: true}
	require.Equal(t, Done, w.s.Apply(put.Encode()).Status)
	require.Equal(t, Mismatch, w.s.Apply(miss.Encode()).Status)
	w.put("a", "2")
	require.Equal(t, Repeated, w.s.Apply(put.Encode()).Status)
	require.Equal(t, "2", w.value("a"))
	w.do(Command{Op: Delete, Key: "a"})
	require.Equal(t, Repeated, w.s.Apply(miss.Encode()).Status)
	require.Equal(t, "-", w.value("a"))
	for range maxVoid + 1 {
		w.do(Command{Op: Delete, Key: "a"})
	}
	last := Command{Op: Put, Dot: Dot{w.name, w.n}, Key: "a", Value: []byte("9")}
	require.Equal(t, Repeated, w.s.Apply(last.Encode()).Status, "the latest commands without an effect are known")
}

func TestCommandsAreAppliedOnce(t *testing.T) { appliedOnce(t) }

func TestListsHavePagesAndPrefixes(t *testing.T) {
	w := newWorld(t, Partitionable)
	for i := range 25 {
		w.put(fmt.Sprintf("dir/%02d", i), "v")
	}
	w.put("di", "v")
	w.put("dir0", "v")
	w.do(Command{Op: Delete, Key: "dir/07"})
	var keys []string
	after, more := "", true
	for more {
		var page []*Entry
		page, more = w.s.List("dir/", after, 10, math.MaxInt)
		for _, e := range page {
			keys = append(keys, e.Key)
			after = e.Key
		}
		require.LessOrEqual(t, len(page), 10)
	}
	require.Len(t, keys, 24)
	require.NotContains(t, keys, "dir/07")
	all, more := w.s.List("", "", MaxKeys, math.MaxInt)
	require.Len(t, all, 26)
	require.False(t, more)
	none, more := w.s.List("x", "", 5, MaxListBytes)
	require.Empty(t, none)
	require.False(t, more)
	before, _ := w.s.List("dir/", "a", 1, MaxListBytes)
	require.Equal(t, "dir/00", before[0].Key)
}

// pagesAreBounded is the rule of pages of large values: they fit into an answer.
func pagesAreBounded(t testing.TB) {
	w := newWorld(t, Linearizable)
	const values = MaxListBytes/MaxValueBytes + 1
	for i := range values {
		w.put(strconv.Itoa(i), strings.Repeat("v", MaxValueBytes))
	}
	first, more := w.s.List("", "", MaxList, MaxListBytes)
	require.True(t, more)
	require.Len(t, first, MaxListBytes/MaxValueBytes-1, "as many as there is room for, with their keys")
	rest, more := w.s.List("", first[len(first)-1].Key, MaxList, MaxListBytes)
	require.False(t, more)
	require.Len(t, rest, values-len(first))
}

func TestPagesOfLargeValuesAreBounded(t *testing.T) { pagesAreBounded(t) }

// fullIsRefused is the rule of limits: at a limit nothing is added.
func fullIsRefused(t testing.TB) {
	w := newWorld(t, Linearizable)
	large := strings.Repeat("x", MaxValueBytes)
	n := 0
	for r := (Result{}); r.Status != Full; n++ {
		r = w.put(fmt.Sprint("k", n), large)
		if r.Status == Full {
			require.Equal(t, LimitBytes, r.Limit)
		}
		require.LessOrEqual(t, n, MaxBytes/MaxValueBytes+1)
	}
	require.LessOrEqual(t, w.s.Summary().Bytes, MaxBytes)
	require.Equal(t, Done, w.put("k0", "small").Status, "less is always accepted")
	require.LessOrEqual(t, w.s.history.bytes, MaxHistoryBytes)
	counted(t, w.s)
	w.s.bytes += MaxBytes // as after a merger
	require.Equal(t, Done, w.put("k1", "small").Status, "less is always accepted")
	require.Equal(t, LimitBytes, w.put("k1", "larger").Limit)
	require.Equal(t, LimitBytes, w.put("new", "").Limit)
	require.Equal(t, Done, w.put("k1", "again").Status)
}

func TestFullStatesRefuseMore(t *testing.T) {
	fullIsRefused(t)
	w := newWorld(t, Linearizable)
	for i := range MaxKeys {
		w.put(fmt.Sprintf("%d", i), "")
	}
	r := w.put("more", "")
	require.Equal(t, Full, r.Status)
	require.Equal(t, LimitKeys, r.Limit)
	require.Equal(t, Done, w.put("0", "again").Status)
	require.Len(t, w.s.history.changes, MaxHistory)
	for range MaxLeases {
		require.Equal(t, Done, w.do(Command{Op: Grant, TTL: time.Hour}).Status)
	}
	require.Equal(t, LimitLeases, w.do(Command{Op: Grant, TTL: time.Hour}).Limit)
	require.Equal(t, LimitLeases, w.do(Command{Op: Put, Key: "1", TTL: time.Hour}).Limit)
	require.Equal(t, Done, w.do(Command{Op: Revoke, Lease: Dot{w.name, w.n - 2}}).Status)
	for range 2 {
		require.Equal(t, Done, w.do(Command{Op: Put, Key: "1", TTL: time.Hour}).Status, "one lease gives way to the other")
	}
	require.Equal(t, LimitLeases, w.do(Command{Op: Put, Key: "2", TTL: time.Hour}).Limit)
}

// leasesNeverEndEarly is the rule of leases: they end when the readings prove that their
// time is over, and not before.
func leasesNeverEndEarly(t testing.TB) {
	const ttl, deviation = 10 * time.Second, time.Second
	w := newWorld(t, Linearizable)
	w.now = at(line(1), time.Hour, deviation)
	r := w.do(Command{Op: Grant, TTL: ttl})
	require.Equal(t, Done, r.Status)
	id := Dot{w.name, w.n}
	require.Equal(t, Done, w.do(Command{Op: Put, Key: "a", Lease: id}).Status)
	require.Equal(t, Done, w.do(Command{Op: Put, Key: "b", TTL: 2 * ttl}).Status)
	require.Equal(t, NotFound, w.do(Command{Op: Put, Key: "c", Lease: Dot{5, 5}}).Status)
	// Each clock may be wrong by its deviation, in opposite directions.
	w.now = at(line(1), time.Hour+ttl+2*deviation, deviation)
	w.do(Command{Op: Tick})
	require.NotNil(t, w.s.Get("a"))
	require.False(t, due(w.s, w.now))
	w.now.Time++
	require.True(t, due(w.s, w.now))
	w.do(Command{Op: Tick})
	require.Nil(t, w.s.Get("a"))
	require.NotNil(t, w.s.Get("b"))
	require.Equal(t, NotFound, w.do(Command{Op: Renew, Lease: id}).Status)
	require.Equal(t, uint64(1), w.s.Summary().Expired)
	require.Equal(t, 1, w.s.Summary().Leases)
}

func TestLeasesNeverEndEarly(t *testing.T) { leasesNeverEndEarly(t) }

// lateRenewals has a renewal overtake an earlier one, whose node was held up between its reading
// of the clock and the order of its command.
func lateRenewals(t testing.TB) {
	const ttl = 10 * time.Second
	w := newWorld(t, Linearizable)
	w.now = at(line(1), time.Hour, 0)
	id := w.do(Command{Op: Put, Key: "a", TTL: ttl}).Lease
	for _, read := range []time.Duration{8 * time.Second, 2 * time.Second} {
		w.now = at(line(1), time.Hour+read, 0)
		require.Equal(t, Done, w.do(Command{Op: Renew, Lease: id}).Status)
	}
	for _, end := range []time.Duration{13 * time.Second, 18 * time.Second} {
		w.now = at(line(1), time.Hour+end, 0)
		require.False(t, due(w.s, w.now))
		w.do(Command{Op: Tick})
		require.NotNil(t, w.s.Get("a"), "it was renewed %v before", end-8*time.Second)
	}
	w.now.Time++
	w.do(Command{Op: Tick})
	require.Nil(t, w.s.Get("a"))
}

func TestLateRenewalsTakeNothingAway(t *testing.T) { lateRenewals(t) }

// leasesEndOneByOne has one lease end just before another.
func leasesEndOneByOne(t testing.TB) {
	w := newWorld(t, Linearizable)
	w.now = at(line(1), time.Hour, 0)
	w.do(Command{Op: Put, Key: "first", TTL: time.Minute - 1})
	w.do(Command{Op: Put, Key: "second", TTL: time.Minute})
	for range 2 {
		w.now.Time += clocksync.Time(time.Minute) / 2
		w.do(Command{Op: Tick})
	}
	require.Nil(t, w.s.Get("first"))
	require.NotNil(t, w.s.Get("second"), "its time is just over, if clocks are right")
	w.now.Time++
	w.do(Command{Op: Tick})
	require.Nil(t, w.s.Get("second"))
}

func TestLeasesEndOneByOne(t *testing.T) { leasesEndOneByOne(t) }

// leasesEndByTheLatestClock has commands come late: a lease whose time is over by the reading
// of an earlier command does not live on.
func leasesEndByTheLatestClock(t testing.TB) {
	w := newWorld(t, Linearizable)
	w.do(Command{Op: Tick})
	w.now.Time -= clocksync.Time(time.Minute)
	w.do(Command{Op: Put, Key: "a", TTL: 10 * time.Second})
	require.True(t, due(w.s, w.now))
	w.do(Command{Op: Tick})
	require.Nil(t, w.s.Get("a"))
}

func TestLeasesEndByTheLatestClock(t *testing.T) { leasesEndByTheLatestClock(t) }

// leasesBeginAnew is the rule of timelines: nothing compares times of two of them.
func leasesBeginAnew(t testing.TB) {
	w := newWorld(t, Linearizable)
	id := w.do(Command{Op: Put, Key: "a", TTL: time.Minute}).Lease
	w.now = at(line(2), 100*time.Hour, 0)
	require.True(t, due(w.s, w.now))
	w.do(Command{Op: Tick})
	require.NotNil(t, w.s.Get("a"))
	l, _ := w.s.Lease(id)
	require.Equal(t, Lease{ID: id, TTL: time.Minute, Keys: []string{"a"}}, l, "it waits for a Tick that has seen this one")
	require.True(t, due(w.s, w.now))
	w.do(Command{Op: Tick})
	l, _ = w.s.Lease(id)
	require.Equal(t, Lease{id, time.Minute, w.now.Timeline, w.now.Time + clocksync.Time(time.Minute), []string{"a"}}, l)
	w.now.Time += clocksync.Time(time.Minute)
	require.False(t, due(w.s, w.now))
	w.do(Command{Op: Tick})
	require.NotNil(t, w.s.Get("a"))
	w.now.Time++
	w.put("x", "") // any command lets time pass
	require.Nil(t, w.s.Get("a"))
}

func TestLeasesBeginAnewOnAnotherTimeline(t *testing.T) { leasesBeginAnew(t) }

// oldReadings has a node that was cut off, with a timeline of its own, come back with commands that
// have waited. A lease that has just been renewed stays.
func oldReadings(t testing.TB) {
	w := newWorld(t, Linearizable)
	id := w.do(Command{Op: Put, Key: "a", TTL: time.Second}).Lease
	w.do(Command{Op: Tick})
	here := w.now
	for i := range 4 {
		w.now = at(line(2), time.Duration(i)*time.Hour, 0)
		w.put("b", "")
		require.NotNil(t, w.s.Get("a"))
	}
	require.False(t, due(w.s, here), "nothing has happened to it")
	w.now = here
	require.Equal(t, Done, w.do(Command{Op: Renew, Lease: id}).Status)
}

func TestOldReadingsEndNoLease(t *testing.T) { oldReadings(t) }

// unseenRenewals has a Tick wait while a lease is renewed that has waited for one. Its time is that
// from before the renewal.
func unseenRenewals(t testing.TB) {
	for _, other := range []bool{false, true} { // than that of the Tick is the timeline of the renewal
		w := newWorld(t, Linearizable)
		id := w.do(Command{Op: Put, Key: "a", TTL: time.Second}).Lease
		w.now = at(line(2), 100*time.Hour, 0)
		w.do(Command{Op: Tick})
		late := Command{Op: Tick, Dot: Dot{9, 1}, At: w.now, Seen: w.s.Seen()}
		w.now.Time += clocksync.Time(time.Minute)
		then := w.now
		if other {
			w.now = at(line(3), time.Hour, 0)
		}
		require.Equal(t, Done, w.do(Command{Op: Renew, Lease: id}).Status)
		require.Equal(t, Done, w.s.Apply(late.Encode()).Status)
		w.now = then
		w.now.Time += clocksync.Time(time.Second)
		w.do(Command{Op: Tick})
		require.NotNil(t, w.s.Get("a"), "it has been renewed a second before")
		w.do(Command{Op: Tick})
		w.now.Time += clocksync.Time(time.Second) + 1
		w.do(Command{Op: Tick})
		require.Nil(t, w.s.Get("a"))
	}
}

func TestATickThatHasNotSeenARenewalBeginsNothing(t *testing.T) { unseenRenewals(t) }

// strangeRenewals has a renewal overtake an earlier one, which a node on another timeline has made.
// That an hour has passed since the earlier one says nothing about the later one.
func strangeRenewals(t testing.TB) {
	w := newWorld(t, Linearizable)
	id := w.do(Command{Op: Put, Key: "a", TTL: time.Minute}).Lease
	w.do(Command{Op: Tick})
	here := w.now
	for _, now := range []clocksync.Reading{here, at(line(2), time.Hour, 0)} {
		w.now = now
		require.Equal(t, Done, w.do(Command{Op: Renew, Lease: id}).Status)
	}
	late := Command{Op: Tick, Dot: Dot{9, 1}, At: at(line(2), 2*time.Hour, 0)}
	require.Equal(t, Done, w.s.Apply(late.Encode()).Status)
	require.NotNil(t, w.s.Get("a"))
	w.now = here
	for range 2 {
		w.do(Command{Op: Tick})
	}
	l, _ := w.s.Lease(id)
	require.Equal(t, here.Timeline, l.Timeline)
	require.Equal(t, here.Latest()+clocksync.Time(time.Minute), l.End)
}

func TestRenewalsOnAnotherTimelineWait(t *testing.T) { strangeRenewals(t) }

// formerRules plays what logs of earlier builds have, and demands what these builds have made of it:
// any command moves the clock, and lets leases begin. A node that starts again from a
// snapshot keeps to that, until the first Tick that says what it has seen.
func formerRules(t testing.TB) {
	play := func(restart bool) (*world, Dot) {
		w := newWorld(t, Linearizable)
		w.s = New(Linearizable)
		id := w.do(Command{Op: Put, Key: "a", TTL: time.Minute}).Lease
		w.now = at(line(2), 100*time.Hour, 0)
		w.put("b", "")
		if restart {
			w.s = w.copy()
		}
		l, _ := w.s.Lease(id)
		require.Equal(t, Lease{id, time.Minute, w.now.Timeline, w.now.Time + clocksync.Time(time.Minute), []string{"a"}}, l)
		old, _ := w.s.Due(w.now, false)
		require.False(t, old)
		return w, id
	}
	for _, restart := range []bool{false, true} {
		w, id := play(restart)
		w.now = at(line(1), time.Hour, 0)
		require.Equal(t, Done, w.do(Command{Op: Renew, Lease: id}).Status)
		w.now.Time += clocksync.Time(time.Minute) + 1
		w.put("b", "")
		require.Nil(t, w.s.Get("a"), "as earlier builds do")

		w, _ = play(restart)
		require.True(t, due(w.s, w.now), "this build has other rules")
		w.do(Command{Op: Tick})
		if restart {
			w.s = w.copy()
		}
		require.False(t, due(w.s, w.now))
		for range 2 {
			w.now.Time += clocksync.Time(time.Hour)
			w.now.Timeline = line(3)
			w.put("b", "")
			require.NotNil(t, w.s.Get("a"))
		}
	}
}

func TestLogsOfFormerBuildsAreAppliedLikeThere(t *testing.T) { formerRules(t) }

func TestLeasesWaitForAClock(t *testing.T) {
	w := newWorld(t, Linearizable)
	known := w.now
	w.now = clocksync.Reading{Deviation: clocksync.UnknownBound}
	w.do(Command{Op: Put, Key: "a", TTL: time.Second})
	require.False(t, due(w.s, w.now))
	require.True(t, due(w.s, known))
	w.now = known
	w.do(Command{Op: Tick})
	require.NotNil(t, w.s.Get("a"), "its time begins here")
	require.False(t, due(w.s, known))
	require.Equal(t, Done, w.do(Command{Op: Renew, Lease: w.s.Get("a").Lease}).Status)
	l, found := w.s.Lease(w.s.Get("a").Lease)
	require.True(t, found)
	require.Equal(t, []string{"a"}, l.Keys)
	require.Equal(t, Done, w.do(Command{Op: Revoke, Lease: l.ID}).Status)
	require.Nil(t, w.s.Get("a"))
	require.Equal(t, NotFound, w.do(Command{Op: Revoke, Lease: l.ID}).Status)
}

// A key that is written again without its lease outlives it.
func TestKeysLeaveTheirLease(t *testing.T) {
	w := newWorld(t, Linearizable)
	w.do(Command{Op: Put, Key: "a", TTL: time.Second})
	w.put("a", "stays")
	w.now.Time += clocksync.Time(time.Hour)
	w.do(Command{Op: Tick})
	require.Equal(t, "stays", w.value("a"))
	require.Zero(t, w.s.Summary().Leases)
}

// leasesEndWithTheirWrite is the rule of leases that a write makes for its key: they end when
// the key is written again or deleted, unless other keys have them too, and their end is not
// that of a later value.
func leasesEndWithTheirWrite(t testing.TB) {
	for _, kind := range []Kind{Linearizable, Partitionable} {
		w := newWorld(t, kind)
		beat := Command{Op: Put, Key: "a", TTL: 10 * time.Second}
		for range 100 {
			require.Equal(t, Done, w.do(beat).Status)
			require.Equal(t, 1, w.s.Summary().Leases)
			w.now.Time += clocksync.Time(9 * time.Second)
		}
		require.Equal(t, "", w.value("a"), "it has been renewed in time")
		w.put("a", "stays")
		require.Zero(t, w.s.Summary().Leases)
		w.do(beat)
		w.do(Command{Op: Delete, Key: "a"})
		require.Zero(t, w.s.Summary().Leases)

		shared := w.do(beat).Lease
		require.Equal(t, Done, w.do(Command{Op: Put, Key: "b", Lease: shared}).Status)
		require.NotEqual(t, shared, w.do(beat).Lease)
		l, found := w.s.Lease(shared)
		require.True(t, found, "another key has it")
		require.Equal(t, []string{"b"}, l.Keys)

		kept := w.s.Get("a").Lease
		require.Equal(t, Done, w.do(Command{Op: Put, Key: "a", Lease: kept}).Status)
		require.Equal(t, Done, w.do(Command{Op: Renew, Lease: kept}).Status, "the new value is bound to it")
		w.do(Command{Op: Grant, TTL: time.Minute})
		granted := Dot{w.name, w.n}
		w.do(Command{Op: Put, Key: "c", Lease: granted})
		w.put("c", "")
		require.Equal(t, Done, w.do(Command{Op: Renew, Lease: granted}).Status, "no write has made it")
	}
}

func TestLeasesOfAWriteEndWithIt(t *testing.T) { leasesEndWithTheirWrite(t) }

// allSince returns all changes after a place.
func allSince(s *State, p Place) ([]Change, error) {
	list, _, err := s.Since(p, math.MaxInt)
	return list, err
}

// changesFollow is the rule of places: changes continue where they ended, or the error
// says why they do not.
func changesFollow(t testing.TB) {
	w := newWorld(t, Partitionable)
	w.put("a", "1")
	from := w.s.Place()
	w.put("b", "2")
	w.do(Command{Op: Delete, Key: "a"})
	list, err := allSince(w.s, from)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, "b", list[0].Key)
	require.True(t, list[1].Deleted)
	require.Equal(t, w.s.Place(), Place{list[1].Revision, uint32(list[1].chain)})
	list, err = allSince(w.s, w.s.Place())
	require.NoError(t, err)
	require.Empty(t, list)
	_, err = allSince(w.s, Place{Revision: 99})
	require.ErrorIs(t, err, ErrAhead)

	other := w.part(2)
	other.put("c", "3")
	w.put("c", "4")
	_, err = allSince(w.s, other.s.Place())
	require.ErrorIs(t, err, ErrOtherPart)
	_, err = allSince(w.s, Place{Revision: 4})
	require.NoError(t, err, "a revision alone is believed")

	w.s.Merge([]*State{w.copy(), other.copy()})
	_, err = allSince(w.s, from)
	require.ErrorIs(t, err, ErrCompacted)
	_, err = allSince(w.s, w.s.Place())
	require.NoError(t, err)
}

func TestChangesFollow(t *testing.T) { changesFollow(t) }

// Changes come in pieces of whole revisions.
func TestPiecesOfChangesAreBounded(t *testing.T) {
	w := newWorld(t, Linearizable)
	w.do(Command{Op: Grant, TTL: time.Hour})
	id := Dot{w.name, w.n}
	for i := range 5 {
		w.do(Command{Op: Put, Key: fmt.Sprint(i), Lease: id})
	}
	w.do(Command{Op: Revoke, Lease: id})
	const each = 1 + EntryBytes
	var sizes []int
	for p, more := (Place{}), true; more; {
		var piece []Change
		var err error
		piece, more, err = w.s.Since(p, 3*each)
		require.NoError(t, err)
		sizes, p = append(sizes, len(piece)), piece[len(piece)-1].Place()
	}
	require.Equal(t, []int{3, 2, 5}, sizes)
}

func TestHistoryDropsWholeRevisions(t *testing.T) { historyIsBounded(t) }

func historyIsBounded(t testing.TB) {
	w := newWorld(t, Linearizable)
	w.do(Command{Op: Grant, TTL: time.Hour})
	id := Dot{w.name, w.n}
	for i := range 100 {
		w.do(Command{Op: Put, Key: fmt.Sprint(i), Lease: id})
	}
	w.do(Command{Op: Revoke, Lease: id})
	for i := range MaxHistory - 50 {
		w.put("x", fmt.Sprint(i))
	}
	require.Len(t, w.s.history.changes, MaxHistory-50)
	_, err := allSince(w.s, Place{Revision: w.s.Oldest() - 1})
	require.ErrorIs(t, err, ErrCompacted)
	list, err := allSince(w.s, Place{Revision: w.s.Oldest()})
	require.NoError(t, err)
	require.Len(t, list, MaxHistory-50)
	const many = MaxHistory/2 + 1 // changes of a revision, so that two are too many
	var leases []Dot
	for n := range 2 {
		w.do(Command{Op: Grant, TTL: time.Hour})
		leases = append(leases, Dot{w.name, w.n})
		for i := range many {
			w.do(Command{Op: Put, Key: fmt.Sprint(n, "-", i), Lease: leases[n]})
		}
	}
	for _, id := range leases {
		w.do(Command{Op: Revoke, Lease: id})
	}
	require.Len(t, w.s.history.changes, many)

	w.do(Command{Op: Grant, TTL: time.Hour})
	id = Dot{w.name, w.n}
	for i := range MaxHistory + 9 {
		w.do(Command{Op: Put, Key: fmt.Sprint(i), Lease: id})
	}
	before := w.s.Place()
	w.do(Command{Op: Revoke, Lease: id})
	list, err = allSince(w.s, before)
	require.NoError(t, err, "who has seen all before gets all of it")
	require.Len(t, list, MaxHistory+9)
}

// Changes that a watcher has got stay as they are, whatever is written afterwards.
func changesStay(t testing.TB) {
	w := newWorld(t, Linearizable)
	for range MaxHistory + 1 {
		w.put("a", "v")
	}
	got, err := allSince(w.s, Place{Revision: w.s.Oldest()})
	require.NoError(t, err)
	want := slices.Clone(got)
	for range 9 {
		w.put("b", "v")
	}
	require.True(t, slices.Equal(want, got))
}

func TestChangesOfAWatcherStay(t *testing.T) { changesStay(t) }

// A command looks at no lease before one may end: there may be many.
func TestLeasesAreLookedAtWhenOneMayEnd(t *testing.T) {
	w := newWorld(t, Linearizable)
	w.do(Command{Op: Put, Key: "a", TTL: time.Minute})
	for range 2 {
		w.do(Command{Op: Tick})
		require.False(t, w.s.stray)
		require.Greater(t, w.s.soonest, w.s.clock.now)
	}
}
