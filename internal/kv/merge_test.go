package kv

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
)

// merge makes the states of parts one, in which the first part goes on.
func merge(parts ...*world) *world {
	var all []*State
	for _, p := range parts {
		all = append(all, p.copy())
	}
	parts[0].s.Merge(all)
	return parts[0]
}

// overwritingIsNoConflict is the first rule of mergers: a write that knew of another stays.
func overwritingIsNoConflict(t testing.TB) {
	w := newWorld(t, Partitionable)
	w.put("a", "old")
	w.put("b", "old")
	o := w.part(2)
	o.now.Time -= clocksync.Time(time.Minute) // clocks do not matter
	o.put("a", "new")
	o.do(Command{Op: Delete, Key: "b"})
	o.put("c", "other")
	merge(w, o)
	require.Equal(t, "new", w.value("a"))
	require.Equal(t, "-", w.value("b"), "the deletion knew of the value")
	require.Equal(t, "other", w.value("c"))
	require.Empty(t, w.s.Conflicts(""))
	// The parts have met: what comes now knows of all.
	late := o.part(3)
	w.now.Time -= clocksync.Time(time.Hour)
	w.put("a", "newer")
	merge(w, late)
	require.Equal(t, "newer", w.value("a"))
	require.Empty(t, w.s.Conflicts(""))
}

func TestOverwritingIsNoConflict(t *testing.T) { overwritingIsNoConflict(t) }

// refusedIsNoConflict has a writer's commands refused again and again. What it wrote before stays
// known.
func refusedIsNoConflict(t testing.TB) {
	w := newWorld(t, Partitionable)
	w.put("a", "old")
	w.put("b", "old")
	for range maxSpans + 10 {
		w.do(Command{Op: Put, Key: "c", Value: []byte("1"), Match: true, Version: Version{Revision: 1 << 40}})
		w.put("c", "2")
	}
	o := w.part(2)
	o.now.Time -= clocksync.Time(time.Minute) // clocks do not matter
	o.put("a", "new")
	o.do(Command{Op: Delete, Key: "b"})
	merge(w, o)
	require.Equal(t, "new", w.value("a"))
	require.Equal(t, "-", w.value("b"))
	require.Empty(t, w.s.Conflicts(""))
}

func TestOverwritingIsNoConflictAfterRefusals(t *testing.T) { refusedIsNoConflict(t) }

// unprovenIsAConflict is the second rule: among writes that did not know of each other,
// clocks decide if they prove the order, and otherwise nothing is lost.
func unprovenIsAConflict(t testing.TB) {
	const deviation = time.Millisecond
	w := newWorld(t, Partitionable)
	o := w.part(2)
	w.now = at(line(1), time.Hour, deviation)
	o.now = at(line(1), time.Hour+2*deviation+1, deviation)
	w.put("proven", "first")
	o.put("proven", "second")
	o.now.Time--
	w.put("close", "left")
	o.put("close", "right")
	w.put("same", "one")
	o.put("same", "one")
	merge(w, o)
	require.Equal(t, "second", w.value("proven"))
	require.Equal(t, "right", w.value("close"))
	require.Equal(t, "one", w.value("same"))
	require.Equal(t, uint64(1), w.s.Summary().Overtaken)
	list := w.s.Conflicts("")
	require.Len(t, list, 1)
	require.Equal(t, "close", list[0].Lost.Key)
	require.Equal(t, "left", string(list[0].Lost.Value))
	require.Equal(t, w.s.Get("close").Dot, list[0].Kept)
	require.Equal(t, w.s.revision, list[0].Revision)
	require.Empty(t, w.s.Conflicts("x"))
}

func TestUnprovenOrderIsAConflict(t *testing.T) { unprovenIsAConflict(t) }

// Timelines compare by UTC only, and only if both clocks prove their distance from it.
func TestTimelinesCompareByUTC(t *testing.T) {
	for _, external := range []bool{false, true} {
		w := newWorld(t, Partitionable)
		o := w.part(2)
		o.now = at(line(2), 2*time.Hour, 0)
		if external {
			for _, r := range []*clocksync.Reading{&w.now, &o.now} {
				r.Status, r.UTCBound = clocksync.External, time.Second
			}
		}
		w.put("a", "1")
		o.put("a", "2")
		merge(w, o)
		require.Equal(t, "2", w.value("a"))
		require.Equal(t, external, len(w.s.Conflicts("")) == 0)
	}
}

