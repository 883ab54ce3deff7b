package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/kv"
)

// watching is a random world of two nodes, of which the second lags, or has a state of its
// own for a while, and of a client that watches one of them, and is cut off.
type watching struct {
	t       testing.TB
	rnd     *rand.Rand
	nodes   [2]*loneStore
	pending [][]byte // commands that the second node has not applied yet
	forked  bool     // it has a state of its own
	n       uint64
	now     time.Duration
	lease   kv.Dot

	prefix string
	last   string            // the id of the client's last item
	heard  uint64            // its revision
	known  map[string]string // the versions of the keys that it knows
	listed map[string]string // of the listing that is under way, or nil
	later  map[string]uint64 // the revisions of the keys that it has heard of since a reset
	node   *loneStore
	watch  *watch   // nil: cut off
	at     kv.Place // through which it has told all
	half   uint64   // the client was cut off in this revision, of which it will hear again
	met    map[string]int
}

func newWatching(t testing.TB, seed uint64, met map[string]int) *watching {
	rnd := rand.New(rand.NewPCG(seed, 3))
	w := &watching{t: t, rnd: rnd, nodes: [2]*loneStore{newLoneStore(), newLoneStore()}, now: time.Hour,
		prefix: []string{"", "a", "a/1"}[rnd.IntN(3)], met: met}
	w.nodes[1].ask = func() { w.catchUp(func() bool { return true }) }
	return w
}

// catchUp lets the second node apply what the first has, as long as more says so.
func (w *watching) catchUp(more func() bool) {
	for !w.forked && len(w.pending) > 0 && more() {
		w.nodes[1].state.Apply(w.pending[0])
		w.pending = w.pending[1:]
	}
}

// command lets the first node, or one with a state of its own, apply a random command.
func (w *watching) command() {
	w.n++
	w.now += time.Duration(w.rnd.Int64N(int64(time.Second)))
	c := kv.Command{Op: kv.Put, Dot: kv.Dot{Writer: 1, Number: w.n}, Key: fmt.Sprint([]string{"a", "a/", "b"}[w.rnd.IntN(3)], w.rnd.IntN(3)),
		At: clocksync.Reading{Time: clocksync.Time(w.now), Timeline: clocksync.TimelineID{Leader: 1}}}
	switch w.rnd.IntN(10) {
	case 0, 1:
		c.Op = kv.Delete
	case 2:
		c.Op, c.TTL = kv.Grant, 5*time.Second
		w.lease = c.Dot
	case 3:
		c.Op, c.Lease = kv.Revoke, w.lease
	case 4, 5, 6:
		c.Lease = w.lease
	}
	b := c.Encode()
	if w.forked && w.rnd.IntN(2) == 0 {
		w.nodes[1].state.Apply(b)
		return
	}
	w.nodes[0].state.Apply(b)
	w.pending = append(w.pending, b)
}

// happen lets something happen.
func (w *watching) happen() {
	switch w.rnd.IntN(10) {
	case 0:
		if w.half == 0 { // otherwise the client could hear the rest of another revision
			w.forked = true
			w.met["forked"]++
		}
	case 1: // the second node gets the state of the first
		w.nodes[1].state, w.pending, w.forked = w.copy(w.nodes[0].state), nil, false
	case 2: // the two states meet
		if w.forked {
			m := kv.New(kv.Partitionable)
			m.Merge([]*kv.State{w.copy(w.nodes[0].state), w.copy(w.nodes[1].state)})
			w.nodes[0].state, w.nodes[1].state = m, w.copy(m)
			w.pending, w.forked = nil, false
			w.met["merged"]++
		}
	case 3: // the second node catches up
		w.catchUp(func() bool { return w.rnd.IntN(4) > 0 })
	case 4: // a node ceases, or begins, to hear others
		n := w.nodes[w.rnd.IntN(2)]
		n.err, n.alone = nil, nil
		switch w.rnd.IntN(3) {
		case 0:
			n.err = errors.New("no quorum")
		case 1:
			n.alone = errors.New("the view changes")
		}
	case 5: // all nodes lose their memory
		if w.half == 0 && w.rnd.IntN(3) == 0 {
			for _, n := range w.nodes {
				n.state = kv.New(kv.Partitionable)
			}
			w.pending, w.forked = nil, false
			w.met["begun again"]++
		}
	default:
		w.command()
	}
}

