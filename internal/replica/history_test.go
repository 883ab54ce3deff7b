package replica

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

// history is a world to which anything happens that a group can meet.
type history struct {
	*world
	cfg     Config
	lives   timed.BootID
	letters rune // of operations so far
}

// letter returns one that no operation has.
func (h *history) letter() string {
	h.letters++
	if h.letters <= 26 {
		return string('a' + h.letters - 1)
	}
	return string(0x100 + h.letters)
}

// somebody returns a node that is in a view.
func (h *history) somebody(t *rapid.T) (int, bool) {
	i := rapid.IntRange(0, len(h.nodes)-1).Draw(t, "node")
	return i, h.nodes[i].view != nil
}

// view moves some nodes to another view, in which a report may be missing for ever, or what
// has no order may not come before its end.
func (h *history) view(t *rapid.T) {
	h.enterSome(t, func(members ...int) { h.install(members...) }, 3)
}

// enterSome has some nodes enter a view. One in seldom of them holds back what has no order.
func (h *history) enterSome(t *rapid.T, enter func(members ...int), seldom int) {
	members := h.some(t, 1)
	h.hold = nil
	if rapid.IntRange(0, 3).Draw(t, "unsettled") == 0 {
		silent := members[0]
		h.hold = func(from int, p []byte) bool { return from == silent && kind(p[0]) == kindReport }
	}
	h.delay(t)
	enter(members...)
	h.hold = nil
	if rapid.IntRange(0, seldom).Draw(t, "late") == 0 {
		h.hold = func(_ int, p []byte) bool { return !(&message{kind: kind(p[0])}).ordered() }
	}
}

// some draws so many nodes at least.
func (h *history) some(t *rapid.T, least int) []int {
	is := rapid.SliceOfNDistinct(rapid.IntRange(0, len(h.nodes)-1), least, len(h.nodes), rapid.ID[int]).Draw(t, "members")
	slices.Sort(is)
	return is
}

// delay has some messages be late in the next view.
func (h *history) delay(t *rapid.T) {
	for range rapid.IntRange(0, 3).Draw(t, "tardy") {
		h.tardy = append(h.tardy, h.lane(t))
	}
}

// lane returns one.
func (h *history) lane(t *rapid.T) lane {
	return lane{rapid.IntRange(0, len(h.nodes)-1).Draw(t, "to"), broadcast.Class(rapid.IntRange(0, 1).Draw(t, "class"))}
}

// operation broadcasts one.
func (h *history) operation(t *rapid.T) {
	if i, ok := h.somebody(t); ok && h.nodes[i].r.Accepting() {
		o := marker
		if rapid.Bool().Draw(t, "strict") {
			o.Atomicity = broadcast.StrictAtomicity
		}
		h.opWith(i, h.letter(), o)
	}
}

// meet gives some nodes a view, and time in it. Each of them has had one of its own before, so
// that without a Quorum states are merged that are mergers themselves.
func (h *history) meet(t *rapid.T) {
	i, j := rapid.IntRange(0, len(h.nodes)-2).Draw(t, "node"), len(h.nodes)-1
	if rapid.Bool().Draw(t, "apart") {
		h.install(i)
		h.operation(t)
	}
	h.install(i, rapid.IntRange(i+1, j).Draw(t, "other"))
	h.run(5 * time.Millisecond)
}

// flush delivers a Timed operation at the end of a view to one member only, which others
// do not have at this place, and moves that member to a view that may not settle. What it
// says meanwhile comes too late for the others.
func (h *history) flush(t *rapid.T) {
	if i, ok := h.somebody(t); ok {
		h.catchAllUp()
		before := h.hold
		h.hold = func(from int, _ []byte) bool { return from == i }
		h.flushed(i, h.letter())
		h.hold = before
		if rapid.Bool().Draw(t, "unsettled") {
			h.hold = func(from int, p []byte) bool { return kind(p[0]) == kindReport }
		}
		h.install(i)
		h.hold = nil
	}
}

// flushed delivers a Timed operation that is flushed to one member.
func (w *world) flushed(i int, text string) {
	n := w.nodes[i]
	n.sequence++
	n.position++
	w.truth.flushed += text
	d := broadcast.Delivery{ID: broadcast.ID{Sender: n.inc.Node, Boot: n.inc.Boot, Class: broadcast.ClassOrdered, Sequence: n.sequence},
		Options: broadcast.Options{Order: broadcast.TimedOrder}, Transitional: true, Flushed: true, Position: n.position, Payload: AppendOp(nil, []byte(text))}
	n.ordered = broadcast.AddMark(n.ordered, markOf(&d))
	w.perform(i, n.r.HandleDelivery(w.now, d, nil))
}

