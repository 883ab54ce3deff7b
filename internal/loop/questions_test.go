package loop

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

func TestAGlobalHoldEndsWithTheGlobalLease(t *testing.T) { holdsEnd(t) }

func holdsEnd(t testing.TB) {
	a := leader.Assurance{Local: 7, Global: 5}
	require.Equal(t, timed.Instant(7), endOf(&a, false))
	require.Equal(t, timed.Instant(5), endOf(&a, true))
	require.Zero(t, endOf(&leader.Assurance{Local: 7}, true), "it does not lead globally")
}

// A caller gets the answer of the node that it asked, to a question asked since it came.
func TestAnswersReachThoseWhoAsked(t *testing.T) { answersReach(t) }

func answersReach(t testing.TB) {
	l, _ := newTestLoop(t)
	d := l.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.clock.now
	early, late, other := make(chan Assurance, 1), make(chan Assurance, 1), make(chan Assurance, 1)
	d.asked = questions{{2, now - 5, early}, {2, now, late}, {3, now - 5, other}}
	answer := func(by timed.NodeID, asked timed.Instant) {
		d.answer(&leader.Assurance{By: timed.Incarnation{Node: by, Boot: 20}, Asked: asked, Local: now + 100})
	}
	answer(2, now-1)
	require.Equal(t, []int{1, 0, 0}, []int{len(early), len(late), len(other)})
	answer(2, now)
	answer(2, now+1)
	require.Equal(t, []int{1, 1, 0}, []int{len(early), len(late), len(other)})
	a := <-late
	require.Equal(t, now+100, a.Local)
	require.Equal(t, timed.NodeID(2), a.By.Node)
	require.True(t, d.asked.has(early))
	d.asked.remove(early)
	require.False(t, d.asked.has(early))
	require.Len(t, d.asked, 2)
}
