package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/internal/session"
)

// loneStore is a store of one node, whose answers a test can make fail.
type loneStore struct {
	done    chan struct{}
	mu      sync.Mutex
	state   *kv.State
	n       uint64
	changed chan struct{}
	err     error  // of requests that need others
	ask     func() // gets what others have, before a latest read; or nil
	alone   error  // of latest reads, while the view is up to date
	late    error  // of latest reads that have looked at the state, which did not count
	before  func() // happens before each read of this node's state, or is nil
	now     time.Duration
	table   *session.Table
	log     *StoreLog
	lag     string // whom commands wait for
}

func newLoneStore() *loneStore {
	return &loneStore{done: make(chan struct{}), state: kv.New(kv.Partitionable), changed: make(chan struct{}), now: time.Hour, log: NewStoreLog(),
		table: session.NewTable(session.Limits{Sessions: 2, Window: 3, Bytes: 1000})}
}

func (s *loneStore) Done() <-chan struct{} { return s.done }

func (s *loneStore) Read(_ context.Context, latest bool, f func(*kv.State)) (KVFresh, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.before != nil && !latest {
		s.before()
	}
	if err := cmp.Or(s.err, s.alone); latest && err != nil {
		return KVFresh{}, err
	}
	if latest && s.ask != nil {
		s.ask()
	}
	f(s.state) // the last call counts
	if latest && s.late != nil {
		return KVFresh{}, s.late
	}
	f(s.state)
	return KVFresh{Latest: latest, UpToDate: s.err == nil, Members: []int{1}, Situation: atWork}, nil
}

func (s *loneStore) Submit(_ context.Context, c kv.Command, in Attempt) (Submitted, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return Submitted{}, s.err
	}
	s.n++
	c.Dot = kv.Dot{Writer: 1, Number: s.n}
	c.At = clocksync.Reading{Time: clocksync.Time(s.now), Timeline: clocksync.TimelineID{Leader: 1}}
	if err := c.Check(); err != nil {
		return Submitted{}, err
	}
	defer s.ring()
	out := Submitted{Fresh: KVFresh{Members: []int{1}}}
	if in.Number == 0 {
		out.Result = s.state.Apply(c.Encode())
		return out, nil
	}
	op := session.AppendUse(nil, session.ID{Sequence: in.Session.Sequence}, in.Number, c.Encode())
	a := s.table.Apply(session.ID{}, op, func(b []byte) any { return s.state.Apply(b) }, kv.Recognize).(session.Answer)
	if a.Err != nil {
		return Submitted{}, &SessionError{Code: http.StatusGone, Text: a.Err.Error()}
	}
	out.Repeated = a.Repeated
	if b, kept := a.Result.([]byte); kept {
		return out, out.Result.UnmarshalBinary(b)
	}
	out.Result = a.Result.(kv.Result)
	return out, nil
}

func (s *loneStore) OpenSession(context.Context) (failaware.MessageID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return failaware.MessageID{}, s.err
	}
	s.n++
	s.table.Apply(session.ID{Sequence: s.n}, session.AppendOpen(nil), nil, nil)
	return failaware.MessageID{Sender: 1, Boot: 7, Class: 1, Sequence: s.n}, nil
}

func (s *loneStore) CloseSession(_ context.Context, id failaware.MessageID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.table.Apply(session.ID{}, session.AppendClose(nil, session.ID{Sequence: id.Sequence}), nil, nil)
	}
	return s.err
}

func (s *loneStore) ring() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *loneStore) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

func (s *loneStore) Bootstrap(context.Context) error { return s.err }

func (s *loneStore) Describe(a *KVStatus) { a.Accepting, a.Storage, a.Lag = s.err == nil, "dir", s.lag }

func (s *loneStore) Log() *StoreLog { return s.log }