// crash gives a node a new process, which finds the state of the one before on its disk.
func (w *world) crash(i int, life timed.BootID) {
	w.miss(i)
	n := w.nodes[i]
	w.nodes[i] = w.node(i, life, n.place.Named())
	w.nodes[i].app, w.nodes[i].place = n.app, n.place
	w.nodes[i].ordered = slices.Clone(n.place.Ordered)
}

func (h *history) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"view": h.view, "operation": h.operation, "more": h.operation, "flush": h.flush, "meet": h.meet, "meets": h.meet,
		"lazy":   func(t *rapid.T) { i, _ := h.somebody(t); h.nodes[i].lazy = !h.nodes[i].lazy },
		"refuse": func(t *rapid.T) { i, _ := h.somebody(t); h.nodes[i].refuses = !h.nodes[i].refuses },
		"answer": func(t *rapid.T) { i, _ := h.somebody(t); h.answer(i) },
		"time": func(t *rapid.T) {
			h.run(time.Duration(rapid.SampledFrom([]int{1, 5, 2000}).Draw(t, "ms")) * time.Millisecond)
		},
		"late":    func(t *rapid.T) { h.hinder(h.lane(t)) },
		"catchUp": func(t *rapid.T) { h.catchUp(h.lane(t)) },
		"renew": func(t *rapid.T) {
			if i, ok := h.somebody(t); ok {
				h.lives++
				h.renew(i, h.lives)
			}
		},
		"crash": func(t *rapid.T) {
			if i, ok := h.somebody(t); ok && h.nodes[i].named {
				h.lives++
				h.crash(i, h.lives)
			}
		},
		"store": func(t *rapid.T) {
			if i, ok := h.somebody(t); ok && h.cfg.Stored && h.nodes[i].named && h.nodes[i].r.Current() && h.nodes[i].place.View == h.nodes[i].view.ID {
				h.store(i)
			}
		},
		"read": func(t *rapid.T) { i, _ := h.somebody(t); h.read(i) },
		"bar":  func(t *rapid.T) { i, _ := h.somebody(t); h.bar(i) },
		"":     func(t *rapid.T) { require.Empty(t, h.wrong()) },
	}
}

// wrong returns what must never be, in words.
func (h *history) wrong() string {
	if all := append(h.lacks, h.truth.wrong...); len(all) > 0 {
		return all[0]
	}
	for l, states := range h.named {
		if len(states) > 1 {
			return fmt.Sprintf("%v names %d states: %v", l, len(states), states)
		}
	}
	for i, n := range h.nodes {
		if ops := h.lost(n); ops != "" && !h.behind(i) {
			return fmt.Sprintf("node %d lacks %s in %q, which a member had", n.inc.Node, ops, n.app)
		}
		if why := miscounted(n.r); why != "" {
			return fmt.Sprintf("node %d: %s", n.inc.Node, why)
		}
		for _, s := range n.r.held {
			if n.r.phase == settled && n.r.streamOf(s.name) == nil {
				return fmt.Sprintf("node %d holds a snapshot that nobody needs", n.inc.Node)
			}
		}
		for i, m := range n.place.Ordered {
			if slices.ContainsFunc(n.place.Ordered[:i], func(o broadcast.Mark) bool { return o.Node == m.Node && o.Boot == m.Boot }) {
				return fmt.Sprintf("node %d has two positions of one sender", n.inc.Node)
			}
		}
	}
	return ""
}

// anyHistory lets anything happen, and then gives the group time: a name has meant one
// state, and all members end with one state, whatever transfers were broken off or refused.
func anyHistory(t testing.TB) {
	for range 20 { // a hundred of each
		rapid.Check(t, anyHistoryOf)
	}
}

