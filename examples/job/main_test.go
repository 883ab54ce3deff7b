package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/sim/memory"
)

// store is a fenced store in memory.
type store struct {
	mu      sync.Mutex
	fence   edict.Verifier
	writers map[string]int // accepted writes
	refused int
}

func (s *store) put(_ context.Context, key string, value []byte, e edict.Edict) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.fence.Accept(key, &e, edict.Sum(payload(key, value))); err != nil {
		s.refused++
		return err
	}
	s.writers[strings.Fields(string(value))[1]]++
	return nil
}

// seen returns how many nodes have written, and how often in all.
func (s *store) seen() (writers, writes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.writers {
		writes += n
	}
	return len(s.writers), writes
}

func TestTheJobRunsOnceAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer stop()
		majority, err := quorum.Parse("majority:1,2,3")
		require.NoError(t, err)
		net, s := memory.New(memory.Options{Seed: 1}), &store{writers: map[string]int{}}
		var nodes []*failaware.Node
		for id := failaware.NodeID(1); id <= 3; id++ {
			n, err := failaware.Start(ctx, failaware.Config{ID: id, Transport: net.Transport(), Quorum: majority})
			require.NoError(t, err)
			nodes = append(nodes, n)
			running.Go(func() { _ = work(ctx, n, 50*time.Millisecond, s.put) })
		}
		b := nodes[0].Bounds()
		time.Sleep(b.Rejoin + b.Elect + time.Second)
		writers, writes := s.seen()
		require.Equal(t, 1, writers)
		require.GreaterOrEqual(t, writes, 15)

		var old *failaware.Node // it gets an edict, and is stopped before it writes
		for _, n := range nodes {
			if n.LeadsGlobally() {
				old = n
			}
		}
		value := []byte("node " + old.ID().String() + " late")
		e, err := old.Edict(payload("result", value))
		require.NoError(t, err)
		net.Pause(old.ID())
		time.Sleep(b.Elect + time.Second)
		writers, _ = s.seen()
		require.Equal(t, 2, writers, "another node does the job")
		require.Error(t, s.put(ctx, "result", value, e), "the store has obeyed a later leader")
		s.mu.Lock()
		defer s.mu.Unlock()
		require.Equal(t, 1, s.refused)
	})
}

// A store that is silent for once does not end the job.
func TestASilentStoreIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		alone, err := quorum.Parse("majority:1")
		require.NoError(t, err)
		n, err := failaware.Start(ctx, failaware.Config{ID: 1, Transport: memory.New(memory.Options{}).Transport(), Quorum: alone})
		require.NoError(t, err)
		defer n.Close()
		asked := 0
		err = work(ctx, n, time.Second, func(ctx context.Context, _ string, _ []byte, _ edict.Edict) error {
			if asked++; asked == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			stop()
			return nil
		})
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, 2, asked)
	})
}

func TestWhatTheStoreSays(t *testing.T) {
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Method + " " + r.URL.Path
		http.Error(w, "stale", http.StatusConflict)
	}))
	defer server.Close()
	err := putHTTP(t.Context(), server.URL, "result", nil, edict.Edict{})
	require.Equal(t, "PUT /result", got)
	require.ErrorContains(t, err, "409 Conflict")
	require.ErrorContains(t, err, "stale")
}
