package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/sim/memory"
	"github.com/failaware/failaware/timed"
)

// group is a group of stores in memory, in virtual time.
type group struct {
	t      testing.TB
	net    *memory.Network
	via    failaware.Transport // of net
	cfg    Config
	quorum quorum.System
	stores []*Store
	bounds failaware.Bounds
}

func startGroup(t testing.TB, kind kv.Kind, count int, seed uint64) *group {
	return startWith(t, Config{Kind: kind}, count, seed)
}

func startWith(t testing.TB, c Config, count int, seed uint64) *group {
	return newGroup(t, c, count, seed).startAll()
}

// newGroup returns a group of which no node has started.
func newGroup(t testing.TB, c Config, count int, seed uint64) *group {
	g := &group{t: t, cfg: c, net: memory.New(memory.Options{Seed: seed, Buffer: 1 << 12}), stores: make([]*Store, count)}
	g.via = g.net.Transport()
	var all failaware.Set
	for i := range count {
		all.Add(failaware.NodeID(i + 1))
	}
	if c.Kind == kv.Linearizable {
		q, err := quorum.Majority(all)
		require.NoError(t, err)
		g.quorum = q
	}
	return g
}

func (g *group) startAll() *group {
	for i := range g.stores {
		g.start(i)
	}
	g.settle()
	return g
}

// start starts a node with its store.
func (g *group) start(i int) {
	cfg := failaware.Config{ID: failaware.NodeID(i + 1), Transport: g.via, Quorum: g.quorum,
		Broadcast: &failaware.BroadcastConfig{RequireQuorum: g.cfg.Kind == kv.Linearizable}}
	g.stores[i] = startStore(g.t, cfg, g.cfg)
	g.bounds = g.stores[i].node.Bounds()
}

// startStore starts a node with its store.
func startStore(t testing.TB, cfg failaware.Config, c Config) *Store {
	p, err := Prepare(cfg, c)
	require.NoError(t, err)
	n, err := failaware.Start(context.Background(), cfg)
	require.NoError(t, err)
	s, err := p.Start(n)
	require.NoError(t, err)
	return s
}

// A store refuses a node that goes on without a quorum where there is one state, and a node
// that needs one where each part has its own.
func TestAStoreRefusesANodeOfAnotherKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, kind := range []kv.Kind{kv.Linearizable, kv.Partitionable} {
			require.True(t, refusesItsOpposite(t, kind), kind)
		}
	})
}

// A store without a broadcast says so.
func TestAStoreNeedsABroadcast(t *testing.T) {
	p, err := Prepare(failaware.Config{Broadcast: &failaware.BroadcastConfig{}}, Config{})
	require.NoError(t, err)
	n, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Transport: memory.New(memory.Options{}).Transport()})
	require.NoError(t, err)
	defer n.Close()
	_, err = p.Start(n)
	require.ErrorIs(t, err, failaware.ErrBroadcastOff)
}

// refusesItsOpposite reports whether a store refuses a node that its kind contradicts. Its
// directory is free afterwards.
func refusesItsOpposite(t testing.TB, kind kv.Kind) bool {
	q, err := quorum.Majority(timed.SetOf(1))
	require.NoError(t, err)
	cfg := failaware.Config{ID: 1, Transport: memory.New(memory.Options{}).Transport(), Quorum: q, StateDir: t.TempDir(),
		Broadcast: &failaware.BroadcastConfig{RequireQuorum: kind == kv.Partitionable}}
	c := Config{Kind: kind, Dir: t.TempDir()}
	p, err := Prepare(cfg, c)
	require.NoError(t, err)
	n, err := failaware.Start(context.Background(), cfg)
	require.NoError(t, err)
	defer n.Close()
	s, err := p.Start(n)
	if err == nil {
		require.NoError(t, s.Close())
		return false
	}
	p, err = Prepare(cfg, c)
	require.NoError(t, err)
	require.NoError(t, p.Close())
	return true
}

func (g *group) close() {
	for _, s := range g.stores {
		require.NoError(g.t, s.Close())
	}
}

// settle lets the time of a view and of a clock pass.
func (g *group) settle() { time.Sleep(g.bounds.Ready + 4*g.bounds.View) }

// within returns a context for one request.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeoutCause(context.Background(), d, errors.New("too late"))
	t.Cleanup(cancel)
	return ctx
}