func anyHistoryOf(t *rapid.T) {
	cfg := Config{Stored: rapid.Bool().Draw(t, "stored"), ChunkBytes: MinChunkBytes,
		MaxQueued: rapid.SampledFrom([]int{0, 3 * PerDelivery}).Draw(t, "queue")}
	if rapid.Bool().Draw(t, "quorum") {
		cfg.Quorum = majority(1, 2, 3)
	}
	h := &history{world: newWorld(3, cfg), cfg: cfg}
	t.Repeat(h.actions())
	h.hold = nil
	h.delay(t)
	h.install(0, 1, 2)
	h.run(5 * time.Millisecond)
	h.catchAllUp()
	for i, n := range h.nodes {
		n.lazy, n.refuses = false, false
		h.answer(i)
	}
	h.run(5 * time.Second) // refused snapshots are asked for again
	require.Empty(t, h.wrong())
	for i, n := range h.nodes {
		require.True(t, n.r.Current(), "node %d: %v", i+1, n.r.Situation())
		require.Equal(t, h.nodes[0].app, n.app)
	}
}

func TestAfterAnyHistoryThereIsOneState(t *testing.T) { anyHistory(t) }

// flushedIsNamed has two members part, of which one flushes an operation at the position
// at which the other has another one, and both processes find what they had on their disks.
func flushedIsNamed(t testing.TB) {
	w := newWorld(2, Config{Stored: true})
	w.install(0, 1)
	w.op(0, "a")
	w.flushed(0, "x")
	w.hold = func(int, []byte) bool { return true }
	w.install(0) // it does not settle
	w.hold = nil
	w.op(1, "y")
	for i := range 2 {
		w.crash(i, 1)
	}
	w.install(0, 1)
	w.run(10 * time.Millisecond)
	all(t, w, "(ax|ay|)", 0, 1)
}

func TestAStateWithFlushedOperationsIsABranch(t *testing.T) { flushedIsNamed(t) }

// gotOfAnother has a receiver acknowledge a snapshot of the same name with other bytes,
// which an application may encode in two ways.
func gotOfAnother(t testing.TB) {
	w := newWorld(2, Config{})
	w.install(0)
	w.op(0, "a")
	w.hold = func(_ int, p []byte) bool { return kind(p[0]) == kindChunk }
	w.install(0, 1)
	w.hold = nil
	require.Len(t, w.nodes[0].r.streams, 1)
	s := w.nodes[0].r.streams[0]
	w.perform(1, []Effect{{Kind: Broadcast, Options: unordered, Payload: encode(&message{kind: kindGot, name: s.name, digest: Digest{1}, offset: s.from.state.size})}})
	require.Len(t, w.nodes[0].r.streams, 1, "nobody has the snapshot yet")
}

func TestAReceiptIsOfOneSnapshot(t *testing.T) { gotOfAnother(t) }

// rankOfAnyMember has one state with two ranks, because a member was away when a quorum
// said that it has the state.
func rankOfAnyMember(t testing.TB) {
	w := newWorld(3, Config{Quorum: majority(1, 2, 3)})
	w.install(0, 1, 2)
	m := w.nodes[0].r
	for i, r := range m.reports {
		r.standing, r.lineage.Label, r.lineage.Rank = Holder, Label{7}, uint64(9-i)
	}
	bs := m.gather()
	require.Len(t, bs, 1)
	require.Equal(t, uint64(9), bs[0].rank)
}

func TestAStateHasTheLargestRankThatIsKnown(t *testing.T) { rankOfAnyMember(t) }

// ownDiskSaysSo has the disk of one other member say that it has the state.
func ownDiskSaysSo(t testing.TB) {
	w := newWorld(3, Config{Stored: true, Quorum: majority(1, 2, 3)})
	w.install(0, 1, 2)
	w.op(0, "a")
	w.store(1)
	for _, n := range w.nodes {
		_, any := n.lasting()
		require.False(t, any, "one disk is no quorum")
	}
}

func TestADiskCountsWhenItSaysSo(t *testing.T) { ownDiskSaysSo(t) }

// A transitional operation makes no state sure, whatever its sender asked for.
func TestATransitionalOperationIsNotSure(t *testing.T) {
	w := newWorld(1, Config{})
	w.install(0)
	op := func(position uint64, transitional bool) Extent {
		n := w.nodes[0]
		d := broadcast.Delivery{ID: broadcast.ID{Sender: 1, Boot: n.inc.Boot, Class: broadcast.ClassOrdered, Sequence: 90 + position},
			Options:      broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.StrictAtomicity},
			Transitional: transitional, Position: position, Payload: AppendOp(nil, []byte("t"))}
		w.perform(0, n.r.HandleDelivery(w.now, d, nil))
		return n.r.Extent()
	}
	require.Equal(t, uint64(11), op(10, false).Sure)
	e := op(11, true)
	require.Equal(t, uint64(11), e.Sure)
	require.Equal(t, uint64(11), e.Last)
}
