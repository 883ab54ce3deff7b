package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/failaware/failaware/internal/kv"
)

// freshEvery is the interval at which a stream of changes checks whether the state is still up
// to date.
const freshEvery = 200 * time.Millisecond

// progressEvery and progressBytes are how many changes of other keys, and of how many bytes, a
// stream passes over before it gets a new id: a small part of those that are kept.
const progressEvery, progressBytes = kv.MaxHistory / 10, kv.MaxHistoryBytes / 10

// fromReset is the id of items before the client knows one state: a client that resumes there
// gets the listing again.
const fromReset = "reset"

// pieceBytes is how much of the keys or the changes a watch takes from the state at once. It
// holds that while it sends it to a client that may be slow, and the state goes on.
const pieceBytes = 256 << 10

// watch is one stream of changes.
type watch struct {
	store     Store
	prefix    string
	piece     int
	at        kv.Place // the client has all changes through it, or the listing has
	passed    passed   // since the last id
	again     bool     // that is fromReset
	list      string   // why a listing comes next, or empty
	listing   listing
	fresh     bool // as sent last
	freshSent bool
	yield     func([]byte) bool
}

// passed counts changes that a watch does not send.
type passed struct{ changes, bytes int }

// kvWatch streams the changes of keys that begin with a prefix: those after a place, or
// from now on, or after a listing of the present keys.
func (s *Server) kvWatch(ctx context.Context, w http.ResponseWriter, q *http.Request) error {
	listing, err := flagOf(q, "current", false)
	if err != nil {
		return badRequest{err}
	}
	f, start, err := newWatch(ctx, s.store, q.URL.Query().Get("prefix"), sinceOf(q), listing)
	if err != nil {
		return err
	}
	s.watches.stream(w, q, start, f.messages)
	return nil
}

// newWatch returns the watch that continues after an id, or begins if that is empty, and the
// id to resume with before its first item. Without a listing, the error may match
// [kv.ErrCompacted] or [kv.ErrOtherPart].
func newWatch(ctx context.Context, store Store, prefix, since string, listing bool) (f *watch, start string, err error) {
	f = &watch{store: store, prefix: prefix, piece: pieceBytes}
	switch {
	case listing && since == "" || since == fromReset:
		f.list = "the present keys follow"
	case since != "":
		if f.at, err = kv.ParsePlace(since); err != nil {
			return nil, "", badRequest{fmt.Errorf("since: %w", err)}
		}
	}
	var oldest uint64
	var gone error
	look := func(st *kv.State) {
		oldest = st.Oldest()
		if since == "" {
			f.at = st.Place()
		}
		if f.list == "" {
			gone = st.Reached(f.at)
		}
	}
	fresh, err := store.Read(ctx, false, look)
	if err == nil && fresh.UpToDate && !listing && errors.Is(gone, kv.ErrAhead) {
		if !f.ask(ctx, look) {
			gone = kv.ErrAhead // others may know the place
		} else if errors.Is(gone, kv.ErrAhead) {
			gone = kv.ErrOtherPart // see read
		}
	}
	switch {
	case err != nil:
		return nil, "", err
	case gone == nil || errors.Is(gone, kv.ErrAhead): // the watch waits for the place
	case listing: // an EventSource reconnects by itself, but not after an error
		f.list = listedBecause(gone)
	default:
		return nil, "", fmt.Errorf("%w: %s; changes after revision %d are kept; current=true begins with the present keys", gone, since, oldest)
	}
	if start = f.at.String(); f.list != "" {
		start = fromReset
	}
	return f, start, nil
}

// ask lets look see the latest state. It returns false if that is not known in time: what look has
// seen does not count then.
func (f *watch) ask(ctx context.Context, look func(*kv.State)) bool {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	_, err := f.store.Read(ctx, true, look)
	return err == nil
}

// listedBecause returns the reason for a listing.
func listedBecause(gone error) string { return "the present keys follow, because " + gone.Error() }

// messages returns the stream until ctx is done or the store has stopped.
func (f *watch) messages(ctx context.Context) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		f.yield = yield
		over := f.store.Done()
		tick := time.NewTicker(freshEvery)
		defer tick.Stop()
		for {
			changed := f.store.Changed()
			last := isDone(over)
			if !f.update(ctx) || last {
				return
			}
			select {
			case <-changed:
			case <-tick.C:
			case <-over:
			case <-ctx.Done():
				return
			}
		}
	}
}

// update sends everything that is new. It returns false at the end of the stream.
func (f *watch) update(ctx context.Context) bool {
	for more := true; more && ctx.Err() == nil; {
		n, err := f.read(ctx, false)
		if err == nil && f.list == "" && n.ahead && n.fresh.UpToDate {
			if others, err := f.read(ctx, true); err == nil {
				n = others
			} else {
				n.fresh.UpToDate = false // others may know the place
			}
		}
		if err != nil || !f.items(&n) {
			return false
		}
		more = n.more || f.catchesUp()
		// A client that does not have all of the state yet is not told that it is fresh.
		if !f.listing.underWay && (!more || !n.fresh.UpToDate) && !f.freshness(n.fresh) {
			return false
		}
	}
	return true
}

