package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"time"
)

// Silence is how long a node may send nothing before [Watch] asks another one, or the same
// one again. A node that works sends something every 15 seconds.
const Silence = 45 * time.Second

// Watch yields the changes of keys that the parameters name, until ctx ends: then the error is
// its cause. It gets one node of a group or several. When the stream of one breaks, it goes on
// behind the last item, at the next node. After a break a change may come twice, and where
// nobody knows any more what follows, a reset comes, the present keys, and complete. The error
// of a request that no node takes ends the iterator, as do one that is [Denied], and one for a
// Since that is gone, unless Current is set. To go on later, keep the ID of the last item as Since.
func Watch(ctx context.Context, p KvWatchParams, nodes ...*ClientWithResponses) iter.Seq2[KVChange, error] {
	return func(yield func(KVChange, error) bool) {
		w := watch{params: p, yield: yield}
		if len(nodes) == 0 {
			yield(KVChange{}, errors.New("failaware: a watch needs a node"))
			return
		}
		for at := 0; ; at = (at + 1) % len(nodes) {
			final, err := w.follow(ctx, nodes[at])
			switch {
			case w.left:
				return
			case ctx.Err() != nil:
				yield(KVChange{}, context.Cause(ctx))
				return
			case final:
				yield(KVChange{}, err)
				return
			}
			select {
			case <-time.After(againAfter):
			case <-ctx.Done():
			}
		}
	}
}

// watch is one that goes on over several streams.
type watch struct {
	params KvWatchParams
	yield  func(KVChange, error) bool
	left   bool // the caller has enough
}

// follow yields the items of one stream until it breaks. final says that no other stream can
// be better.
func (w *watch) follow(ctx context.Context, node *ClientWithResponses) (final bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silent := time.AfterFunc(Silence, cancel)
	defer silent.Stop()
	res, err := node.KvWatch(ctx, &w.params)
	if err != nil {
		return Denied(err), err
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusGone, http.StatusNotImplemented:
		return true, refusal(res)
	default:
		return false, refusal(res)
	}
	if w.params.LastEventID == nil && w.params.Since == nil {
		w.goOn(res.Header.Get("Failaware-Last"))
	}
	lines := linesOf(res.Body)
	for lines.Scan() {
		silent.Reset(Silence)
		data, found := cutPrefix(lines.Bytes(), "data: ")
		if !found {
			continue
		}
		var k KVChange
		if err := json.Unmarshal(data, &k); err != nil {
			return true, err
		}
		if k.Value == nil && (k.Kind == Put || k.Kind == Item) {
			k.Value = new([]byte) // an empty one is left out
		}
		w.goOn(k.Id)
		silent.Stop() // while the caller has the item
		if w.left = !w.yield(k, nil); w.left {
			return true, nil
		}
		silent.Reset(Silence)
	}
	return false, cmp.Or(lines.Err(), errors.New("failaware: the stream has ended"))
}

// goOn has the next stream begin behind an id. It begins with the present keys if nobody knows
// what follows.
func (w *watch) goOn(id string) {
	if id == "" {
		return
	}
	current := true
	w.params.Since, w.params.LastEventID, w.params.Current = nil, &id, &current
}
