package broadcast

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

// remains ends an incarnation that has acknowledged a message which others deliver as
// Strict, and has not delivered it. It returns what the broadcast still hands over.
func remains(t testing.TB) []string {
	g := newTrio(3, Config{})
	g.drop = func(_, to int, _ *Packet) bool { return to == 1 && g.nodes[1].have > 0 }
	for _, opt := range []Options{{TotalOrder, StrictAtomicity}, {TimedOrder, StrictAtomicity}} {
		_, err := g.cast(0, []byte(opt.Order.String()), opt)
		require.NoError(t, err)
	}
	for range 1000 {
		if g.count[0] > 0 {
			break
		}
		g.run(time.Millisecond)
	}
	require.NotZero(t, g.count[0])
	require.Zero(t, g.count[1])
	var owed []string
	for _, e := range g.nodes[1].HandleEnd(0, nil) {
		require.Equal(t, Remains, e.Kind)
		require.Equal(t, g.view, e.View)
		for i, d := range e.Deliveries {
			require.True(t, d.Transitional)
			require.Equal(t, uint64(i+1), d.Position)
			owed = append(owed, string(d.Payload))
		}
	}
	return owed
}

func TestAnIncarnationEndsWithAllThatItHasAcknowledged(t *testing.T) {
	require.Equal(t, []string{"total"}, remains(t), "nobody knows the place of the timed one")
	require.Empty(t, New(Config{Self: incarnation(0)}).HandleEnd(0, nil), "there is no view")
}

// again lets a node come back with a state that has messages which the others have not
// ordered. It returns the ranges of their sender that are said to be ordered elsewhere.
func again(t testing.TB) (elsewhere [][2]uint64) {
	g := newTrio(3, Config{})
	g.nodes[2] = New(Config{Self: incarnation(2), Timing: timed.LAN()})
	g.nodes[2].RecallOrdered([]Mark{{incarnation(0).Node, incarnation(0).Boot, 7}})
	g.effects = nil
	g.install(viewOf(2, 0, 1, 2))
	for _, e := range g.effects {
		if e.Kind == Elsewhere {
			elsewhere = append(elsewhere, [2]uint64{e.From, e.Through})
		}
	}
	return elsewhere
}

func TestNothingOfAKeptStateIsOrderedAgain(t *testing.T) {
	require.Equal(t, [][2]uint64{{1, 7}}, again(t))
}

// recallsAll requires that a node whose application keeps its state says of every incarnation how
// far its messages are in that: an absent node may have several.
func recallsAll(t testing.TB) {
	rapid.Check(t, func(t *rapid.T) {
		var marks []Mark
		most := map[timed.Incarnation]uint64{}
		for range rapid.IntRange(0, 6).Draw(t, "marks") {
			m := Mark{timed.NodeID(rapid.IntRange(1, 3).Draw(t, "node")), timed.BootID(rapid.IntRange(1, 3).Draw(t, "boot")), rapid.Uint64Range(1, 9).Draw(t, "sequence")}
			marks = append(marks, m)
			of := timed.Incarnation{Node: m.Node, Boot: m.Boot}
			most[of] = max(most[of], m.Sequence)
		}
		s := New(Config{Self: incarnation(0), Timing: timed.LAN()})
		require.True(t, s.RecallOrdered(marks))
		s.Freeze(0, viewOf(1, 0), false)
		said := joinReport(s.freeze.report).Ordered
		require.Len(t, said, len(most))
		for of, sequence := range most {
			require.Equal(t, sequence, find(said, of))
		}
	})
}

func TestARecalledStateHasItsPositions(t *testing.T) { recallsAll(t) }

// What an incarnation says at its end of the messages that its application has includes those
// of its last view.
func TestTheMarksAtTheEndAreThoseOfTheLastView(t *testing.T) {
	g := newTrio(3, Config{})
	for range 5 {
		_, err := g.cast(0, []byte("x"), Options{TotalOrder, WeakAtomicity})
		require.NoError(t, err)
		g.run(time.Millisecond)
	}
	require.Equal(t, []int{5, 5, 5}, g.count)
	g.nodes[1].HandleEnd(0, nil)
	require.Equal(t, []Mark{{incarnation(0).Node, incarnation(0).Boot, 5}}, g.nodes[1].Ordered())
}