func (s *loneStore) Broadcast(_ context.Context, payload []byte, o failaware.BroadcastOptions) (failaware.MessageID, error) {
	id := failaware.MessageID{Sender: 1, Boot: 7, Class: 1, Sequence: 5}
	s.log.AddMessage(failaware.Delivery{ID: id, Payload: payload, Order: o.Order, Atomicity: o.Atomicity})
	return id, s.err
}

func (s *loneStore) BroadcastAndWait(ctx context.Context, payload []byte, o failaware.BroadcastOptions) (failaware.Outcome, error) {
	id, err := s.Broadcast(ctx, payload, o)
	return failaware.Outcome{ID: id, View: &failaware.View{}, Position: 3}, err
}

// fail makes requests that need others fail.
func (s *loneStore) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// later lets time pass.
func (s *loneStore) later(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now += d
}

// meet lets a state that was written elsewhere meet this one.
func (s *loneStore) meet(c kv.Command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	other := kv.New(kv.Partitionable)
	other.Apply(c.Encode())
	mine := *s.state
	s.state = kv.New(kv.Partitionable)
	s.state.Merge([]*kv.State{&mine, other})
	s.ring()
}

// serveStore serves a node with a store.
func serveStore(t *testing.T) (*loneStore, *Client) {
	t.Helper()
	n := startNode(t, failaware.Config{ID: 1, Broadcast: &failaware.BroadcastConfig{}})
	s := newLoneStore()
	_, c := serveWith(t, NewServerWithStore(n, s))
	return s, c
}

// ask sends a request and demands a status.
func ask[T any](t *testing.T, c *Client, code int, method, path, body string, query ...string) (v T) {
	t.Helper()
	q := url.Values{}
	for i := 0; i < len(query); i += 2 {
		q.Set(query[i], query[i+1])
	}
	err := c.AskStore(t.Context(), method, path, q, []byte(body), &v)
	got := http.StatusOK
	if e, ok := errors.AsType[*StatusError](err); ok {
		got = e.Code
		require.NotEmpty(t, e.Text)
	} else {
		require.NoError(t, err)
	}
	require.Equal(t, code, got, "%v", err)
	return v
}

func TestKeysOverTheAPI(t *testing.T) {
	s, c := serveStore(t)
	w := ask[KVWrite](t, c, 200, "POST", "put", "blue", "key", "colour")
	require.Equal(t, "done", w.Status)
	require.Equal(t, w, KVWrite{Status: "done", Key: "colour", Version: w.Version, Revision: 1, Fresh: w.Fresh})
	g := ask[KVGet](t, c, 200, "GET", "get", "", "key", "colour")
	require.Equal(t, base64Of([]byte("blue")), g.Value)
	require.Equal(t, w.Version, g.Version)
	require.True(t, g.Fresh.Latest)
	require.False(t, ask[KVGet](t, c, 200, "GET", "get", "", "key", "colour", "local", "true").Fresh.Latest)
	g = ask[KVGet](t, c, 404, "GET", "get", "", "key", "none")
	require.False(t, g.Found)
	require.True(t, g.Fresh.Latest, "that there is no key is an answer, too")

	miss := ask[KVWrite](t, c, 409, "POST", "cas", "red", "key", "colour", "version", "0")
	require.Equal(t, w.Version, miss.Version)
	ask[KVWrite](t, c, 409, "POST", "delete", "", "key", "none", "version", "3")
	ask[KVWrite](t, c, 409, "POST", "delete", "", "key", "colour", "version", "0")
	next := ask[KVWrite](t, c, 200, "POST", "cas", "red", "key", "colour", "version", w.Version)
	require.Equal(t, uint64(2), next.Revision)
	for i := range 5 {
		ask[KVWrite](t, c, 200, "POST", "put", "", "key", "k"+strconv.Itoa(i))
	}
	list := ask[KVList](t, c, 200, "GET", "list", "", "prefix", "k", "limit", "3")
	require.True(t, list.More)
	require.Len(t, list.Items, 3)
	list = ask[KVList](t, c, 200, "GET", "list", "", "prefix", "k", "after", "k2")
	require.False(t, list.More)
	require.Equal(t, "k3", list.Items[0].Key)
	ask[KVWrite](t, c, 200, "POST", "delete", "", "key", "k0")
	ask[KVWrite](t, c, 404, "POST", "delete", "", "key", "k0")
	st := ask[KVStatus](t, c, 200, "GET", "status", "")
	require.Equal(t, 5, st.Keys)
	require.Equal(t, "partitionable", st.Kind)

	s.fail(failaware.ErrNoQuorum)
	ask[KVGet](t, c, 503, "GET", "get", "", "key", "colour")
	ask[KVList](t, c, 503, "GET", "list", "")
	ask[KVConflicts](t, c, 503, "GET", "conflicts", "")
	ask[KVWrite](t, c, 503, "POST", "put", "", "key", "colour")
	ask[Done](t, c, 503, "POST", "bootstrap", "")
	ask[KVGet](t, c, 200, "GET", "get", "", "key", "colour", "local", "true")
	s.fail(&failaware.UnknownOutcomeError{Reason: failaware.NotAwaited})
	ask[KVWrite](t, c, 504, "POST", "put", "", "key", "colour")
	s.fail(nil)
	ask[Done](t, c, 200, "POST", "bootstrap", "")
}

