package api

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/kv"
)

func base64Of(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func itemOf(e *kv.Entry) KVItem {
	return KVItem{Key: e.Key, Value: base64Of(e.Value), Version: e.Version.String(), Created: e.Created, Lease: kvText(e.Lease)}
}

// keyOf returns the parameter key.
func keyOf(values url.Values) (string, error) {
	key := values.Get("key")
	if err := kv.CheckKey(key); err != nil {
		return "", badRequest{fmt.Errorf("key: %w", err)}
	}
	return key, nil
}

// read calls f with the latest state or, if the request says so, with that of this node.
func (s *Server) read(ctx context.Context, q *http.Request, f func(*kv.State)) (KVFresh, error) {
	local, err := flagOf(q, "local", false)
	if err != nil {
		return KVFresh{}, badRequest{err}
	}
	return s.store.Read(ctx, !local, f)
}

func (s *Server) kvGet(ctx context.Context, w http.ResponseWriter, q *http.Request) error {
	key, err := keyOf(q.URL.Query())
	if err != nil {
		return err
	}
	var e *kv.Entry
	a := KVGet{Key: key}
	a.Fresh, err = s.read(ctx, q, func(st *kv.State) {
		e = st.Get(key)
		a.Revision, a.Place = st.Place().Revision, st.Place().String()
	})
	if err != nil {
		return err
	}
	if e == nil {
		a.Error = fmt.Sprintf("there is no key %q", key)
		Answer(w, http.StatusNotFound, a)
		return nil
	}
	i := itemOf(e)
	a.Found, a.Value, a.Version, a.Created, a.Lease = true, i.Value, i.Version, i.Created, i.Lease
	Answer(w, http.StatusOK, a)
	return nil
}

func (s *Server) kvList(ctx context.Context, w http.ResponseWriter, q *http.Request) error {
	limit := kv.MaxList
	var err error
	if text := q.URL.Query().Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > kv.MaxList {
			return badRequest{fmt.Errorf("limit %.40q is not a number from 1 to %d", text, kv.MaxList)}
		}
	}
	var list []*kv.Entry
	a := KVList{Items: []KVItem{}}
	a.Fresh, err = s.read(ctx, q, func(st *kv.State) {
		list, a.More = st.List(q.URL.Query().Get("prefix"), q.URL.Query().Get("after"), limit, kv.MaxListBytes)
		a.Revision, a.Place = st.Place().Revision, st.Place().String()
	})
	if err != nil {
		return err
	}
	for _, e := range list {
		a.Items = append(a.Items, itemOf(e))
	}
	Answer(w, http.StatusOK, a)
	return nil
}

func (s *Server) kvLease(ctx context.Context, w http.ResponseWriter, q *http.Request) error {
	id, err := idOf(q.URL.Query(), "lease")
	if err != nil {
		return err
	}
	var a KVLease
	a.Fresh, err = s.read(ctx, q, func(st *kv.State) {
		var l kv.Lease
		a = KVLease{Lease: id.String(), Keys: []string{}}
		if l, a.Found = st.Lease(id); a.Found {
			a.TTLNS, a.EndNS, a.Timeline = int64(l.TTL), int64(l.End), idText(l.Timeline)
			a.Keys = append(a.Keys, l.Keys...)
		}
	})
	if err != nil {
		return err
	}
	code := http.StatusOK
	if !a.Found {
		a.Error, code = noLease(id), http.StatusNotFound
	}
	Answer(w, code, a)
	return nil
}

func noLease(id kv.Dot) string { return fmt.Sprintf("there is no lease %v: it has ended", id) }

// idOf returns a parameter that names a lease or a lost write.
func idOf(values url.Values, name string) (kv.Dot, error) {
	d, err := kv.ParseDot(values.Get(name))
	if err != nil {
		return d, badRequest{fmt.Errorf("%s: %w", name, err)}
	}
	return d, nil
}

func conflictOf(c *kv.Conflict) KVConflict {
	return KVConflict{ID: c.Lost.Dot.String(), Key: c.Lost.Key, Value: base64Of(c.Lost.Value),
		Deleted: c.Lost.Deleted, Version: c.Lost.Version.String(), KeptVersion: c.KeptVersion.String(), Revision: c.Revision,
		TimeNS: int64(c.Lost.At.Time), DeviationNS: known(c.Lost.At.Deviation, clocksync.UnknownBound)}
}

func (s *Server) kvConflicts(ctx context.Context, w http.ResponseWriter, q *http.Request) error {
	var list []*kv.Conflict
	var err error
	a := KVConflicts{Conflicts: []KVConflict{}}
	a.Fresh, err = s.read(ctx, q, func(st *kv.State) {
		list, a.Forgotten = st.Conflicts(q.URL.Query().Get("prefix")), st.Summary().Forgotten
	})
	if err != nil {
		return err
	}
	bytes := 0
	for i := range list {
		c := list[i]
		if bytes += len(c.Lost.Key) + len(c.Lost.Value) + kv.EntryBytes; bytes > kv.MaxListBytes {
			a.More = i > 0
			break
		}
		a.Conflicts = append(a.Conflicts, conflictOf(c))
	}
	Answer(w, http.StatusOK, a)
	return nil
}
