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
	r   *replicate.Replica
	app *number
}

// restart starts a process of a node, after the end of the last one.
func (p *place) restart(t *testing.T, cfg failaware.Config) {
	p.Lock()
	defer p.Unlock()
	if p.r != nil {
		require.NoError(t, p.r.Close())
	}
	n, err := failaware.Start(t.Context(), cfg)
	require.NoError(t, err)
	p.app = &number{}
	p.r, err = replicate.Start(n, p.app, replicate.Config{OnEvent: func(e replicate.Event) {
		if b, ok := e.(replicate.Begun); ok && !b.Remember.Empty() {
			t.Errorf("too many nodes forgot: %v", e)
		}
	}})
	require.NoError(t, err)
}

func (p *place) get() (*replicate.Replica, *number) {
	p.Lock()
	defer p.Unlock()
	return p.r, p.app
}

// way is a way to read.
type way int

const (
	latest way = iota // ReadLatest
	leased            // ReadLeased
	either            // one of these two
	local             // Read
)

// read reads in a way.
func (w way) read(ctx context.Context, r *replicate.Replica, rnd *rand.Rand, f func()) (err error) {
	switch {
	case w == local:
		r.Read(f)
	case w == leased || w == either && rnd.IntN(2) == 0:
		_, err = r.ReadLeased(ctx, f)
	default:
		_, err = r.ReadLatest(ctx, f)
	}
	return err
}

// client writes and reads at a node until the context ends.
func (h *history) client(ctx context.Context, id int, at *place, by way, rnd *rand.Rand) {
	for ctx.Err() == nil {
		r, app := at.get()
		one, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		call := h.tick()
		if rnd.IntN(2) == 0 {
			in := step{write: h.value()}
			a, err := r.Submit(one, binary.BigEndian.AppendUint64(nil, in.write))
			switch {
			case err == nil:
				h.add(id, in, &step{result: a.Result.(uint64)}, call, h.tick())
			case errors.Is(err, failaware.ErrOutcomeUnknown):
				h.add(id, in, nil, call, 1<<62)
			}
		} else {
			var out step
			if by.read(one, r, rnd, func() { out.result = app.value }) == nil {
				h.add(id, step{}, &out, call, h.tick())
			}
		}
		cancel()
		time.Sleep(time.Duration(rnd.IntN(20)) * time.Millisecond)
	}
}

// systems are quorum systems of five nodes.
var systems = []string{"majority:1,2,3,4,5", "weighted:1=2,2=2,3=2,4=1,5=1", "weighted:1=3,2=2,3=1,4=1", "grid:1,2/3,4",
	"explicit:1,2,3/1,4,5/2,3,4", "explicit:1,2/2,3/1,3,5"}

// playNumbers has five clients of five nodes write and read, while the network is
// split in random ways and loses packets, and nodes restart without a state. It returns whether one number
// explains all answers, and how many answers there were.
func playNumbers(t *testing.T, seed uint64, system string, by way) (ok bool, known int) {
	q, err := quorum.Parse(system)
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		const count = 5
		rnd := rand.New(rand.NewPCG(seed, 1))
		net := memory.New(memory.Options{Seed: seed, Buffer: 1 << 12})
		var group []failaware.NodeID
		for id := failaware.NodeID(1); id <= count; id++ {
			group = append(group, id)
		}
		var h history
		var clients sync.WaitGroup
		ctx, stop := context.WithCancel(t.Context())
		var bounds failaware.Bounds
		config := func(id failaware.NodeID) failaware.Config {
			return failaware.Config{ID: id, Transport: net.Transport(), Quorum: q,
				Broadcast: &failaware.BroadcastConfig{RequireQuorum: true}}
		}
		var places [count]place
		for i, id := range group {
			p := &places[i]
			p.restart(t, config(id))
			defer func() { _ = p.r.Close() }()
			bounds = p.r.Node().Bounds()
			own := rand.New(rand.NewPCG(seed, uint64(id)))
			clients.Go(func() { h.client(ctx, i, p, by, own) })
		}
		restarted := -1
		time.Sleep(bounds.Ready + bounds.View)
		net.Loss(0.01)
		for range 8 {
			rnd.Shuffle(count, func(i, j int) { group[i], group[j] = group[j], group[i] })
			net.Partition(group[:rnd.IntN(count)])
			time.Sleep(time.Duration(rnd.Int64N(int64(3 * bounds.View))))
			if restarted < 0 || places[restarted].r.Progress().Situation == replicate.Working {
				restarted = rnd.IntN(count)
				places[restarted].restart(t, config(failaware.NodeID(restarted+1)))
			}
		}
		net.Heal()
		time.Sleep(2 * bounds.View)
		stop()
		clients.Wait()
		ok, known = porcupine.CheckOperations(numberModel, h.ops), h.known
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
