package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/replicate"
)

// persistent is a client that sends each command again, at any node, until it knows what
// came of it.
type persistent struct {
	at       func() *Store // some node
	in       api.Attempt
	repeated int
}

func (p *persistent) submit(_ context.Context, c kv.Command) (api.Submitted, error) {
	for p.in.Session == (failaware.MessageID{}) {
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		p.in.Session, _ = p.at().OpenSession(ctx)
		cancel()
	}
	p.in.Number++
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		a, err := p.at().Submit(ctx, c, p.in)
		cancel()
		if a.Repeated {
			p.repeated++
		}
		if _, refused := errors.AsType[*api.SessionError](err); err == nil || refused {
			return a, err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// playSessions has clients write and read one key, with sessions, while the network splits
// and nodes lose their memory. It returns how often a client got the result of an earlier
// attempt.
func playSessions(t *testing.T, seed uint64) (ok bool, repeated int) {
	synctest.Test(t, func(t *testing.T) {
		g := startGroup(t, kv.Linearizable, 3, seed)
		defer g.close()
		h := &history{}
		rnd := rand.New(rand.NewPCG(seed, 1))
		var mu sync.Mutex // of the stores
		store := func(i int) *Store {
			mu.Lock()
			defer mu.Unlock()
			return g.stores[i]
		}
		stop := make(chan struct{})
		clients := make([]persistent, 3)
		for i := range clients {
			own, p := rand.New(rand.NewPCG(seed, uint64(i+2))), &clients[i]
			p.at = func() *Store { return store(own.IntN(3)) }
			h.start(i, stop, own, func() *Store { return store(i) }, p.submit)
		}
		g.split(rnd)
		i := rnd.IntN(3) // it gets the sessions with the state
		mu.Lock()
		require.NoError(t, g.stores[i].Close())
		g.start(i)
		mu.Unlock()
		g.settle()
		close(stop)
		h.clients.Wait()
		for i := range clients {
			repeated += clients[i].repeated
		}
		ok, _ = h.check()
	})
	return ok, repeated
}

// One register explains all answers, and each command has come to it once.
func TestSessionsOfTheStoreApplyOnce(t *testing.T) {
	repeated := 0
	for seed := range uint64(6) {
		ok, n := playSessions(t, seed)
		require.True(t, ok, "seed %d", seed)
		repeated += n
	}
	require.Positive(t, repeated)
}

// inSession submits a command that a node must take.
func (g *group) inSession(i int, c kv.Command, in api.Attempt) api.Submitted {
	a, err := g.stores[i].Submit(within(g.t, 5*time.Second), c, in)
	require.NoError(g.t, err)
	return a
}

// Each part of a partitionable store carries a command of a session out once. When they
// meet, the first result of one of them stays, and equal values are no conflict.
func TestSessionsInParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startGroup(t, kv.Partitionable, 4, 1)
		defer g.close()
		id, err := g.stores[0].OpenSession(within(t, 5*time.Second))
		require.NoError(t, err)
		g.net.Partition([]failaware.NodeID{1, 2}, []failaware.NodeID{3, 4})
		g.settle()
		put, in := kv.Command{Op: kv.Put, Key: "a", Value: []byte("1"), TTL: time.Hour}, api.Attempt{Session: id, Number: 1}
		left, right := g.inSession(0, put, in), g.inSession(2, put, in)
		require.False(t, left.Repeated || right.Repeated, "each part has its own")
		for i, first := range map[int]kv.Result{1: left.Result, 3: right.Result} {
			again := g.inSession(i, put, in)
			require.True(t, again.Repeated)
			require.Equal(t, first, again.Result, "with the lease that was made")
		}
		later, err := g.stores[2].OpenSession(within(t, 5*time.Second))
		require.NoError(t, err)
		_, err = g.stores[0].Submit(within(t, 5*time.Second), put, api.Attempt{Session: later, Number: 1})
		require.ErrorContains(t, err, "whether an earlier one did is not known")

		g.net.Heal()
		g.settle()
		again := g.inSession(1, put, in)
		require.True(t, again.Repeated)
		require.Contains(t, []kv.Result{left.Result, right.Result}, again.Result)
		require.False(t, g.inSession(0, put, api.Attempt{Session: later, Number: 1}).Repeated)
		var lost []*kv.Conflict
		_, err = g.stores[3].Read(within(t, time.Second), true, func(s *kv.State) { lost = s.Conflicts("") })
		require.NoError(t, err)
		require.Empty(t, lost)
	})
}

