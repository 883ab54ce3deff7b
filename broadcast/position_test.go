package broadcast

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// meetAbsentSender has a message ordered in a view whose members lose its sender. One
// of them meets a node that was not there, and that node meets the sender. It returns
// how often the message is delivered in the last view, and the effects of that view.
func meetAbsentSender(t testing.TB) (again int, effects []Effect) {
	g := newTrio(4, Config{})
	g.keep = true
	g.install(viewOf(2, 0, 1, 2))
	g.drop = func(from, to int, p *Packet) bool { return to == 2 }
	_, err := g.cast(2, []byte("once"), Options{TotalOrder, WeakAtomicity})
	require.NoError(t, err)
	g.run(50 * time.Millisecond)
	g.drop = nil
	g.install(viewOf(3, 0, 1))
	require.Equal(t, []string{"once"}, g.payloads[0])
	require.Empty(t, g.payloads[2])
	g.install(viewOf(4, 0, 3))
	g.effects = nil
	g.install(viewOf(5, 2, 3))
	g.run(50 * time.Millisecond)
	return len(g.payloads[3]), g.effects
}

// deliversOnce reports whether a message that was ordered without its sender is ordered
// again when the sender meets a node that was not there, but has met one that was.
func deliversOnce(t testing.TB) bool {
	again, _ := meetAbsentSender(t)
	return again == 0
}

func TestANewMemberLearnsWhatAbsentSendersHadOrdered(t *testing.T) {
	require.True(t, deliversOnce(t), "the state that a new member gets from others may contain the message")
	_, effects := meetAbsentSender(t)
	i := slices.IndexFunc(effects, func(e Effect) bool { return e.Kind == Elsewhere })
	require.GreaterOrEqual(t, i, 0)
	require.Equal(t, [2]uint64{1, 1}, [2]uint64{effects[i].From, effects[i].Through})
}

// baseOf returns where a view of two members begins in the messages of the second, which
// has sent 9. The first knows some incarnations of it.
func baseOf(known []Mark) uint64 {
	v := viewOf(2, 0, 1)
	f := freeze{view: v, reports: []*Report{{Ordered: known}, {Sent: [2]uint64{ClassOrdered: 9}}}}
	return find(f.base(ClassOrdered), incarnation(1))
}

// otherIncarnations returns positions of incarnations of the second node that run no longer.
func otherIncarnations(n int) (all []Mark) {
	for i := range n {
		all = append(all, Mark{Node: incarnation(1).Node, Boot: timed.BootID(900 + i), Sequence: 5})
	}
	return all
}

// An incarnation whose position may be among those that were left out begins behind all
// that it has ever sent.
func forgetsSafely() bool { return baseOf(otherIncarnations(MostIncarnations)) == 9 }

func TestAnIncarnationThatMayBeForgottenOrdersNothingAgain(t *testing.T) {
	require.True(t, forgetsSafely())
	require.Zero(t, baseOf(otherIncarnations(MostIncarnations-1)), "its messages were never ordered")
	own := Mark{incarnation(1).Node, incarnation(1).Boot, 7}
	require.Equal(t, uint64(7), baseOf(append(otherIncarnations(MostIncarnations-2), own)))
	require.Equal(t, uint64(9), baseOf(append(otherIncarnations(MostIncarnations), own)), "the list is full")
	require.Equal(t, uint64(9), baseOf(append([]Mark{own}, otherIncarnations(MostIncarnations)...)),
		"others may know more of it, and have left it out")
}

func TestTheIncarnationOfAMemberEndsTheOthers(t *testing.T) {
	var p positions
	p.add([]Mark{{3, 7, 5}, {3, 8, 2}, {4, 1, 1}})
	p.add([]Mark{{3, 8, 4}, {3, 7, 3}})
	require.Equal(t, []Mark{{3, 7, 5}, {3, 8, 4}, {4, 1, 1}}, p.list(), "nobody knows which of the two still runs")
	p.set(Mark{3, 8, 6})
	require.Equal(t, []Mark{{3, 8, 6}, {4, 1, 1}}, p.list())
	p.set(Mark{3, 9, 0})
	require.Equal(t, []Mark{{4, 1, 1}}, p.list())
}

// What was sent in an earlier view stays shown, also if a later view has sent less.
func showsAllSent() bool {
	s := New(Config{Self: incarnation(1)})
	s.sent[ClassOrdered] = 7
	s.updateMarks()
	s.sent[ClassOrdered] = 5 // the base of the next view
	s.updateMarks()
	s.Freeze(0, viewOf(2, 1), false)
	return s.shown[ClassOrdered] == 7 && s.freeze.report[0].Sent[ClassOrdered] == 7
}

func TestAllThatWasEverSentIsShown(t *testing.T) { require.True(t, showsAllSent()) }