func TestLeasesOverTheAPI(t *testing.T) {
	s, c := serveStore(t)
	l := ask[KVWrite](t, c, 200, "POST", "lease/grant", "", "ttl", "10s").Lease
	own := ask[KVWrite](t, c, 200, "POST", "put", "v", "key", "own", "ttl", "5s").Lease
	require.NotEmpty(t, own)
	ask[KVWrite](t, c, 200, "POST", "put", "v", "key", "bound", "lease", l)
	got := ask[KVLease](t, c, 200, "GET", "lease", "", "lease", l)
	require.Equal(t, []string{"bound"}, got.Keys)
	require.Equal(t, int64(10*time.Second), got.TTLNS)
	require.Equal(t, l, ask[KVGet](t, c, 200, "GET", "get", "", "key", "bound").Lease)
	s.later(6 * time.Second)
	ask[KVWrite](t, c, 200, "POST", "lease/renew", "", "lease", l)
	ask[KVWrite](t, c, 404, "POST", "lease/renew", "", "lease", own)
	ask[KVWrite](t, c, 404, "POST", "put", "v", "key", "bound", "lease", own)
	ask[KVLease](t, c, 404, "GET", "lease", "", "lease", own)
	ask[KVWrite](t, c, 200, "POST", "lease/revoke", "", "lease", l)
	ask[KVGet](t, c, 404, "GET", "get", "", "key", "bound")
}

func TestConflictsOverTheAPI(t *testing.T) {
	s, c := serveStore(t)
	ask[KVWrite](t, c, 200, "POST", "put", "mine", "key", "a")
	s.meet(kv.Command{Op: kv.Put, Dot: kv.Dot{Writer: 7, Number: 1}, Key: "a", Value: []byte("theirs")})
	list := ask[KVConflicts](t, c, 200, "GET", "conflicts", "").Conflicts
	require.Len(t, list, 1)
	require.Equal(t, base64Of([]byte("theirs")), list[0].Value)
	require.NotNil(t, list[0].DeviationNS)
	require.Empty(t, ask[KVConflicts](t, c, 200, "GET", "conflicts", "", "prefix", "b").Conflicts)
	ask[KVWrite](t, c, 200, "POST", "resolve", "", "key", "a", "id", list[0].ID)
	ask[KVWrite](t, c, 404, "POST", "resolve", "", "key", "a", "id", list[0].ID)
}

