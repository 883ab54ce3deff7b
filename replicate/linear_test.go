package replicate_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/race"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// number is a state that is one number, the last that was written.
type number struct{ value uint64 }

func (n *number) Apply(op replicate.Operation) any {
	before := n.value
	n.value = binary.BigEndian.Uint64(op.Command)
	return before
}

func (n *number) Snapshot(w io.Writer) error { return binary.Write(w, binary.BigEndian, n.value) }

func (n *number) Restore(r io.Reader) error { return binary.Read(r, binary.BigEndian, &n.value) }

// step is one call of a client: a write, or a read if write is 0.
type step struct{ write, result uint64 }

// numberModel is a register whose writes return the previous value. An output of nil
// is not known.
var numberModel = porcupine.Model{
	Init: func() any { return uint64(0) },
	Step: func(state, input, output any) (bool, any) {
		in, out := input.(step), output.(*step)
		if in.write == 0 {
			return out.result == state, state
		}
		return out == nil || out.result == state, in.write
	},
}

// history holds the calls of clients in the order of a counter, which orders all calls
// that were not concurrent.
type history struct {
	mu     sync.Mutex
	clock  int64
	ops    []porcupine.Operation
	values uint64
	known  int
	atOnce int           // reads by lease that took no time, and so sent nothing
	pause  time.Duration // the longest between two calls of a client
}

func (h *history) tick() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	return h.clock
}

func (h *history) value() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.values++
	return h.values
}

func (h *history) add(client int, in step, out *step, call, end int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if out != nil {
		h.known++
	}
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: in, Output: out, Call: call, Return: end})
}

// place is where a client finds the present process of its node.
type place struct {
	sync.Mutex
	r      *replicate.Replica
	app    *number
	killed int // processes of the node
}

// restart starts a process of a node, after the end of the last one.
func (p *place) restart(t *testing.T, cfg failaware.Config, c replicate.Config) {
	p.Lock()
	defer p.Unlock()
	if p.r != nil {
		require.NoError(t, p.r.Close())
	}
	n, err := failaware.Start(t.Context(), cfg)
	require.NoError(t, err)
	p.app = &number{}
	c.OnEvent = func(e replicate.Event) {
		if b, ok := e.(replicate.Begun); ok && !b.Remember.Empty() {
			t.Errorf("too many nodes forgot: %v", e)
		}
	}
	p.r, err = replicate.Start(n, p.app, c)
	require.NoError(t, err)
}

func (p *place) get() (*replicate.Replica, *number, int) {
	p.Lock()
	defer p.Unlock()
	return p.r, p.app, p.killed
}

// kill counts a process as killed: what it answers from now on, nobody hears.
func (p *place) kill() {
	p.Lock()
	defer p.Unlock()
	p.killed++
}

// way is a way to read.
type way int

const (
	latest way = iota // ReadLatest
	leased            // ReadLeased
	either            // one of these two
	local             // Read
)

// choose returns the way of one read.
func (w way) choose(rnd *rand.Rand) way {
	if w == either {
		return way(rnd.IntN(int(either)))
	}
	return w
}

// read reads in a way.
func (w way) read(ctx context.Context, r *replicate.Replica, f func()) (err error) {
	switch w {
	case local:
		r.Read(f)
	case leased:
		_, err = r.ReadLeased(ctx, f)
	default:
		_, err = r.ReadLatest(ctx, f)
	}
	return err
}

// client writes and reads at a node until the context ends.
func (h *history) client(ctx context.Context, id int, at *place, by way, rnd *rand.Rand) {
	for ctx.Err() == nil {
		one, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		if rnd.IntN(2) == 0 {
			h.write(one, id, at)
		} else {
			_ = h.read(one, id, at, by.choose(rnd))
		}
		cancel()
		time.Sleep(time.Duration(rnd.Int64N(int64(h.pause))))
	}
}

func (h *history) write(ctx context.Context, id int, at *place) {
	r, _, process := at.get()
	in, call := step{write: h.value()}, h.tick()
	a, err := r.Submit(ctx, binary.BigEndian.AppendUint64(nil, in.write))
	_, _, now := at.get()
	switch {
	case err == nil && now == process:
		h.add(id, in, &step{result: a.Result.(uint64)}, call, h.tick())
	case err == nil || errors.Is(err, failaware.ErrOutcomeUnknown):
		h.add(id, in, nil, call, 1<<62)
	}
}

func (h *history) read(ctx context.Context, id int, at *place, by way) error {
	r, app, process := at.get()
	var out step
	call, began := h.tick(), time.Now()
	err := by.read(ctx, r, func() { out.result = app.value })
	took := time.Since(began)
	if _, _, now := at.get(); err == nil && now == process {
		h.add(id, step{}, &out, call, h.tick())
		if by == leased && took == 0 {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.atOnce++
		}
	}
	return err
}

