package api

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/kv"
)

// tellSlowly lets the watch tell what is new in pages of one key, while much happens between
// them.
func (w *watching) tellSlowly() {
	w.node.before = func() {
		for range w.rnd.IntN(3) {
			w.happen()
		}
	}
	defer func(n *loneStore) { n.before = nil }(w.node)
	left, again := 1+w.rnd.IntN(40), false
	w.watch.piece = 1
	w.watch.yield = func(b []byte) bool {
		k := w.item(b)
		again = again || w.watch.again && (k.Kind == "complete" || w.listed == nil && k.Kind != "complete")
		left--
		return left > 0
	}
	switch whole := w.watch.update(w.t.Context()); {
	case !whole:
		w.cutOff()
		w.met["cut off"]++
		if again {
			w.met["cut off before it has caught up"]++
		}
		return
	case errors.Is(w.node.state.Reached(w.watch.at), kv.ErrAhead):
		require.False(w.t, w.watch.fresh, "others may know more")
		return
	}
	require.False(w.t, w.watch.again)
	if again {
		w.met["caught up"]++
	}
	if w.at = w.node.state.Place(); w.at.Revision < w.half {
		return // the client knows more
	}
	w.half = 0
	require.Equal(w.t, w.present(), w.known, "the client knows the present keys")
}

// A client knows all changes also if it takes a listing, and what follows, so slowly that each
// page is of another state.
func TestSlowWatchersKnowAllChanges(t *testing.T) {
	met := watchersKnow(t, 1000, 100, true)
	for _, situation := range []string{"forked", "merged", "gone", "cut off", "begun again", "half a revision", "caught up", "cut off before it has caught up"} {
		require.Positive(t, met[situation], situation)
	}
	t.Log(met)
}

// A state that gives way to another one, which goes on from the first page of a listing, is not
// that of the client.
func TestAListingIsOfOneLineOfStates(t *testing.T) { listingIsOfOneLine(t) }

func listingIsOfOneLine(t testing.TB) {
	s := newLoneStore()
	apply := func(key, value string) {
		s.n++
		s.state.Apply((&kv.Command{Op: kv.Put, Dot: kv.Dot{Writer: 1, Number: s.n}, Key: key, Value: []byte(value)}).Encode())
	}
	apply("a", "")
	apply("b", "")
	old := copyOf(t, s.state)
	f, _, err := newWatch(t.Context(), s, "", "", true)
	require.NoError(t, err)
	f.piece = 1
	var kinds []string
	noteKinds(f, &kinds)
	s.before = func() {
		switch strings.Join(kinds, " ") {
		case "reset item":
			apply("b", "lost")
		case "reset item item complete":
			s.state = old
			apply("c", "")
		}
	}
	require.True(t, f.update(t.Context()))
	require.Equal(t, strings.Fields("reset item item complete reset item item item complete fresh"), kinds)
}

// A client that is cut off before it has the changes of the time of a listing begins again: the
// node at which it resumes need not have what a later page has.
func resumesWhole(t testing.TB) {
	s := newLoneStore()
	put := func(key string) {
		s.n++
		s.state.Apply((&kv.Command{Op: kv.Put, Dot: kv.Dot{Writer: 1, Number: s.n}, Key: key}).Encode())
	}
	put("a")
	put("b")
	f, _, err := newWatch(t.Context(), s, "", "", true)
	require.NoError(t, err)
	f.piece = 1
	var ids []string
	f.yield = func(b []byte) bool {
		id, _, _ := strings.Cut(strings.TrimPrefix(string(b), "id: "), "\n")
		if ids = append(ids, id); len(ids) == 2 { // the first page is there
			put("b")
			put("a")
		}
		return true
	}
	require.True(t, f.update(t.Context()))
	at := s.state.Place().String()
	require.Equal(t, []string{fromReset, fromReset, fromReset, fromReset, at, at}, ids, "reset, two items, complete, a, fresh")
}

func TestACutOffListingBeginsAgain(t *testing.T) { resumesWhole(t) }

// largeStore is a store with values that a watch cannot take at once.
func largeStore(t *testing.T) (s *loneStore, write func(value string)) {
	s = newLoneStore()
	return s, func(value string) {
		for i := range 40 {
			_, err := s.Submit(t.Context(), kv.Command{Op: kv.Put, Key: fmt.Sprintf("k%02d", i), Value: []byte(value + strings.Repeat(" ", kv.MaxValueBytes-len(value)))}, Attempt{})
			require.NoError(t, err)
		}
	}
}

// heldOf returns how many values of before a client gets that is slow to take the first one:
// meanwhile all keys are written anew.
func heldOf(t *testing.T, f *watch, write func(string)) (held int, kinds []string) {
	f.yield = func(b []byte) bool {
		var k KVChange
		_, data, _ := strings.Cut(string(b), "\ndata: ")
		require.NoError(t, json.Unmarshal([]byte(data), &k))
		kinds = append(kinds, k.Kind)
		value, err := base64.StdEncoding.DecodeString(k.Value)
		require.NoError(t, err)
		switch {
		case k.Key == "" || bytes.HasPrefix(value, []byte("after")):
		case held == 0:
			write("after")
			fallthrough
		default:
			held++
		}
		return true
	}
	require.True(t, f.update(t.Context()))
	return held, kinds
}

// A client that is slow to take a listing does not hold the values that the store had. It gets
// the whole listing, and another one if the changes since the first are not kept any more.
func TestASlowListingHoldsNoOldState(t *testing.T) {
	s, write := largeStore(t)
	write("before")
	f, _, err := newWatch(t.Context(), s, "", "", true)
	require.NoError(t, err)
	held, kinds := heldOf(t, f, write)
	require.Equal(t, 1, held)
	listing := append(append([]string{"reset"}, slices.Repeat([]string{"item"}, 40)...), "complete")
	require.Equal(t, slices.Concat(listing, listing, []string{"fresh"}), kinds)
}

// Nor does one that is slow to take changes: those that are not kept any more are a reset.
func TestASlowWatcherHoldsNoOldChanges(t *testing.T) {
	s, write := largeStore(t)
	f, _, err := newWatch(t.Context(), s, "", "", false)
	require.NoError(t, err)
	write("before")
	f.at = kv.Place{Revision: 20} // what is kept
	held, kinds := heldOf(t, f, write)
	require.Equal(t, 1, held)
	require.Contains(t, kinds, "reset")
}