// items sends the items of an update.
func (f *watch) items(n *watchUpdate) bool {
	if f.list != "" || f.listing.underWay {
		return f.page(n)
	}
	return f.changes(n.changes)
}

// watchUpdate has items that a watch has not sent yet.
type watchUpdate struct {
	changes []kv.Change
	list    []*kv.Entry // if a listing begins or goes on
	more    bool        // there are others
	lost    bool        // the changes since the listing has begun are not kept
	place   kv.Place
	ahead   bool // the state has not reached the place of the watch
	fresh   KVFresh
}

// askPatience is how long a watch waits for the other members of the view.
const askPatience = time.Second

// read reads items that are new. Some node has sent the place of the watch. So if the latest
// state has not reached the place, it is another state: the group has started over, or an older
// state has replaced that one.
func (f *watch) read(ctx context.Context, latest bool) (n watchUpdate, err error) {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	why := f.list
	n.fresh, err = f.store.Read(ctx, latest, func(st *kv.State) {
		n, why = watchUpdate{place: st.Place()}, f.list
		gone := st.Reached(f.at)
		if f.catchesUp() {
			gone = f.listing.follows(st, gone)
		}
		if n.ahead = errors.Is(gone, kv.ErrAhead); n.ahead && latest {
			gone = kv.ErrOtherPart
		}
		if n.lost = f.listing.underWay && errors.Is(gone, kv.ErrCompacted); n.lost {
			gone = nil // until the listing is whole
		}
		if why == "" && gone != nil && !errors.Is(gone, kv.ErrAhead) {
			why = listedBecause(gone)
		}
		switch {
		case why != "":
			n.list, n.more = st.List(f.prefix, "", kv.MaxList, f.piece)
		case f.listing.underWay:
			n.list, n.more = st.List(f.prefix, f.listing.through(), kv.MaxList, f.piece)
		case gone == nil:
			n.changes, n.more, _ = st.Since(f.at, f.piece) // which is reached
		}
	})
	if err == nil {
		f.list = why
	}
	return n, err
}

// changes sends changes, but for those that the listing has. A stream resumes after the whole
// revision of an id, so all changes of a revision except the last have the id of the revision
// before.
func (f *watch) changes(list []kv.Change) bool {
	for i, c := range list {
		before := f.at
		if i+1 == len(list) || list[i+1].Revision != c.Revision {
			f.at = c.Place()
			before = f.at
		}
		if !strings.HasPrefix(c.Key, f.prefix) || f.listing.has(&c) {
			f.passed.changes, f.passed.bytes = f.passed.changes+1, f.passed.bytes+c.Bytes()
			continue
		}
		k := KVChange{ID: f.idOf(before), Kind: "put", Key: c.Key, Version: c.Version.String(), Revision: c.Revision}
		switch {
		case c.Expired:
			k.Kind = "expire"
		case c.Deleted:
			k.Kind = "delete"
		default:
			k.Value, k.Lease = base64Of(c.Value), kvText(c.Lease)
		}
		if !f.send(k) {
			return false
		}
	}
	if f.catchesUp() {
		return true
	}
	f.listing = listing{}
	if f.passed.changes < progressEvery && f.passed.bytes < progressBytes && !f.again {
		return true
	}
	return f.send(KVChange{ID: f.at.String(), Kind: "progress", Revision: f.at.Revision})
}

// freshness sends an item when the state of this node begins or ceases to be that of an
// up-to-date view.
func (f *watch) freshness(now KVFresh) bool {
	if f.freshSent && f.fresh == now.UpToDate {
		return true
	}
	f.freshSent, f.fresh = true, now.UpToDate
	k := KVChange{ID: f.idOf(f.at), Kind: "stale", Revision: f.at.Revision, Reason: "the view is not up to date"}
	switch {
	case now.UpToDate:
		k.Kind, k.Reason = "fresh", fmt.Sprintf("the view of nodes %v is up to date", now.Members)
	case now.Situation != atWork:
		k.Reason = now.Situation
	}
	return f.send(k)
}

// atWork is the situation of a replica that has the state of its view.
const atWork = "at work"

func (f *watch) send(k KVChange) bool {
	b, err := json.Marshal(k)
	if err != nil {
		return false // a struct of texts and numbers always encodes
	}
	f.passed, f.again = passed{}, k.ID == fromReset
	return f.yield(fmt.Appendf(nil, "id: %s\nevent: %s\ndata: %s\n\n", k.ID, k.Kind, b))
}