func (w *watching) copy(s *kv.State) *kv.State { return copyOf(w.t, s) }

func copyOf(t testing.TB, s *kv.State) *kv.State {
	var b bytes.Buffer
	require.NoError(t, s.Snapshot(&b))
	o := kv.New(s.Kind())
	require.NoError(t, o.Restore(&b))
	return o
}

// open begins or continues the client's watch at one of the nodes.
func (w *watching) open() {
	w.node = w.nodes[w.rnd.IntN(2)]
	if w.last != "" && w.last != fromReset {
		var err error
		w.at, err = kv.ParsePlace(w.last)
		require.NoError(w.t, err)
	}
	listing := w.last == "" || w.rnd.IntN(2) == 0
	f, start, err := newWatch(w.t.Context(), w.node, w.prefix, w.last, listing)
	gone := w.node.state.Reached(w.at)
	if errors.Is(gone, kv.ErrAhead) && !listing && w.node.err == nil && w.node.alone == nil { // it has asked the others
		gone = kv.ErrOtherPart
		w.met["gone ahead"]++
	}
	if w.last != "" && w.last != fromReset && gone != nil && !errors.Is(gone, kv.ErrAhead) {
		w.met["gone"]++
		if !listing {
			require.ErrorIs(w.t, err, gone)
			w.last = "" // it begins with the present keys
			return
		}
		w.last = fromReset // as a browser asks again, which gives up at an error
		w.met["gone and listed"]++
	}
	require.NoError(w.t, err)
	if w.last == "" {
		require.Equal(w.t, fromReset, start)
		w.last = start
	}
	require.Equal(w.t, w.last, start)
	w.watch, w.later = f, map[string]uint64{}
}

// tell lets the watch tell what is new, perhaps only some of it, and compares that with the
// state of the node.
func (w *watching) tell() {
	changes, _, err := w.node.state.Since(w.at, pieceBytes)
	ahead := errors.Is(err, kv.ErrAhead) && w.last != fromReset
	if ahead && w.node.err == nil && w.node.alone == nil { // it asks the others
		if w.node.ask != nil {
			w.node.ask()
		}
		changes, _, err = w.node.state.Since(w.at, pieceBytes)
		ahead = false
	}
	reset := w.last == fromReset || err != nil && !ahead
	var want, got []string
	for _, c := range changes {
		if strings.HasPrefix(c.Key, w.prefix) && !reset {
			want = append(want, fmt.Sprint(c.Revision, " ", c.Key))
		}
	}
	left := 1 + w.rnd.IntN(12)
	w.watch.yield = func(b []byte) bool {
		k := w.item(b)
		if k.Kind == "put" || k.Kind == "delete" || k.Kind == "expire" {
			got = append(got, fmt.Sprint(k.Revision, " ", k.Key))
		}
		left--
		return left > 0
	}
	switch whole := w.watch.update(w.t.Context()); {
	case !whole:
		require.Equal(w.t, want[:min(len(got), len(want))], got)
		w.cutOff()
		w.met["cut off"]++
		return
	case reset:
		w.met["reset"]++
	case ahead:
		w.met["ahead"]++
	default:
		w.met["changes"] += len(got)
	}
	require.Equal(w.t, want, got)
	if ahead {
		require.False(w.t, w.watch.fresh, "others may know more")
		return
	}
	w.at = w.node.state.Place()
	if w.at.Revision < w.half {
		return // the client knows more
	}
	w.half = 0
	require.Equal(w.t, w.present(), w.known, "the client knows the present keys")
}