// systems are quorum systems of five nodes.
var systems = []string{"majority:1,2,3,4,5", "weighted:1=2,2=2,3=2,4=1,5=1", "weighted:1=3,2=2,3=1,4=1", "grid:1,2/3,4",
	"explicit:1,2,3/1,4,5/2,3,4", "explicit:1,2/2,3/1,3,5"}

const members = 5

// numbers is a group of nodes in a bubble, with a client at each.
type numbers struct {
	t      *testing.T
	rnd    *rand.Rand
	net    *memory.Network
	places [members]place // of nodes 1, 2, …
	bounds failaware.Bounds
	history
}

func newNumbers(t *testing.T, seed uint64, pause time.Duration) *numbers {
	return &numbers{t: t, rnd: rand.New(rand.NewPCG(seed, 1)), net: memory.New(memory.Options{Seed: seed, Buffer: 1 << 12}),
		history: history{pause: pause}}
}

// play starts the nodes and their clients, and ends them after the events of f. It reports whether
// one number explains all answers.
func (g *numbers) play(seed uint64, by way, start func(id failaware.NodeID), f func()) bool {
	var clients sync.WaitGroup
	ctx, stop := context.WithCancel(g.t.Context())
	for i := range g.places {
		id, p := failaware.NodeID(i+1), &g.places[i]
		start(id)
		defer func() { _ = p.r.Close() }()
		g.bounds = p.r.Node().Bounds()
		own := rand.New(rand.NewPCG(seed, uint64(id)))
		clients.Go(func() { g.client(ctx, i, p, by, own) })
	}
	time.Sleep(g.bounds.Ready + g.bounds.View)
	g.net.Loss(0.01)
	f()
	stop()
	clients.Wait()
	return porcupine.CheckOperations(numberModel, g.ops)
}

// split splits the network in a random way, and waits for a random time.
func (g *numbers) split() {
	part := g.shuffled()
	g.net.Partition(part[:g.rnd.IntN(members)])
	time.Sleep(time.Duration(g.rnd.Int64N(int64(3 * g.bounds.View))))
}

func (g *numbers) shuffled() (ids []failaware.NodeID) {
	for _, i := range g.rnd.Perm(members) {
		ids = append(ids, failaware.NodeID(i+1))
	}
	return ids
}

// playNumbers has five clients of five nodes write and read, while the network is
// split in random ways and loses packets, and nodes restart without a state. It returns whether one number
// explains all answers, and how many answers there were.
func playNumbers(t *testing.T, seed uint64, system string, by way) (ok bool, known int) {
	q, err := quorum.Parse(system)
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		g := newNumbers(t, seed, 20*time.Millisecond)
		start := func(id failaware.NodeID) {
			g.places[id-1].restart(t, failaware.Config{ID: id, Transport: g.net.Transport(), Quorum: q,
				Broadcast: &failaware.BroadcastConfig{RequireQuorum: true}}, replicate.Config{})
		}
		ok = g.play(seed, by, start, func() {
			restarted := -1
			for range 8 {
				g.split()
				if restarted < 0 || g.places[restarted].r.Progress().Situation == replicate.Working {
					restarted = g.rnd.IntN(members)
					start(failaware.NodeID(restarted + 1))
				}
			}
			g.net.Heal()
			time.Sleep(2 * g.bounds.View)
		})
		known = g.known
	})
	return ok, known
}

// With a quorum, Submit, ReadLatest and ReadLeased are linearizable over the whole group,
// whatever the quorum system is.
func TestQuorumsOfReplicasAreLinearizable(t *testing.T) {
	all := systems
	if race.Enabled {
		all = all[:3]
	}
	for _, system := range all {
		t.Run(system, func(t *testing.T) {
			known, worlds := 0, 0
			for seed, by := range []way{leased, either} {
				if race.Enabled && by == leased {
					continue // either reads by leases, too
				}
				worlds++
				ok, n := playNumbers(t, uint64(seed), system, by)
				require.True(t, ok, "seed %d", seed)
				known += n
			}
			require.Greater(t, known, 50*worlds, "too few answers to tell anything")
		})
	}
}

// The check sees the difference: reads that ask nobody are not linearizable.
func TestLocalReadsAreNotLinearizable(t *testing.T) {
	for seed := range uint64(20) {
		if ok, _ := playNumbers(t, seed, systems[0], local); !ok {
			return
		}
	}
	require.Fail(t, fmt.Sprintf("not noticed in %d worlds", 20))
}
