package replica

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// enter has nodes enter an epoch: each begins another incarnation.
func (w *world) enter(epoch uint64, q quorum.System, is ...int) {
	w.cfg.Epoch, w.cfg.Quorum = epoch, q
	for _, i := range is {
		w.renew(i, timed.BootID(epoch))
	}
}

// changed returns a world of five nodes that all have the state "a" of a majority of the
// first three, and are in the epoch in which a majority of the last three counts.
func changed(cfg Config) *world {
	cfg.Epoch, cfg.Quorum = 1, majority(1, 2, 3)
	w := newWorld(5, cfg)
	w.install(0, 1, 2, 3, 4)
	w.op(0, "a")
	w.enter(2, majority(3, 4, 5), 0, 1, 2, 3, 4)
	return w
}

// Quorums of both systems must meet once. From then on the new one counts alone.
func bothSystemsCount(t testing.TB) {
	for _, cfg := range []Config{{}, {Stored: true}} {
		w := changed(cfg)
		w.install(2, 3, 4)
		for _, i := range []int{2, 3, 4} {
			require.Equal(t, Recovering, w.nodes[i].r.Situation())
			require.Equal(t, timed.SetOf(1, 2), w.nodes[i].r.Absent())
		}
		w.install(0, 1, 2)
		require.Equal(t, NoQuorum, w.nodes[0].r.Situation())
		w.install(0, 2, 3)
		w.op(3, "b")
		all(t, w, "ab", 0, 2, 3)
		w.install(3, 4)
		w.run(10 * time.Millisecond)
		w.op(4, "c")
		all(t, w, "abc", 3, 4)
	}
}

func TestAChangeOfTheQuorumNeedsBothSystemsOnce(t *testing.T) { bothSystemsCount(t) }

// A member that is still in the epoch before would take the state of a view for one of its
// own quorum's. So would one whose epoch of the same number another system rules.
func epochsDoNotMix(t testing.TB) {
	var w *world
	for _, c := range []struct {
		epoch uint64
		q     quorum.System
	}{{1, majority(2, 3)}, {3, majority(1, 2, 3)}, {2, majority(2, 3)}} {
		w = newWorld(3, Config{Epoch: 1, Quorum: majority(1, 2, 3)})
		w.install(0, 1, 2)
		w.op(0, "a")
		w.enter(c.epoch, c.q, 1, 2)
		w.install(0, 1, 2)
		for _, n := range w.nodes {
			require.Equal(t, Changing, n.r.Situation(), "%v", c)
			require.False(t, n.r.Accepting())
			require.Equal(t, "a", n.app)
		}
	}
	w.enter(2, majority(2, 3), 0)
	w.install(0, 1, 2)
	w.op(1, "b")
	all(t, w, "ab", 0, 1, 2)
}

func TestMembersInTwoEpochsDoNotGoOn(t *testing.T) { epochsDoNotMix(t) }

// The state of the epoch before last may lack what lasted in the last one, even if quorums of
// both others have it. An operator may say that it does not.
func epochsAreNotSkipped(t testing.TB) {
	w := changed(Config{})
	w.enter(3, majority(1, 2, 4), 0, 1, 2, 3, 4)
	w.install(0, 1, 2, 3, 4)
	require.Equal(t, Recovering, w.nodes[0].r.Situation())
	w.bootstrap(0, 0)
	w.op(0, "b")
	all(t, w, "ab", 0, 1, 2, 3, 4)
	w.install(0, 3)
	w.op(0, "c")
	all(t, w, "abc", 0, 3)
}

func TestAStateSkipsNoEpoch(t *testing.T) { epochsAreNotSkipped(t) }

// Members of a former epoch, who were said to be dead and come back, went on for longer than
// those that were forced to go on without them.
func laterEpochIsNewer(t testing.TB) {
	w := newWorld(4, Config{Epoch: 1, Quorum: majority(1, 2, 3)})
	w.install(0, 1, 2, 3)
	w.op(0, "a")
	for range 5 {
		w.install(1, 2)
		w.op(1, "b")
	}
	w.enter(2, majority(1, 2, 4), 0, 3)
	w.install(0, 3)
	require.Equal(t, Recovering, w.nodes[0].r.Situation())
	w.bootstrap(0, 0)
	w.op(0, "x")
	w.enter(2, majority(1, 2, 4), 1)
	w.install(0, 1, 3)
	w.run(10 * time.Millisecond)
	all(t, w, "ax", 0, 1, 3)
}