func (g *group) put(i int, key, value string, ttl time.Duration) {
	r, err := g.stores[i].Submit(within(g.t, 5*time.Second), kv.Command{Op: kv.Put, Key: key, Value: []byte(value), TTL: ttl}, api.Attempt{})
	require.NoError(g.t, err)
	require.Equal(g.t, kv.Done, r.Status)
}

// get returns the latest value of a key, or "-".
func (g *group) get(i int, key string) string {
	value := "-"
	fresh, err := g.stores[i].Read(within(g.t, 5*time.Second), true, func(s *kv.State) {
		if e := s.Get(key); e != nil {
			value = string(e.Value)
		}
	})
	require.NoError(g.t, err)
	require.True(g.t, fresh.Latest && fresh.UpToDate && len(fresh.Members) > 0, "%+v", fresh)
	return value
}

// A read of the latest state asks the others, unless the store was told that its lease is enough.
func TestReadsRestOnTheLeaseOnlyIfAskedTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, leased := range []bool{false, true} {
			g := startWith(t, Config{Kind: kv.Linearizable, LeasedReads: leased}, 3, 1)
			g.put(0, "a", "1", 0)
			g.settle()
			began := time.Now()
			require.Equal(t, "1", g.get(0, "a"))
			require.Equal(t, leased, time.Since(began) == 0, "packets take their time")
			g.close()
		}
	})
}

// A command that was taken just before the quorum was lost has no outcome, and its error says
// what is missing.
func TestACommandNamesTheQuorumThatWasLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startGroup(t, kv.Linearizable, 3, 1)
		defer g.close()
		g.put(0, "a", "1", 0)
		g.net.Partition([]failaware.NodeID{3})
		_, err := g.stores[2].Submit(within(t, 5*time.Second), kv.Command{Op: kv.Put, Key: "a"}, api.Attempt{})
		require.ErrorIs(t, err, failaware.ErrOutcomeUnknown)
		require.ErrorContains(t, err, "the outcome is unknown, the command may be carried out or not: ")
		require.ErrorContains(t, err, "; the view of nodes {3} holds no quorum of majority:1,2,3")
	})
}

func TestAMinorityDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startGroup(t, kv.Linearizable, 3, 1)
		defer g.close()
		g.put(0, "a", "1", 0)
		require.Equal(t, "1", g.get(2, "a"))
		g.net.Partition([]failaware.NodeID{3})
		g.settle()
		g.put(1, "a", "2", 0)
		_, err := g.stores[2].Read(within(t, time.Second), true, func(*kv.State) { t.Error("it was read") })
		require.ErrorIs(t, err, failaware.ErrNoQuorum)
		require.EqualError(t, err, "the view of nodes {3} holds no quorum of majority:1,2,3 (too late)")
		_, err = g.stores[2].Submit(within(t, time.Second), kv.Command{Op: kv.Put, Key: "a"}, api.Attempt{})
		require.ErrorIs(t, err, failaware.ErrNoQuorum)
		var old string
		fresh, err := g.stores[2].Read(t.Context(), false, func(s *kv.State) { old = string(s.Get("a").Value) })
		require.NoError(t, err)
		require.Equal(t, "1", old)
		require.False(t, fresh.UpToDate, "it says that this may be old")
		require.False(t, fresh.Latest)
		c := g.stores[2].Counts()
		require.Equal(t, uint64(1), c.Failed)
		require.Equal(t, []any{uint64(1), 1, false}, []any{c.Applied, c.Keys, c.Accepting}, "of the others")
		require.NotZero(t, c.Events["settled"], "%v", c.Events)
		require.Equal(t, uint64(1), g.stores[0].Counts().Submitted)
		g.net.Heal()
		g.settle()
		require.Equal(t, "2", g.get(2, "a"))
	})
}

// Each part of a partitionable store goes on. When they meet, later writes stay if the
// clocks prove it, and what they do not prove is a conflict.
func TestPartsGoOnAndMeet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startGroup(t, kv.Partitionable, 4, 1)
		defer g.close()
		g.put(0, "both", "old", 0)
		g.put(0, "left", "old", 0)
		g.net.Partition([]failaware.NodeID{1, 2}, []failaware.NodeID{3, 4})
		g.settle()
		g.put(0, "both", "l", 0)
		g.put(1, "left", "l", 0)
		g.put(2, "both", "r", 0)
		require.Equal(t, "l", g.get(1, "both"))
		require.Equal(t, "r", g.get(3, "both"))
		g.net.Heal()
		g.settle()
		kept := g.get(0, "both")
		for i := range g.stores {
			require.Equal(t, kept, g.get(i, "both"))
			require.Equal(t, "l", g.get(i, "left"))
			var lost []*kv.Conflict
			_, err := g.stores[i].Read(within(t, time.Second), true, func(s *kv.State) { lost = s.Conflicts("") })
			require.NoError(t, err)
			require.Len(t, lost, 1, "nothing compares the clocks of two timelines")
			require.ElementsMatch(t, []string{"l", "r"}, []string{kept, string(lost[0].Lost.Value)})
		}
	})
}

