package engine

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/replica"
)

// stepsTogether hands a batch with a view in it to a machine. What comes before the view is
// on its way to the application when the machine takes the view, and nothing stays in the
// memory that batches and effects share.
func stepsTogether(t testing.TB) {
	h := &hub{}
	m := h.join(1)
	e, err := New(replica.Config{}, m, &words{}, nil, nil, nil)
	require.NoError(t, err)
	i := newIncarnation(e, m.inc)
	h.view(m)
	for len(m.items) > 0 { // until the machine has a state
		batch := m.items
		m.items = nil
		i.distribute(i.step(batch, nil))
		for _, q := range i.sends {
			for x := q.first(); x != nil; x = q.first() {
				payload, err := x.Message()
				require.NoError(t, err)
				require.NoError(t, m.Broadcast(t.Context(), payload, x.Options))
			}
		}
	}
	before := e.calls.len()
	require.NoError(t, m.Broadcast(t.Context(), replica.AppendOp(nil, []byte("a")), total))
	require.NoError(t, m.Broadcast(t.Context(), replica.AppendOp(nil, []byte("b")), total))
	h.view(m)
	batch := m.items
	out := i.step(batch, nil)
	require.Equal(t, before+2, e.calls.len(), "a snapshot would have to wait for them")
	for _, it := range batch {
		require.Zero(t, it)
	}
	out = i.distribute(out)
	require.Empty(t, out)
	for _, x := range out[:cap(out)] {
		require.Zero(t, x)
	}
}

func TestABatchIsOneStep(t *testing.T) { stepsTogether(t) }

// numbered is a group with a number of items, of which one in three comes with a wait.
type numbered struct {
	Group
	last, most uint64
}

func (g *numbered) Next(ctx context.Context) (Item, error) {
	if g.last == g.most {
		<-ctx.Done()
		return Item{}, ctx.Err()
	}
	return g.next(), nil
}

func (g *numbered) More() (it Item, ok bool) {
	if g.last%3 == 0 || g.last == g.most {
		return it, false
	}
	return g.next(), true
}

func (g *numbered) next() Item {
	g.last++
	return Item{Delivery: broadcast.Delivery{ID: broadcast.ID{Sequence: g.last}}}
}

// overwritten has the next batch be read while the machine still has one. It returns what is
// wrong in that one.
func overwritten(t *testing.T) (wrong []uint64) {
	const most = 100
	ctx, cancel := context.WithCancel(t.Context())
	i := &incarnation{Engine: &Engine{group: &numbered{most: most}}}
	items := make(chan []Item)
	go func() { _ = i.read(ctx, items) }()
	for last := uint64(0); last < most; {
		batch := <-items
		require.LessOrEqual(t, len(batch), 3)
		synctest.Wait()
		for k := range batch {
			if last++; batch[k].Delivery.Sequence != last {
				wrong = append(wrong, last)
			}
		}
	}
	cancel()
	synctest.Wait()
	return wrong
}

func TestABatchStaysWhileItIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { require.Empty(t, overwritten(t)) })
}