// Members of a former epoch, who were said to be dead, began anew by the word of an operator
// whose wall clock is ahead: their generation is later, and their epoch is not.
func laterEpochOutranks(t testing.TB) {
	w := newWorld(4, Config{Epoch: 1, Quorum: majority(1, 2, 3)})
	w.install(0, 1, 2, 3)
	w.op(0, "a")
	w.restart(1, 5)
	w.restart(2, 5)
	w.truth.lasting = ""
	w.install(1, 2)
	w.bootstrap(1, 1000)
	w.op(1, "b")
	w.truth.lasting = ""
	w.enter(2, majority(1, 2, 4), 0, 3)
	w.install(0, 3)
	w.bootstrap(0, 0)
	w.op(0, "x")
	w.enter(2, majority(1, 2, 4), 1)
	w.install(0, 1, 3)
	w.run(10 * time.Millisecond)
	all(t, w, "ax", 0, 1, 3)
}

func TestALaterEpochOutranksGenerations(t *testing.T) { laterEpochOutranks(t) }

func TestAStateOfALaterEpochIsNewer(t *testing.T) { laterEpochIsNewer(t) }

// A quorum has lost its memory and begun again, and meets nodes outside the system that kept the
// former state under a larger rank.
func outsidersGiveWay(t testing.TB) {
	w := newWorld(3, Config{Epoch: 1, Quorum: majority(3)})
	for range 3 {
		w.install(0, 1, 2)
		w.op(0, "a")
	}
	w.restart(2, 9)
	w.install(2)
	w.op(2, "b")
	require.True(t, w.nodes[2].r.Current())
	w.install(0, 1, 2)
	w.run(10 * time.Millisecond)
	all(t, w, "b", 0, 1, 2)
}

func TestStatesOutsideTheSystemGiveWay(t *testing.T) { outsidersGiveWay(t) }

// A state of a disk from before there were eras is of the first epoch.
func TestAnEarlierBuildsStateMayBeTheNewest(t *testing.T) {
	w := newWorld(3, Config{Quorum: majority(1, 2, 3)})
	w.install(0, 1, 2)
	w.op(0, "a")
	w.cfg.Epoch = 1
	w.renew(2, 7)
	w.install(0, 2)
	w.op(2, "b")
	all(t, w, "ab", 0, 2)
	w.install(0, 1)
	w.run(10 * time.Millisecond)
	w.op(1, "c")
	w.install(1, 2)
	w.run(10 * time.Millisecond)
	all(t, w, "abc", 1, 2)
	w.renew(1, 8)
	w.install(1, 2)
	w.op(1, "d")
	all(t, w, "abcd", 1, 2)
}

// A member that waits for the state of a view has its own, of the epoch before, until the other
// has come: it does not stand for the quorum that had settled the view.
func waiterIsOfItsOwnEra(t testing.TB) {
	for _, cfg := range []Config{{}, {Stored: true}} {
		cfg.Epoch, cfg.Quorum = 1, majority(1, 2, 3)
		w := newWorld(5, cfg)
		w.install(0, 1, 2, 3, 4)
		w.op(0, "a")
		w.install(0, 1, 2, 4)
		w.op(0, "b")
		w.enter(2, majority(3, 4, 5), 0, 1, 2, 3, 4)
		w.nodes[0].lazy, w.nodes[2].lazy = true, true
		w.install(0, 2, 3)
		require.Equal(t, Transferring, w.nodes[3].r.Situation())
		w.install(3, 4)
		require.Equal(t, Recovering, w.nodes[3].r.Situation())
		require.Equal(t, timed.SetOf(1, 2, 3), w.nodes[3].r.Absent())
	}
}

func TestAMemberThatWaitsIsOfItsOwnEra(t *testing.T) { waiterIsOfItsOwnEra(t) }

// What an incarnation has promised binds the next one, whatever rank its state has.
func TestPromisesOutlastAnIncarnation(t *testing.T) {
	w := newWorld(3, Config{Quorum: majority(1, 2, 3)})
	w.install(0, 1, 2)
	r := w.nodes[0].r
	r.promised++ // by a view that nobody else has seen settled
	promised := r.promised
	r.HandleEnd(w.now, nil)
	require.Equal(t, promised, r.Earlier().Promised)
	require.Equal(t, promised, New(r.cfg, r.Earlier()).promised)
}

