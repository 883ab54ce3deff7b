package replica

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// lagging is a history with a quorum and disks that lag behind their nodes, or are lost, and with
// operators. A state directory has the sequence of each view before the node is in it.
type lagging struct {
	*history
	known   []uint64                   // by node: the sequence that the state directory has
	minutes int                        // words of operators and incarnations so far
	begun   map[membership.ViewID]bool // views
}

// written is a state that a disk has after some record.
type written struct {
	place Place
	app   string
	moved bool
}

func newLagging(cfg Config, nodes int) *lagging {
	l := &lagging{&history{world: newWorld(nodes, cfg), cfg: cfg}, make([]uint64, nodes), 0, map[membership.ViewID]bool{}}
	l.began = func(int) time.Time { l.minutes++; return wall(l.minutes) }
	l.onName = func(n *node) {
		p := n.place
		p.Ordered = slices.Clone(p.Ordered)
		n.written = append(n.written, written{p, n.app, n.moved})
	}
	l.onEvent = func(n *node, e *Event) {
		if e.Kind != EventBegun || l.begun[n.view.ID] {
			return
		}
		l.begun[n.view.ID] = true
		l.truth.lasting = "" // it may be given up from here on
		for v := range l.truth.views {
			if v != n.view.ID {
				delete(l.truth.views, v)
			}
		}
	}
	return l
}

// enter installs a view of a sequence that none of the state directories has.
func (l *lagging) enter(is ...int) {
	l.views = 0
	for _, i := range is {
		l.views = max(l.views, l.known[i])
	}
	for _, i := range is {
		l.known[i] = l.views + 1
	}
	l.install(is...)
}

// view is that of a history, with other sequences.
func (l *lagging) view(t *rapid.T) { l.enterSome(t, l.enter, 5) }

// work has a majority be in a view, and some disks be quick in it.
func (l *lagging) work(t *rapid.T) {
	l.hold = nil
	is := l.some(t, len(l.nodes)/2+1)
	l.enter(is...)
	l.run(5 * time.Millisecond)
	for _, i := range is {
		l.answer(i)
	}
	for range rapid.IntRange(1, 4).Draw(t, "operations") {
		if i := rapid.SampledFrom(is).Draw(t, "by"); l.nodes[i].r.Accepting() {
			l.opWith(i, l.letter(), strict)
		}
		for _, j := range is {
			if rapid.Bool().Draw(t, "stores") {
				l.flush(t, j)
			}
		}
	}
}

// flush has the disk of a node get some of what it lacks.
func (l *lagging) flush(t *rapid.T, i int) {
	n := l.nodes[i]
	if len(n.written) == 0 {
		return
	}
	n.sure = len(n.written) - 1 - rapid.IntRange(0, len(n.written)-1-n.sure).Draw(t, "behind")
	if has := n.written[n.sure]; !has.moved {
		l.perform(i, n.r.HandleStored(l.now, Point{has.place.View, has.place.Position}, has.place.Rank, nil))
	}
}

// crash begins a process with what the disk has, or may have.
func (l *lagging) crash(t *rapid.T, i int) {
	n := l.nodes[i]
	if len(n.written) == 0 {
		return
	}
	l.lives++
	has := n.written[rapid.IntRange(n.sure, len(n.written)-1).Draw(t, "written")]
	l.reboot(i, l.lives, node{app: has.app, place: has.place})
	l.nodes[i].ordered, l.nodes[i].written = slices.Clone(has.place.Ordered), []written{has}
}

// wipe begins a process without its disk and its state directory.
func (l *lagging) wipe(_ *rapid.T, i int) {
	l.lives++
	l.restart(i, l.lives)
	l.known[i] = 0
}

// declare has an operator let a view go on that waits, even one that members have left.
func (l *lagging) declare(_ *rapid.T, i int) {
	if l.nodes[i].r.Situation() == Recovering {
		l.minutes++
		l.bootstrap(i, l.minutes)
	}
}