// deletionsMeetWrites is the rule of deletions: they are writes.
func deletionsMeetWrites(t testing.TB) {
	w := newWorld(t, Partitionable)
	w.put("a", "old")
	w.put("b", "old")
	o := w.part(2)
	w.do(Command{Op: Delete, Key: "a"})
	o.now.Time += clocksync.Time(time.Minute)
	o.put("a", "later")
	o.do(Command{Op: Delete, Key: "b"})
	w.put("b", "earlier")
	third := w.part(3)
	merge(w, o, third)
	require.Equal(t, "later", w.value("a"))
	require.Equal(t, "-", w.value("b"), "deleted later, surely")
	require.Empty(t, w.s.Conflicts(""))
}

func TestDeletionsAreWrites(t *testing.T) { deletionsMeetWrites(t) }

// nothingIsNoEmptyValue has a deletion and an empty value meet: they are different.
func nothingIsNoEmptyValue(t testing.TB) {
	w := newWorld(t, Partitionable)
	w.put("a", "old")
	o := w.part(2)
	w.do(Command{Op: Delete, Key: "a"})
	o.put("a", "")
	merge(w, o)
	require.Len(t, w.s.Conflicts(""), 1)
}

func TestADeletionIsNoEmptyValue(t *testing.T) { nothingIsNoEmptyValue(t) }

// laterPlaceStays has two parts apply one command, at different revisions: versions of a key
// only grow.
func laterPlaceStays(t testing.TB) {
	for _, first := range []bool{true, false} {
		w := newWorld(t, Partitionable)
		w.put("a", "old")
		o := w.part(2)
		o.put("b", "in this part only")
		both := Command{Op: Put, Dot: Dot{3, 1}, At: w.now, Key: "a", Value: []byte("new")}
		w.s.Apply(both.Encode())
		later := o.s.Apply(both.Encode()).Version
		if !first {
			w, o = o, w
		}
		merge(w, o)
		require.Equal(t, later, w.s.Get("a").Version)
		require.Empty(t, w.s.Conflicts(""))
	}
}

func TestOneWriteHasTheLaterOfItsPlaces(t *testing.T) { laterPlaceStays(t) }

// fullPartsMeet merges parts that each have seen more than all that they may have, and more
// than that together. A member that joins can take the state, before and after.
func fullPartsMeet(t testing.TB) {
	w := newWorld(t, Partitionable)
	o := w.part(2)
	for i, p := range []*world{w, o} {
		for range maxVoid + 5 {
			require.Equal(t, NotFound, p.do(Command{Op: Delete, Key: "none"}).Status)
		}
		for n := range MaxTombstones {
			p.put(fmt.Sprint(i, "gone", n), "")
			p.do(Command{Op: Delete, Key: fmt.Sprint(i, "gone", n)})
		}
		require.Equal(t, written(t, p.s), written(t, p.copy()))
		for range MaxLeases {
			require.Equal(t, Done, p.do(Command{Op: Grant, TTL: time.Hour}).Status)
		}
	}
	merge(w, o)
	require.Equal(t, 2*MaxLeases, w.s.Summary().Leases)
	require.LessOrEqual(t, w.s.Summary().Tombstones, MaxTombstones)
	require.Equal(t, written(t, w.s), written(t, w.copy()))
}

func TestAMergerOfFullPartsCanBeRestored(t *testing.T) { fullPartsMeet(t) }

// expiryIsNoWrite is the rule of expiry: a lease that lives in one part keeps its keys.
func expiryIsNoWrite(t testing.TB) {
	w := newWorld(t, Partitionable)
	w.do(Command{Op: Grant, TTL: time.Minute})
	id := Dot{w.name, w.n}
	w.do(Command{Op: Put, Key: "a", Value: []byte("v"), Lease: id})
	o := w.part(2)
	for _, p := range []*world{w, o} {
		p.now.Time += clocksync.Time(30 * time.Second)
	}
	require.Equal(t, Done, w.do(Command{Op: Renew, Lease: id}).Status)
	for _, p := range []*world{w, o} {
		p.now.Time += clocksync.Time(31 * time.Second)
		p.do(Command{Op: Tick})
	}
	require.Equal(t, "-", o.value("a"))
	require.Equal(t, "v", w.value("a"))
	merge(o, w)
	require.Equal(t, "v", o.value("a"))
	require.Empty(t, o.s.Conflicts(""))
	o.now.Time += clocksync.Time(time.Hour)
	o.do(Command{Op: Tick}) // the time begins anew
	require.Equal(t, "v", o.value("a"))
	o.now.Time += clocksync.Time(time.Hour)
	o.do(Command{Op: Tick})
	require.Equal(t, "-", o.value("a"))
}