// An answer says how many conflicts were forgotten, because nothing else is left of them.
func TestForgottenConflictsAreCounted(t *testing.T) {
	s, c := serveStore(t)
	mine, theirs := kv.New(kv.Partitionable), kv.New(kv.Partitionable)
	for i := range uint64(kv.MaxConflicts + 3) {
		for writer, state := range map[uint64]*kv.State{1: mine, 2: theirs} {
			state.Apply((&kv.Command{Op: kv.Put, Dot: kv.Dot{Writer: writer, Number: i + 1}, Key: strconv.FormatUint(i, 10), Value: []byte{byte(writer)}}).Encode())
		}
	}
	s.state.Merge([]*kv.State{mine, theirs})
	require.EqualValues(t, 3, ask[KVConflicts](t, c, 200, "GET", "conflicts", "").Forgotten)
	require.EqualValues(t, 3, ask[KVStatus](t, c, 200, "GET", "status", "").Forgotten)
}

// An answer has as many conflicts as fit, and says that there are more.
func TestManyConflictsOverTheAPI(t *testing.T) {
	s, c := serveStore(t)
	value := make([]byte, kv.MaxValueBytes)
	most := kv.MaxListBytes / kv.MaxValueBytes
	for i := range most {
		key := "k" + strconv.Itoa(i)
		ask[KVWrite](t, c, 200, "POST", "put", "mine", "key", key)
		s.meet(kv.Command{Op: kv.Put, Dot: kv.Dot{Writer: 7, Number: uint64(i) + 1}, Key: key, Value: value})
	}
	a := ask[KVConflicts](t, c, 200, "GET", "conflicts", "")
	require.Len(t, a.Conflicts, most-1)
	require.True(t, a.More)
	require.False(t, ask[KVConflicts](t, c, 200, "GET", "conflicts", "", "prefix", "k0").More)
}

func TestWrongRequestsToTheStore(t *testing.T) {
	_, c := serveStore(t)
	for _, r := range [][]string{
		{"GET", "get"}, {"GET", "get", "key", "\n"}, {"GET", "get", "key", "a", "local", "x"}, {"GET", "get", "key", "a", "wait", "x"},
		{"GET", "get", "key", "a", "wait", "1h"}, {"GET", "list", "limit", "0"}, {"GET", "list", "limit", "1001"}, {"POST", "cas", "key", "a"},
		{"POST", "cas", "key", "a", "version", "x"}, {"POST", "put", "key", "a", "ttl", "1ms"}, {"POST", "put", "key", "a", "lease", "x"},
		{"POST", "put", "key", "a", "ttl", "10s", "lease", "0000000000000001.2"}, {"POST", "cas", "key", "a", "version", "0", "ttl", "10s", "lease", "0000000000000001.2"},
		{"POST", "lease/grant"}, {"POST", "lease/renew", "lease", "1"}, {"GET", "lease", "lease", "x"}, {"POST", "resolve", "key", "a", "id", "x"},
		{"GET", "watch", "since", "x"}, {"GET", "watch", "current", "x"}, {"GET", "conflicts", "local", "x"}, {"POST", "delete"},
		{"POST", "put", "key", "a", "session", "1/0000000000000007/o1"}, {"POST", "delete", "key", "a", "number", "1"}, {"POST", "put", "key", "a", "session", "", "number", "1"},
		{"POST", "put", "key", "a", "session", "x", "number", "1"}, {"POST", "put", "key", "a", "session", "1/0000000000000007/o1", "number", "0"},
		{"POST", "put", "key", "a", "session", "1/0000000000000007/o1", "number", "9223372036854775808"}, {"POST", "session/close"}, {"POST", "session/close", "session", "1"},
		{"POST", "cas", "key", "a", "version", ""}, {"POST", "delete", "key", "a", "version", ""}, // a condition that is lost on the way
	} {
		ask[KVWrite](t, c, 400, r[0], r[1], "", r[2:]...)
	}
	ask[KVWrite](t, c, 413, "POST", "put", string(make([]byte, kv.MaxValueBytes+1)), "key", "a")
	ask[KVWrite](t, c, 200, "POST", "put", string(make([]byte, kv.MaxValueBytes)), "key", "a")
	version := ask[KVGet](t, c, 200, "GET", "get", "", "key", "a").Version
	ask[KVWrite](t, c, 200, "POST", "cas", string(make([]byte, kv.MaxValueBytes)), "key", "a", "version", version)

	n := startNode(t, failaware.Config{ID: 2})
	_, without := serveNode(t, n)
	ask[KVGet](t, without, 501, "GET", "get", "", "key", "a")
}