// A node whose clock is not synchronized begins and renews no lease.
func TestLeasesNeedAClock(t *testing.T) { synctest.Test(t, leasesNeedAClock) }

func leasesNeedAClock(t *testing.T) {
	net := memory.New(memory.Options{Seed: 1})
	s := startStore(t, failaware.Config{ID: 1, Transport: net.Transport(), Broadcast: &failaware.BroadcastConfig{}}, Config{Kind: kv.Partitionable})
	for _, c := range []kv.Command{{Op: kv.Grant, TTL: time.Minute}, {Op: kv.Put, Key: "a", TTL: time.Minute},
		{Op: kv.Renew, Lease: kv.Dot{Writer: 1, Number: 1}}} {
		_, err := s.Submit(within(t, time.Minute), c, api.Attempt{})
		require.ErrorIs(t, err, errNoClock, "%v", c.Op)
	}
	require.NoError(t, s.Close())
}

// Keys end with their leases, also when the first member of the view does not end them.
func TestKeysEndWithTheirLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startGroup(t, kv.Linearizable, 3, 1)
		defer g.close()
		begin := time.Now()
		g.put(0, "a", "1", 2*time.Second)
		g.put(0, "b", "1", time.Minute)
		for g.get(1, "a") != "-" {
			time.Sleep(50 * time.Millisecond)
		}
		require.GreaterOrEqual(t, time.Since(begin), 2*time.Second)
		require.Less(t, time.Since(begin), 3*time.Second)
		require.Equal(t, "1", g.get(1, "b"))
	})
	require.True(t, endsWithoutTheFirst(t))
}

// A lease ends in time whatever the ids of the nodes are.
func TestLeasesEndAtNodesOfLargeIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startStore(t, failaware.Config{ID: 200, Transport: memory.New(memory.Options{Seed: 1}).Transport(),
			Broadcast: &failaware.BroadcastConfig{}}, Config{Kind: kv.Partitionable})
		g := &group{t: t, stores: []*Store{s}, bounds: s.node.Bounds()}
		defer g.close()
		g.settle()
		g.put(0, "a", "1", time.Second)
		time.Sleep(2 * time.Second)
		require.Equal(t, "-", g.get(0, "a"))
	})
}

// endsWithoutTheFirst reports whether a lease ends in a view whose first member is slow to
// end it: that node's store has stopped looking.
func endsWithoutTheFirst(t *testing.T) (ended bool) {
	synctest.Test(t, func(t *testing.T) {
		g := startGroup(t, kv.Linearizable, 3, 1)
		defer g.close()
		g.stores[0].cancel() // it looks for leases no more
		g.put(2, "c", "1", time.Second)
		time.Sleep(5 * time.Second)
		ended = g.get(1, "c") == "-"
	})
	return ended
}

// tellsItsClock reports whether commands tell what the clock of their writer shows, and by how much
// that may be wrong: leases end, and parts of a group merge, by that.
func tellsItsClock(t *testing.T) (tells bool) {
	synctest.Test(t, func(t *testing.T) {
		g := startGroup(t, kv.Linearizable, 3, 1)
		defer g.close()
		tells = true
		for i, s := range g.stores {
			before := s.node.Clock()
			g.put(i, "a", "1", 0)
			after := s.node.Clock()
			_, err := s.Read(within(t, 5*time.Second), true, func(st *kv.State) {
				at := st.Get("a").At
				tells = tells && before.Time <= at.Time && at.Time <= after.Time && at.Timeline == before.Timeline &&
					(at.Deviation > 0) == (before.Deviation > 0)
			})
			require.NoError(t, err)
		}
	})
	return tells
}

func TestCommandsTellTheClockOfTheirWriter(t *testing.T) { require.True(t, tellsItsClock(t)) }

// step is one call of a client: a put, a cas on what it has read, or a read.
type step struct {
	write string // empty for a read
	match bool
	from  kv.Version
	saw   string // the value of that version
}

// outcome is what the client got. A nil one is not known.
type outcome struct {
	value   string
	version kv.Version
	done    bool
}