// What a session does not take is refused with a reason and a status.
func TestSessionsRefuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startGroup(t, kv.Linearizable, 2, 1)
		defer g.close()
		id, err := g.stores[0].OpenSession(within(t, 5*time.Second))
		require.NoError(t, err)
		put := kv.Command{Op: kv.Put, Key: "a", Value: []byte("1")}
		g.inSession(0, put, api.Attempt{Session: id, Number: 40})
		refused := func(number uint64, c kv.Command, code int, text string) {
			t.Helper()
			_, err := g.stores[1].Submit(within(t, 5*time.Second), c, api.Attempt{Session: id, Number: number})
			var e *api.SessionError
			require.ErrorAs(t, err, &e)
			require.Equal(t, code, e.Code)
			require.Contains(t, e.Text, text)
		}
		refused(40, kv.Command{Op: kv.Delete, Key: "a"}, http.StatusUnprocessableEntity, "another command has this number")
		refused(40-replicate.SessionWindow, put, http.StatusGone, "the session remembers its last 16 numbers, and this one is before them")
		require.NoError(t, g.stores[1].CloseSession(within(t, 5*time.Second), id))
		refused(41, put, http.StatusGone, "as the store keeps 4096 sessions: this attempt has changed nothing; whether an earlier one did is not known")
		_, err = resultOf([]byte("of another build"))
		require.ErrorContains(t, err, "its result is not kept")
		g.net.Partition([]failaware.NodeID{1})
		g.settle()
		_, err = g.stores[0].OpenSession(within(t, time.Second))
		require.ErrorIs(t, err, failaware.ErrNoQuorum)
		require.ErrorIs(t, g.stores[0].CloseSession(within(t, time.Second), id), failaware.ErrNoQuorum)
	})
}

// outcomesAreTold has outcomes that differ in one fact each. It returns what the store makes of
// them, and what it should.
func outcomesAreTold() (got, want []api.Submitted) {
	result := kv.Result{Status: kv.Mismatch, Revision: 7, Version: kv.Version{Revision: 5}}
	for _, a := range []replicate.Applied{{}, {Repeated: true}, {Lasting: true}, {Transitional: true}} {
		a.Result = result
		out, _ := submitted(&a)
		got = append(got, out)
	}
	return got, []api.Submitted{{Result: result}, {Result: result, Repeated: true}, {Result: result, Lasting: true}, {Result: result, Transitional: true}}
}

func TestAStoreTellsOutcomesAsTheyAre(t *testing.T) {
	got, want := outcomesAreTold()
	require.Equal(t, want, got)
}

// A session that is not open in time changes nothing, and the error says what the store lacks.
func TestASessionThatIsNotOpenInTimeChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startGroup(t, kv.Linearizable, 3, 1)
		defer g.close()
		g.put(0, "a", "1", 0)
		g.net.Partition([]failaware.NodeID{3})
		_, err := g.stores[2].OpenSession(within(t, 5*time.Second))
		refused, ok := errors.AsType[*api.SessionError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, http.StatusServiceUnavailable, refused.Code)
		require.Equal(t, "nothing was changed: the store did not open a session in time: the view of nodes {3} holds no quorum of majority:1,2,3; "+
			"'failaware kv status' says what it waits for", refused.Text)
	})
	require.EqualError(t, unopened(nil), "nothing was changed: the store did not open a session in time; 'failaware kv status' says what it waits for")
}