// begin has disks of a majority be lost until it waits, and an operator let it go on. The word may
// come to some members only, some disks be slower than others, and the view soon end.
func (l *lagging) begin(t *rapid.T) {
	l.hold = nil
	is := l.some(t, len(l.nodes)/2+1)
	for k := range rapid.IntRange(1, len(is)).Draw(t, "lost") {
		l.wipe(t, is[k])
	}
	l.enter(is...)
	for _, i := range is {
		if rapid.IntRange(0, 3).Draw(t, "cut off") == 0 {
			l.hinder(lane{i, broadcast.ClassOrdered})
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "transfers wait") == 0 {
		l.hold = func(_ int, p []byte) bool { return kind(p[0]) == kindChunk }
	}
	l.declare(t, rapid.SampledFrom(is).Draw(t, "operator"))
	l.run(5 * time.Millisecond)
	for _, i := range is {
		if l.behind(i) && rapid.Bool().Draw(t, "misses the word") {
			l.miss(i)
			l.enter(i)
		}
		for range rapid.IntRange(0, 2).Draw(t, "flushes") {
			l.flush(t, i)
		}
		if rapid.IntRange(0, 3).Draw(t, "ends") == 0 {
			l.crash(t, i)
		}
	}
	l.hold = nil
}

func (l *lagging) actions(wipes bool) map[string]func(*rapid.T) {
	by := func(act func(*rapid.T, int)) func(*rapid.T) {
		return func(t *rapid.T) {
			if i, ok := l.somebody(t); ok {
				act(t, i)
			}
		}
	}
	a := l.history.actions()
	delete(a, "meets")
	a["view"], a["flush"], a["crash"], a["store"] = l.view, l.work, by(l.crash), by(l.flush)
	a["work"], a["works"], a["stores"], a["crashes"] = l.work, l.work, by(l.flush), by(l.crash)
	a["meet"] = func(t *rapid.T) { l.hold = nil; l.enter(l.some(t, 1)...); l.run(5 * time.Millisecond) }
	if wipes {
		a["wipe"], a["declare"], a["begin"] = by(l.wipe), by(l.declare), l.begin
	}
	a[""] = func(t *rapid.T) { l.judge(t, wipes) }
	return a
}

// judge demands what holds in any history. The sequences of a lost state directory come again, and
// with them the names of views.
func (l *lagging) judge(t *rapid.T, wipes bool) {
	if wipes {
		l.lacks = nil
	}
	require.Empty(t, l.wrong())
}

// laggingHistory lets anything happen to disks that lag, some of them are lost, and operators let
// views go on: what is acknowledged after such a word stays, and all nodes end with one state.
func laggingHistory(t testing.TB) {
	for range 5 { // a hundred of each
		for _, nodes := range []int{3, 5} {
			for _, wipes := range []bool{false, true} {
				rapid.Check(t, func(t *rapid.T) { laggingHistoryOf(t, nodes, wipes) })
			}
		}
	}
}

func laggingHistoryOf(t *rapid.T, nodes int, wipes bool) {
	var all []int
	var voters []timed.NodeID
	for i := range nodes {
		all, voters = append(all, i), append(voters, timed.NodeID(i+1))
	}
	cfg := Config{Stored: true, Quorum: majority(voters...), ChunkBytes: MinChunkBytes,
		MaxQueued: rapid.SampledFrom([]int{0, 3 * PerDelivery}).Draw(t, "queue")}
	l := newLagging(cfg, nodes)
	l.enter(all...)
	l.run(5 * time.Millisecond)
	t.Repeat(l.actions(wipes))
	l.hold = nil
	l.enter(all...)
	l.run(5 * time.Millisecond)
	l.catchAllUp()
	for i, n := range l.nodes {
		n.lazy, n.refuses = false, false
		l.answer(i)
	}
	l.run(5 * time.Second)
	l.judge(t, wipes)
	for i, n := range l.nodes {
		require.True(t, n.r.Current(), "node %d: %v", i+1, n.r.Situation())
		require.Equal(t, l.nodes[0].app, n.app)
	}
}

func TestWhatLastsStaysWithDisksThatLag(t *testing.T) { laggingHistory(t) }