// watched returns the items of a stream up to one of a kind, without those about freshness.
func watched(t *testing.T, c *Client, last string, r *Resume, query url.Values, during func()) (items []KVChange) {
	t.Helper()
	started := func(string) {
		if during != nil {
			during()
		}
	}
	err := c.WatchStore(t.Context(), query, r, started, func(k KVChange) error {
		if k.Kind == "fresh" || k.Kind == "stale" {
			return nil
		}
		items = append(items, k)
		if k.Kind == last || k.Key == last {
			r.Last = k.ID
			return errEnough
		}
		return nil
	})
	require.ErrorIs(t, err, errEnough)
	return items
}

func TestChangesAreWatched(t *testing.T) {
	_, c := serveStore(t)
	put := func(key string) { ask[KVWrite](t, c, 200, "POST", "put", "v", "key", key) }
	put("x/1")
	put("y")
	all := watched(t, c, "y", &Resume{Last: "0"}, nil, nil)
	require.Len(t, all, 2)
	var r Resume
	items := watched(t, c, "x/3", &r, url.Values{"prefix": {"x/"}}, func() { put("z"); put("x/2"); put("x/3") })
	require.Len(t, items, 2, "from now on")
	put("x/4")
	items = watched(t, c, "x/4", &r, url.Values{"prefix": {"x/"}}, nil)
	require.Len(t, items, 1, "after the last item")
	leased := ask[KVWrite](t, c, 200, "POST", "put", "v", "key", "x/4", "ttl", "1m")
	items = watched(t, c, "x/4", &r, url.Values{"prefix": {"x/"}}, nil)
	require.NotEmpty(t, leased.Lease)
	require.Equal(t, leased.Lease, items[0].Lease)

	items = watched(t, c, "complete", &Resume{}, url.Values{"prefix": {"x/"}, "current": {"true"}}, nil)
	require.Len(t, items, 6)
	require.Equal(t, "reset", items[0].Kind)
	require.Equal(t, "reset", items[3].ID, "a client that is cut off here begins again")
	items = watched(t, c, "complete", &Resume{Last: "reset"}, nil, nil)
	require.Len(t, items, 8)

	require.Equal(t, []string{"a", "b"}, watchHalves(t))
}

// A state that meets that of a node replaces it under the watches.
func TestWatchesHearOfMergers(t *testing.T) {
	items := afterMeeting(t.Context(), t)
	require.Equal(t, "reset", items[0].Kind)
	require.Contains(t, items[0].Reason, "compacted")
	require.Len(t, items, 4)
	require.Equal(t, "complete", items[3].Kind)
}

// afterMeeting returns what a watch tells when two states meet, until ctx is done at the
// latest.
func afterMeeting(ctx context.Context, t *testing.T) (items []KVChange) {
	s, c := serveStore(t)
	ask[KVWrite](t, c, 200, "POST", "put", "v", "key", "x/1")
	_ = c.WatchStore(ctx, nil, &Resume{}, func(string) {
		s.meet(kv.Command{Op: kv.Put, Dot: kv.Dot{Writer: 7, Number: 1}, Key: "x/9", Value: []byte("theirs")})
	}, func(k KVChange) error {
		if k.Kind != "fresh" && k.Kind != "stale" {
			items = append(items, k)
		}
		if k.Kind == "complete" {
			return errEnough
		}
		return nil
	})
	err := c.WatchStore(t.Context(), nil, &Resume{Last: "1-00000001"}, nil, nil)
	require.ErrorContains(t, err, "parts have met since: 1-00000001; changes after revision")
	return items
}