// A system may be replaced once the state is of its epoch, at quorums of both.
func replacedOnceSettled(t testing.TB) {
	w := changed(Config{})
	next := majority(1, 4, 5)
	require.False(t, w.nodes[0].r.MayReplace(next), "no view")
	w.nodes[0].lazy = true
	w.restart(4, 9)
	w.install(0, 1, 2, 3)
	require.True(t, w.nodes[3].r.MayReplace(majority(1, 4)))
	w.install(0, 1, 2, 3, 4)
	for _, n := range w.nodes[:4] {
		require.False(t, n.r.MayReplace(majority(4, 5)), "node 5 waits for the state")
		require.True(t, n.r.MayReplace(next))
	}
	require.False(t, w.nodes[4].r.MayReplace(next))
	r := w.nodes[0].r
	require.Equal(t, timed.SetOf(1, 2, 3, 4), r.Known())
	r.epochs[1] = epochs{}
	require.Equal(t, timed.SetOf(1, 3, 4), r.Known(), "a member of an earlier build would not be heard in the next epoch")
	require.False(t, r.oneEpoch(), "nor is it in the second one")
	w = newWorld(1, Config{Quorum: majority(1)})
	w.install(0)
	require.False(t, w.nodes[0].r.MayReplace(next), "it never changes")
}

func TestASystemIsReplacedWhenItsQuorumHasTheState(t *testing.T) { replacedOnceSettled(t) }

// The first system of a group counts for states that were kept before systems could change.
func TestAStateWithoutAnEraIsOfTheFirstEpoch(t *testing.T) {
	w := newWorld(3, Config{Quorum: majority(1, 2, 3)})
	w.install(0, 1, 2)
	w.op(0, "a")
	w.enter(1, majority(1, 2, 3), 0, 1, 2)
	w.install(0, 1)
	w.op(0, "b")
	all(t, w, "ab", 0, 1)
}

// changes is a world in which the quorum system changes while anything happens to the
// nodes. What a replica says to last must be in the state of everyone who says so later.
type changes struct {
	history
	epoch   uint64
	systems []quorum.System // by epoch
	in      []uint64        // by node: its epoch
	lasting map[rune]bool
	own     []map[uint64]rune // by node: operations of its view, by position
	seen    []int             // by node: how many Lasts
	next    rune
	lost    string
}

func newChanges(cfg Config) *changes {
	cfg.Epoch, cfg.Quorum = 1, majority(1, 2, 3)
	c := &changes{history: history{world: newWorld(5, cfg), cfg: cfg}, epoch: 1, systems: []quorum.System{nil, cfg.Quorum},
		in: []uint64{1, 1, 1, 1, 1}, lasting: map[rune]bool{}, own: make([]map[uint64]rune, 5), seen: make([]int, 5), next: 0x400}
	c.install(0, 1, 2, 3, 4)
	return c
}

// operate broadcasts an operation, and notes what is then said to last.
func (c *changes) operate(i int) {
	n := c.nodes[i]
	if n.view == nil || !n.r.Accepting() {
		return
	}
	c.next++
	op, before := c.next, n.sequence
	n.last = Effect{}
	opt := strict
	if c.left(n.view) {
		opt = marker // nobody can say that all members have it
	}
	c.perform(i, []Effect{{Kind: Broadcast, Options: opt, Payload: AppendOp(nil, []byte(string(op)))}})
	if n.last.Kind != Apply || n.sequence == before {
		return
	}
	if c.own[i] == nil {
		c.own[i] = map[uint64]rune{}
	}
	if opt == strict {
		c.own[i][n.last.Delivery.Position] = op
	}
	if n.last.Lasting {
		c.lasts(i, op)
	}
}

// left reports whether a member of a view is no longer there.
func (c *changes) left(v *membership.View) bool {
	return slices.ContainsFunc(c.nodes, func(n *node) bool { return v.Set.Has(n.inc.Node) && n.view != v })
}

// lasts notes that an operation lasts, and demands the others that do in the same state. A
// member that was left behind in its view may hear so late, when more lasts elsewhere.
func (c *changes) lasts(i int, op rune) {
	c.lasting[op] = true
	if n := c.nodes[i]; !c.left(n.view) {
		c.demand(n.app)
	}
}

// reads reads the state of a node in two ways, and notes what is shown.
func (c *changes) reads(i int) {
	for _, op := range c.bar(i) + c.read(i) {
		c.lasts(i, op)
	}
}

func (c *changes) demand(app string) {
	for op := range c.lasting {
		if !slices.Contains([]rune(app), op) {
			c.lost = "an operation that lasts is not in a state in which another one does"
		}
	}
}