func TestALeaseThatLivesKeepsItsKeys(t *testing.T) { expiryIsNoWrite(t) }

// ticksOfParts has a Tick of a part wait until it has met another one, which had applied less and
// has renewed a lease meanwhile.
func ticksOfParts(t testing.TB) {
	w := newWorld(t, Partitionable)
	id := w.do(Command{Op: Put, Key: "a", TTL: time.Minute}).Lease
	o := w.part(2)
	for range 9 {
		o.put("b", "")
	}
	late := Command{Op: Tick, Dot: Dot{9, 1}, At: o.now, Seen: o.s.Seen()}
	for range 2 {
		w.now.Time += clocksync.Time(59 * time.Second)
		require.Equal(t, Done, w.do(Command{Op: Renew, Lease: id}).Status)
	}
	merge(w, o)
	require.Equal(t, Done, w.s.Apply(late.Encode()).Status)
	w.do(Command{Op: Tick})
	require.Equal(t, "", w.value("a"))
	w.now.Time += clocksync.Time(time.Minute)
	w.do(Command{Op: Tick})
	require.Equal(t, "", w.value("a"))
	w.now.Time += clocksync.Time(time.Second)
	w.do(Command{Op: Tick})
	require.Equal(t, "-", w.value("a"))
}

func TestATickOfAPartBeginsNothingAfterAMerger(t *testing.T) { ticksOfParts(t) }

// resolvedStaysResolved is the rule of conflicts: a merger does not bring one back.
func resolvedStaysResolved(t testing.TB) {
	w := newWorld(t, Partitionable)
	o := w.part(2)
	w.put("a", "1")
	o.put("a", "2")
	merge(w, o)
	list := w.s.Conflicts("a")
	require.Len(t, list, 1)
	o = w.part(3)
	resolve := Command{Op: Resolve, Key: "a", Lease: list[0].Lost.Dot}
	require.Equal(t, Done, w.do(resolve).Status)
	require.Equal(t, NotFound, w.do(resolve).Status)
	require.Empty(t, w.s.Conflicts(""))
	require.NotEmpty(t, list[0].Lost.Value, "who has listed the conflict may still read it")
	o.put("b", "3")
	for _, order := range [][]*world{{w.part(4), o.part(5)}, {o.part(6), w.part(7)}} {
		m := merge(order...)
		require.Empty(t, m.s.Conflicts(""))
		require.Zero(t, m.s.Summary().Conflicts)
	}
}

func TestResolvedConflictsStayResolved(t *testing.T) { resolvedStaysResolved(t) }

// severalPartsKnow is the rule of a value that several parts have: one of them may have
// overwritten another value with it.
func severalPartsKnow(t testing.TB) {
	w := newWorld(t, Partitionable)
	o, third := w.part(2), w.part(3)
	w.put("a", "1")
	// A command in flight is ordered in two parts, and only one of them had a value.
	c := Command{Op: Put, Dot: Dot{9, 1}, At: w.now, Key: "a", Value: []byte("2")}
	for _, p := range []*world{o, w} {
		require.Equal(t, Done, p.s.Apply(c.Encode()).Status)
	}
	_ = third.s.Apply((&Command{Op: Put, Dot: Dot{1, 1}, At: w.now, Key: "a", Value: []byte("1")}).Encode())
	merge(o, w, third)
	require.Equal(t, "2", o.value("a"))
	require.Empty(t, o.s.Conflicts(""))
}

func TestSeveralPartsKnow(t *testing.T) { severalPartsKnow(t) }

// A version of one part never fits a write of another.
func versionsOfPartsDiffer(t testing.TB) {
	w := newWorld(t, Partitionable)
	o := w.part(2)
	mine, theirs := w.put("a", "1").Version, o.put("a", "2").Version
	require.Equal(t, mine.Revision, theirs.Revision)
	require.Equal(t, Mismatch, o.do(Command{Op: Put, Key: "a", Match: true, Version: mine}).Status)
}

func TestVersionsOfPartsDiffer(t *testing.T) { versionsOfPartsDiffer(t) }