// watchHalves watches two keys that one command deletes, and is cut off between them. It
// returns the keys that it has heard of.
func watchHalves(t *testing.T) (keys []string) {
	_, c := serveStore(t)
	l := ask[KVWrite](t, c, 200, "POST", "lease/grant", "", "ttl", "10s").Lease
	ask[KVWrite](t, c, 200, "POST", "put", "v", "key", "a", "lease", l)
	w := ask[KVWrite](t, c, 200, "POST", "put", "v", "key", "b", "lease", l)
	ask[KVWrite](t, c, 200, "POST", "lease/revoke", "", "lease", l)
	ask[KVWrite](t, c, 200, "POST", "put", "v", "key", "end")
	r := Resume{Last: strconv.FormatUint(w.Revision, 10)}
	for heard := ""; heard != "end"; {
		err := c.WatchStore(t.Context(), nil, &r, nil, func(k KVChange) error {
			heard = k.Key
			if k.Kind == "delete" && !slices.Contains(keys, k.Key) {
				keys = append(keys, k.Key)
				r.Last = k.ID
				return errEnough // cut off
			}
			if heard == "end" {
				return errEnough
			}
			return nil
		})
		require.ErrorIs(t, err, errEnough)
	}
	return keys
}

// A quiet prefix gets new ids, so that its watcher can be resumed.
func TestQuietWatchersMakeProgress(t *testing.T) {
	s, c := serveStore(t)
	var heard []KVChange
	err := c.WatchStore(t.Context(), url.Values{"prefix": {"x"}}, &Resume{}, nil, func(k KVChange) error {
		if heard = append(heard, k); len(heard) == 3 {
			return errEnough
		}
		for range progressEvery { // counted from the item that was sent last
			_, err := s.Submit(t.Context(), kv.Command{Op: kv.Put, Key: "y"}, Attempt{})
			require.NoError(t, err)
		}
		return nil
	})
	require.ErrorIs(t, err, errEnough)
	require.Len(t, heard, 3)
	for i, k := range heard[1:] {
		require.Equal(t, "progress", k.Kind)
		require.EqualValues(t, (i+1)*progressEvery, k.Revision, "each once")
	}
}

// A stream says when the node no longer knows whether it hears of changes.
func TestWatchersHearThatTheyAreStale(t *testing.T) {
	s, c := serveStore(t)
	var kinds []string
	err := c.WatchStore(t.Context(), nil, &Resume{}, nil, func(k KVChange) error {
		kinds = append(kinds, k.Kind)
		if len(kinds) == 1 {
			s.fail(errEnough)
			return nil
		}
		return errEnough
	})
	require.ErrorIs(t, err, errEnough)
	require.Equal(t, []string{"fresh", "stale"}, kinds)
}

// People who use the command or the API know no constants of Go: an error has the value of the
// limit.
func TestLimitsOfAFullStoreAreSaid(t *testing.T) {
	require.Equal(t, "at most 100000 keys", limitText(kv.LimitKeys))
	require.Equal(t, "at most 10000 leases", limitText(kv.LimitLeases))
	require.Equal(t, "at most 67108864 bytes of keys and values, with 64 more for each key", limitText(kv.LimitBytes))
}

// A wait ends without a number: a client that tried more than once has waited for longer.
func TestTheEndOfAWaitNamesNoTime(t *testing.T) {
	s, w := &Server{store: newLoneStore()}, httptest.NewRecorder()
	s.serveStore(func(_ *Server, ctx context.Context, _ http.ResponseWriter, _ *http.Request) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}, w, httptest.NewRequest(http.MethodGet, "/v1/kv/get?wait=1ms", nil))
	require.Contains(t, w.Body.String(), `"no answer in time"`)
}