// stores has a disk say what it has, and notes what lasts by it.
func (c *changes) stores(i int) {
	if n := c.nodes[i]; !c.cfg.Stored || !n.named || !n.r.Current() || n.view == nil || n.place.View != n.view.ID {
		return
	}
	c.store(i)
	for j, n := range c.nodes {
		for _, e := range n.lasts[min(c.seen[j], len(n.lasts)):] {
			for at, op := range c.own[j] {
				if e.Lasting && e.At.View == n.view.ID && at <= e.At.Position {
					c.lasts(j, op)
				}
			}
		}
		c.seen[j] = len(n.lasts)
	}
}

// moves begins a view, in which no operation of the one before lasts any more.
func (c *changes) moves(is ...int) {
	for _, i := range is {
		c.own[i] = nil
	}
	c.install(is...)
}

// enters has a node begin an incarnation in its epoch or the latest.
func (c *changes) enters(i int, epoch uint64) {
	c.in[i] = epoch
	c.world.cfg.Epoch, c.world.cfg.Quorum = epoch, c.systems[epoch]
	c.lives++
	c.own[i], c.seen[i] = nil, 0
	if c.cfg.Stored && c.nodes[i].named && c.lives%2 == 0 {
		c.crash(i, 100+c.lives)
		return
	}
	c.renew(i, 100+c.lives)
}

// replace replaces the system, if a node knows that its state is of the present epoch, and
// that those that have it are a quorum of the next system too.
func (c *changes) replace(i int, next quorum.System) {
	n := c.nodes[i]
	if c.in[i] != c.epoch || !n.r.MayReplace(next) {
		return
	}
	c.epoch++
	c.systems = append(c.systems, next)
	c.enters(i, c.epoch)
}

// some draws some of the nodes.
func (c *changes) some(t *rapid.T, least int, what string) []int {
	is := rapid.SliceOfNDistinct(rapid.IntRange(0, len(c.nodes)-1), least, len(c.nodes), rapid.ID[int]).Draw(t, what)
	slices.Sort(is)
	return is
}

// work has nodes meet, operate, and tell each other what their disks have.
func (c *changes) work(is []int) {
	c.moves(is...)
	c.run(5 * time.Millisecond)
	for range 2 {
		for _, i := range is {
			c.stores(i)
		}
		c.operate(is[0])
		c.reads(is[len(is)-1])
	}
}

func (c *changes) actions() map[string]func(*rapid.T) {
	node := func(t *rapid.T) int { return rapid.IntRange(0, len(c.nodes)-1).Draw(t, "node") }
	work := func(t *rapid.T) { c.work(c.some(t, 2, "members")) }
	enter := func(t *rapid.T) {
		for _, i := range c.some(t, 1, "entering") {
			c.enters(i, c.epoch)
		}
	}
	return map[string]func(*rapid.T){
		"operate": func(t *rapid.T) { c.operate(node(t)) },
		"store":   func(t *rapid.T) { c.stores(node(t)) },
		"read":    func(t *rapid.T) { c.reads(node(t)) },
		"view":    func(t *rapid.T) { c.moves(c.some(t, 1, "members")...) },
		"work":    work, "works": work, "labours": work,
		"time":  func(t *rapid.T) { c.run(5 * time.Millisecond) },
		"lazy":  func(t *rapid.T) { i := node(t); c.nodes[i].lazy = !c.nodes[i].lazy },
		"renew": func(t *rapid.T) { i := node(t); c.enters(i, c.in[i]) },
		"enter": enter, "enters": enter,
		"replace": func(t *rapid.T) {
			var group []timed.NodeID
			for _, i := range c.some(t, 1, "group") {
				group = append(group, timed.NodeID(i+1))
			}
			for i := range c.nodes {
				c.replace(i, majority(group...))
			}
		},
		"": func(t *rapid.T) { require.Empty(t, c.lost); require.Empty(t, c.wrong()) },
	}
}

// anyChange lets the system change at any time, and then brings all nodes together.
func anyChange(t testing.TB) {
	for range 10 {
		rapid.Check(t, anyChangeOf)
	}
}

func anyChangeOf(t *rapid.T) {
	c := newChanges(Config{Stored: rapid.Bool().Draw(t, "stored")})
	t.Repeat(c.actions())
	for i, n := range c.nodes {
		n.lazy = false
		c.answer(i)
		c.enters(i, c.epoch)
	}
	c.moves(0, 1, 2, 3, 4)
	c.run(100 * time.Millisecond)
	require.Empty(t, c.wrong())
	for i, n := range c.nodes {
		require.True(t, n.r.Current(), "node %d: %v", i+1, n.r.Situation())
		require.Equal(t, c.nodes[0].app, n.app)
		c.demand(n.app)
	}
	require.Empty(t, c.lost)
}

func TestTheQuorumChangesInAnyHistory(t *testing.T) { anyChange(t) }
