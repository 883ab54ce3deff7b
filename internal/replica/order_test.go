package replica

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

// upset has some nodes be late and refuse snapshots in the next view, and one of them begin
// again before it, with a memory or without.
func upset(w *world, r *rand.Rand) {
	n := len(w.nodes)
	for range r.IntN(4) {
		w.tardy = append(w.tardy, lane{r.IntN(n), broadcast.Class(r.IntN(2))})
	}
	for i := range r.IntN(2) * n {
		w.nodes[i].refuses = r.IntN(3) > 0
	}
	switch i, life := r.IntN(n), timed.BootID(w.views); r.IntN(6) {
	case 0:
		w.restart(i, life)
	case 1:
		w.renew(i, life)
	}
}

// overtaking plays random views in which messages that have no order overtake ordered ones at
// some nodes, and ordered ones overtake them at others, while applications refuse snapshots or
// make them later. In the last view all get one state.
func overtaking(t testing.TB, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	n := 3 + r.IntN(3)
	cfg := Config{ChunkBytes: 64, Window: 64 * (1 + r.IntN(4))}
	if r.IntN(2) == 0 {
		cfg.Quorum = majority([]timed.NodeID{1, 2, 3, 4, 5}[:n]...)
	}
	w := newWorld(n, cfg)
	step := func(members []int) {
		l := lane{r.IntN(n), broadcast.Class(r.IntN(2))}
		switch node := w.nodes[l.to]; r.IntN(8) {
		case 0:
			w.op(members[r.IntN(len(members))], fmt.Sprintf("%c", 'a'+rune(r.IntN(26))))
		case 1:
			w.hinder(l)
		case 2, 3:
			w.catchUp(l)
		case 4:
			node.refuses = r.IntN(3) == 0
		case 5:
			node.lazy = true
		case 6:
			node.lazy = false
			w.answer(l.to)
		case 7:
			w.run(time.Millisecond)
		}
	}
	for views := range 6 {
		members := r.Perm(n)
		if 0 < views && views < 5 {
			members = members[:1+r.IntN(n)]
		}
		slices.Sort(members)
		if views > 0 {
			upset(w, r)
		}
		w.install(members...)
		for range r.IntN(40) {
			step(members)
		}
	}
	for i, node := range w.nodes {
		node.refuses, node.lazy = false, false
		w.answer(i)
	}
	w.catchAllUp()
	w.run(10 * time.Second) // refused snapshots are asked for again
	for i, node := range w.nodes {
		require.True(t, node.r.Current(), "seed %d, node %d: %v", seed, i+1, node.r.Situation())
		require.Equal(t, w.nodes[0].app, node.app, "seed %d, node %d", seed, i+1)
	}
}

func messagesOvertake(t testing.TB) {
	for seed := range uint64(2500) {
		overtaking(t, seed)
	}
}

func TestMessagesOvertakeEachOther(t *testing.T) { messagesOvertake(t) }