// register is a key with versions, which are those that the store gives.
var register = porcupine.Model{
	Init: func() any { return outcome{} },
	Step: func(state, input, output any) (bool, any) {
		s, in, out := state.(outcome), input.(step), output.(*outcome)
		switch {
		case in.write == "":
			return out.value == s.value && out.version == s.version, s
		case out == nil:
			return true, s
		case !out.done:
			return in.match && in.from != s.version, s
		}
		return !in.match || in.from == s.version, outcome{value: in.write, version: out.version}
	},
}

// submitter has a command applied for a client.
type submitter func(context.Context, kv.Command) (api.Submitted, error)

// call performs one call of a client, and reports false if it has no place in a history.
func call(s *Store, submit submitter, r *rand.Rand, value string) (in step, out *outcome, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	read := func(latest bool) (o outcome, err error) {
		fresh, err := s.Read(ctx, latest, func(s *kv.State) {
			if e := s.Get("key"); e != nil {
				o = outcome{value: string(e.Value), version: e.Version}
			}
		})
		if err == nil && fresh.Latest != latest {
			o.value = "an answer that says another age than was asked for" // no history explains it
		}
		return o, err
	}
	if r.IntN(2) == 0 {
		o, err := read(true)
		return step{}, &o, err == nil
	}
	in = step{write: value, match: r.IntN(2) == 0}
	c := kv.Command{Op: kv.Put, Key: "key", Value: []byte(value), Match: in.match}
	if in.match {
		o, _ := read(false) // perhaps an old one
		in.from, in.saw, c.Version = o.version, o.value, o.version
	}
	a, err := submit(ctx, c)
	switch {
	case err == nil:
		return in, &outcome{version: a.Version, done: a.Status == kv.Done}, true
	case errors.Is(err, failaware.ErrOutcomeUnknown):
		return in, nil, true
	}
	return in, nil, false
}

// start has a client of some store call it until stop is closed.
func (h *history) start(client int, stop <-chan struct{}, r *rand.Rand, of func() *Store, submit submitter) {
	h.clients.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			begin := h.tick()
			if in, out, ok := call(of(), submit, r, fmt.Sprint(client, ".", n)); ok {
				h.add(client, in, out, begin)
			}
			time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
		}
	})
}

// split splits the network of three nodes at random, again and again, and heals it.
func (g *group) split(r *rand.Rand) {
	ids := []failaware.NodeID{1, 2, 3}
	for range 6 {
		r.Shuffle(3, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		g.net.Partition(slices.Clone(ids[:r.IntN(3)]))
		time.Sleep(time.Duration(r.Int64N(int64(3 * g.bounds.View))))
	}
	g.net.Heal()
	g.settle()
}

// play has clients write and read one key while the network splits at random. Half of the
// seeds read by lease.
func play(t *testing.T, seed uint64) (ok bool, known int) {
	synctest.Test(t, func(t *testing.T) {
		g := startWith(t, Config{Kind: kv.Linearizable, LeasedReads: seed%2 == 1}, 3, seed)
		defer g.close()
		h := &history{}
		rnd := rand.New(rand.NewPCG(seed, 1))
		stop := make(chan struct{})
		for i, s := range g.stores {
			own := rand.New(rand.NewPCG(seed, uint64(i+2)))
			h.start(i, stop, own, func() *Store { return s }, func(ctx context.Context, c kv.Command) (api.Submitted, error) { return s.Submit(ctx, c, api.Attempt{}) })
		}
		g.split(rnd)
		close(stop)
		h.clients.Wait()
		ok, known = h.check()
	})
	return ok, known
}

// One register explains all answers of a linearizable store.
func TestTheStoreIsLinearizable(t *testing.T) {
	known := 0
	for seed := range uint64(4) {
		ok, n := play(t, seed)
		require.True(t, ok, "seed %d", seed)
		known += n
	}
	require.Greater(t, known, 200)
}

// namesDiffer reports whether commands of callers at the same time have different names.
func namesDiffer() bool {
	s := &Store{writer: newWriter()}
	var names [4]map[kv.Dot]bool
	var calls sync.WaitGroup
	for i := range names {
		names[i] = map[kv.Dot]bool{}
		calls.Go(func() {
			for range 10_000 {
				names[i][s.name()] = true
			}
		})
	}
	calls.Wait()
	all := map[kv.Dot]bool{}
	for _, m := range names {
		maps.Copy(all, m)
	}
	return len(all) == len(names)*10_000
}

func TestCommandsHaveDifferentNames(t *testing.T) { require.True(t, namesDiffer()) }