// present returns the versions of the keys that the node has.
func (w *watching) present() map[string]string {
	all := map[string]string{}
	list, _ := w.node.state.List(w.prefix, "", kv.MaxKeys, math.MaxInt)
	for _, e := range list {
		all[e.Key] = e.Version.String()
	}
	return all
}

// cutOff ends the watch after an item. If a revision has other changes, and may be another
// one elsewhere, the client begins with the present keys.
func (w *watching) cutOff() {
	w.watch = nil
	p, _ := kv.ParsePlace(w.last)
	switch {
	case w.last == fromReset, p.Revision >= w.heard:
	case w.forked:
		w.last = ""
	default:
		w.half = w.heard
		w.met["half a revision"]++
	}
}

// item takes an item as a client does.
func (w *watching) item(b []byte) (k KVChange) {
	_, data, found := strings.Cut(string(b), "\ndata: ")
	require.True(w.t, found)
	require.NoError(w.t, json.Unmarshal([]byte(data), &k))
	w.last, w.heard = k.ID, k.Revision
	if k.Key != "" {
		require.Greater(w.t, k.Revision, w.later[k.Key], "a key goes on")
		w.later[k.Key] = k.Revision
		require.Equal(w.t, k.Kind == "item", w.listed != nil, "changes follow the whole listing")
	}
	switch k.Kind {
	case "reset":
		w.listed, w.later = map[string]string{}, map[string]uint64{}
	case "item":
		w.listed[k.Key] = k.Version
	case "complete":
		w.known, w.listed = w.listed, nil
	case "put":
		w.known[k.Key] = k.Version
	case "delete", "expire":
		delete(w.known, k.Key)
	}
	return k
}

// watchersKnow plays random worlds of watches, slow ones or others.
func watchersKnow(t testing.TB, first, count uint64, slow bool) map[string]int {
	met := map[string]int{}
	for seed := range count {
		w := newWatching(t, first+seed, met)
		for range 150 {
			for range w.rnd.IntN(5) {
				w.happen()
			}
			if w.watch == nil {
				w.open()
			}
			switch {
			case w.watch == nil:
			case slow:
				w.tellSlowly()
			default:
				w.tell()
			}
		}
	}
	return met
}

// A client that watches knows all changes, and none twice unless it was cut off, whatever
// becomes of the states of the nodes that it watches.
func TestWatchersKnowAllChanges(t *testing.T) {
	met := watchersKnow(t, 0, 60, false)
	for _, situation := range []string{"forked", "merged", "gone", "cut off", "reset", "gone and listed", "gone ahead", "ahead", "begun again", "changes", "half a revision"} {
		require.Positive(t, met[situation], situation)
	}
	t.Log(met)
}

// A watch of keys that nobody changes can be resumed, however large the changes of others are.
func TestQuietWatchesAreResumed(t *testing.T) {
	s := newLoneStore()
	f, last, err := newWatch(t.Context(), s, "x", "", false)
	require.NoError(t, err)
	f.yield = func(b []byte) bool {
		id, _, _ := strings.Cut(string(b), "\n")
		last = strings.TrimPrefix(id, "id: ")
		return true
	}
	for range 2 * kv.MaxHistoryBytes / kv.MaxValueBytes {
		_, err := s.Submit(t.Context(), kv.Command{Op: kv.Put, Key: "y", Value: make([]byte, kv.MaxValueBytes)}, Attempt{})
		require.NoError(t, err)
		require.True(t, f.update(t.Context()))
	}
	_, _, err = newWatch(t.Context(), s, "x", last, false)
	require.NoError(t, err)
}

// noteKinds has a watch append the kinds of what it yields.
func noteKinds(f *watch, kinds *[]string) {
	f.yield = func(b []byte) bool {
		_, kind, _ := strings.Cut(string(b), "\nevent: ")
		kind, _, _ = strings.Cut(kind, "\n")
		*kinds = append(*kinds, kind)
		return true
	}
}

