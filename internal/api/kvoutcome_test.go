package api

import (
	"cmp"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/kv"
)

// told is a store that gives one outcome.
type told struct {
	*loneStore
	outcome Submitted
}

func (s *told) Submit(context.Context, kv.Command, Attempt) (Submitted, error) { return s.outcome, nil }

// outcomesOverTheAPI has a store with outcomes that differ in one fact each. It returns the
// answers, and what they should be.
func outcomesOverTheAPI(t *testing.T) (got, want []KVWrite) {
	s := &told{loneStore: newLoneStore()}
	_, c := serveWith(t, NewServerWithStore(startNode(t, failaware.Config{ID: 1, Broadcast: &failaware.BroadcastConfig{}}), s))
	for _, x := range []struct {
		of   Submitted
		want KVWrite
		code int
	}{
		{Submitted{}, KVWrite{}, 200},
		{Submitted{Lasting: true}, KVWrite{Lasting: true}, 200},
		{Submitted{Transitional: true}, KVWrite{Transitional: true}, 200},
		{Submitted{Repeated: true}, KVWrite{Repeated: true}, 200},
		{Submitted{Fresh: KVFresh{Latest: true, UpToDate: true, AtMostNS: 3, AsOfNS: 4, View: "v", Members: []int{1}, Situation: "s", Behind: 5}},
			KVWrite{Fresh: KVFresh{Latest: true, UpToDate: true, AtMostNS: 3, AsOfNS: 4, View: "v", Members: []int{1}, Situation: "s", Behind: 5}}, 200},
		{Submitted{Result: kv.Result{Revision: 9}}, KVWrite{Revision: 9}, 200},
		{Submitted{Result: kv.Result{Version: kv.Version{Revision: 8}}}, KVWrite{Version: "8"}, 200},
		{Submitted{Result: kv.Result{Lease: kv.Dot{Writer: 1, Number: 2}}}, KVWrite{Lease: "0000000000000001.2"}, 200},
		{Submitted{Result: kv.Result{Status: kv.Full, Limit: kv.LimitKeys}}, KVWrite{Status: "full", Limit: "MaxKeys"}, 507},
	} {
		if s.outcome = x.of; x.of.Fresh.Members == nil {
			s.outcome.Fresh.Members, x.want.Fresh.Members = []int{}, []int{}
		}
		answer := ask[KVWrite](t, c, x.code, "POST", "put", "", "key", "colour")
		answer.Error = ""
		x.want.Key, x.want.Status = "colour", cmp.Or(x.want.Status, "done")
		got, want = append(got, answer), append(want, x.want)
	}
	return got, want
}

func TestTheAPITellsOutcomesAsTheyAre(t *testing.T) {
	got, want := outcomesOverTheAPI(t)
	require.Equal(t, want, got)
}