// conflictsAreBounded is the rule of what mergers leave: so much is kept, and what users
// need most.
func conflictsAreBounded(t testing.TB) {
	w := newWorld(t, Partitionable)
	o := w.part(2)
	for i := range MaxConflicts + 5 {
		w.put(strconv.Itoa(i), "1")
		o.put(strconv.Itoa(i), "2")
	}
	merge(w, o)
	require.Len(t, w.s.Conflicts(""), MaxConflicts)
	require.Equal(t, uint64(5), w.s.Summary().Forgotten)
	for _, c := range w.s.Conflicts("")[MaxConflicts-20:] {
		require.Equal(t, Done, w.do(Command{Op: Resolve, Key: c.Lost.Key, Lease: c.Lost.Dot}).Status)
	}
	o = w.part(3)
	for i := range 30 {
		w.put("late"+strconv.Itoa(i), "1")
		o.put("late"+strconv.Itoa(i), "2")
	}
	merge(w, o)
	require.Len(t, w.s.Conflicts(""), MaxConflicts, "those that are resolved go first, and then the oldest")
	require.Len(t, w.s.Conflicts("late"), 30)
	require.Equal(t, uint64(5+10), w.s.Summary().Forgotten)
	for i := range MaxTombstones + 1 {
		key := fmt.Sprintf("k%05d", MaxTombstones-i)
		w.put(key, "")
		w.do(Command{Op: Delete, Key: key})
	}
	require.Equal(t, MaxTombstones*9/10, w.s.Summary().Tombstones)
	_, found := w.s.keys.get(fmt.Sprintf("k%05d", MaxTombstones))
	require.False(t, found, "the oldest goes first")
	_, found = w.s.keys.get("k00000")
	require.True(t, found, "and the latest stays")
	last := w.copy()
	require.Equal(t, written(t, w.s), written(t, last))
	require.Equal(t, w.s.bytes, last.bytes)
}

func TestConflictsAndTombstonesAreBounded(t *testing.T) { conflictsAreBounded(t) }

// conflictBytesAreBounded is the same rule for few values that are large.
func conflictBytesAreBounded(t testing.TB) {
	w := newWorld(t, Partitionable)
	o := w.part(2)
	const values = MaxConflictBytes/MaxValueBytes + 2
	for i := range values {
		w.put(strconv.Itoa(i), strings.Repeat("1", MaxValueBytes))
		o.put(strconv.Itoa(i), strings.Repeat("2", MaxValueBytes))
	}
	merge(w, o)
	require.LessOrEqual(t, w.s.conflictBytes, MaxConflictBytes)
	require.EqualValues(t, values, len(w.s.Conflicts(""))+int(w.s.Summary().Forgotten))
	require.Len(t, w.s.Conflicts(""), MaxConflictBytes/MaxValueBytes-1, "as many as there is room for, with their keys")
}

func TestBytesOfConflictsAreBounded(t *testing.T) { conflictBytesAreBounded(t) }

// lastReadingStays is the rule of writes whose order nothing proves: the one with the later
// reading stays, however many writes the other part has seen. The conflicts that this leaves
// are listed by their age, and not by who wrote what is lost.
func lastReadingStays(t testing.TB) {
	w := newWorld(t, Partitionable)
	o := w.part(9)
	o.put("b", "in this part only")
	o.now.Time--
	w.put("a", "1")
	o.put("a", "2")
	merge(w, o)
	require.Equal(t, "1", w.value("a"))
	o = w.part(3)
	w.now.Time--
	w.put("c", "1")
	o.put("c", "2")
	merge(w, o)
	require.Equal(t, "2", w.value("c"))
	var lost []string
	for _, c := range w.s.Conflicts("") {
		lost = append(lost, c.Lost.Key)
	}
	require.Equal(t, []string{"a", "c"}, lost)
}

func TestTheLastReadingStays(t *testing.T) { lastReadingStays(t) }

// mergersDiffer has a part meet one of two others: who watches one of the merged states does
// not go on with the other one.
func mergersDiffer(t testing.TB) {
	one := newWorld(t, Partitionable)
	other, last := one.part(2), one.part(3)
	for _, p := range []*world{one, other, last} {
		p.put("a", strconv.FormatUint(p.name, 10))
	}
	merge(one, last)
	merge(other, last)
	require.Equal(t, one.s.Place().Revision, other.s.Place().Revision)
	_, err := allSince(other.s, one.s.Place())
	require.ErrorIs(t, err, ErrOtherPart)
}

func TestMergersOfOtherPartsDiffer(t *testing.T) { mergersDiffer(t) }