// A client may resume with the number of a revision alone, which some node has told it, as
// in the answer to a write. A state that will never have it is another one.
func TestWatchAfterARevisionThatIsGone(t *testing.T) {
	store := newLoneStore()
	_, _, err := newWatch(t.Context(), store, "", "500", false)
	require.ErrorIs(t, err, kv.ErrOtherPart)
	f, start, err := newWatch(t.Context(), store, "", "500", true)
	require.NoError(t, err)
	require.Equal(t, "500-00000000", start)
	var kinds []string
	noteKinds(f, &kinds)
	require.True(t, f.update(t.Context()))
	require.Equal(t, []string{"reset", "complete", "fresh"}, kinds)
}

// Without a listing, a watch waits for a place only while nobody can say whether it comes.
func TestAWatchAheadBeginsIfNobodyCanTell(t *testing.T) { waitsIfNobodyCanTell(t) }

func waitsIfNobodyCanTell(t testing.TB) {
	for _, listing := range []bool{false, true} {
		for _, cannot := range []*loneStore{{err: errors.New("no quorum")}, {alone: errors.New("the view changes")}, {late: errors.New("the view has changed")}} {
			store := newLoneStore()
			store.err, store.alone, store.late = cannot.err, cannot.alone, cannot.late
			f, _, err := newWatch(t.Context(), store, "", "500", listing)
			require.NoError(t, err)
			var kinds []string
			noteKinds(f, &kinds)
			require.True(t, f.update(t.Context()))
			require.Equal(t, []string{"stale"}, kinds)
			store.err, store.alone, store.late = nil, nil, nil
			require.True(t, f.update(t.Context()))
			require.Equal(t, []string{"stale", "reset", "complete", "fresh"}, kinds)
		}
	}
}

// What a watch has seen of the state of all counts only if that is the state.
func TestAWatchForgetsWhatDidNotCount(t *testing.T) { forgetsWhatDidNotCount(t) }

func forgetsWhatDidNotCount(t testing.TB) {
	store := newLoneStore()
	f, _, err := newWatch(t.Context(), store, "", "500", true)
	require.NoError(t, err)
	var kinds []string
	noteKinds(f, &kinds)
	store.late = errors.New("the view has changed")
	require.True(t, f.update(t.Context()))
	require.Equal(t, []string{"stale"}, kinds)
	store.late = nil
	require.True(t, f.update(t.Context()))
	require.Equal(t, []string{"stale", "reset", "complete", "fresh"}, kinds)
}

// A change that comes after a watch has looked, and before it waits, is sent at once.
func TestAWatchWaitsForNothingThatHasCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newLoneStore()
		f, _, err := newWatch(t.Context(), store, "", "", false)
		require.NoError(t, err)
		begin, count := time.Now(), 0
		for range f.messages(t.Context()) {
			if count++; count == 4 {
				break
			}
			_, err := store.Submit(t.Context(), kv.Command{Op: kv.Put, Key: "k"}, Attempt{})
			require.NoError(t, err)
		}
		require.Equal(t, 4, count)
		require.Equal(t, begin, time.Now())
	})
}

// A watch says at its beginning whether it will hear of all changes, and then when that changes.
func TestAWatchSaysFirstWhetherItIsStale(t *testing.T) { staleIsSaidFirst(t) }

func staleIsSaidFirst(t testing.TB) {
	for _, stale := range []bool{true, false} {
		store := newLoneStore()
		set := func(stale bool) string {
			if store.err = nil; stale {
				store.err = errors.New("no quorum")
				return "stale"
			}
			return "fresh"
		}
		said := set(stale)
		f, _, err := newWatch(t.Context(), store, "", "", false)
		require.NoError(t, err)
		var kinds []string
		noteKinds(f, &kinds)
		want := []string{said}
		for range 3 {
			for range 2 {
				require.True(t, f.update(t.Context()))
				require.Equal(t, want, kinds)
			}
			stale = !stale
			want = append(want, set(stale))
		}
	}
}
