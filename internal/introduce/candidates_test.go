package introduce

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// greetings counts the greetings of each address.
func greetings(effects []Effect) map[netip.AddrPort]int {
	count := map[netip.AddrPort]int{}
	for _, e := range effects {
		if e.Kind == Greet {
			count[e.Addr]++
		}
	}
	return count
}

// A candidate is greeted at once, and then for ever: more often while no peer is alive.
func seeks(t testing.TB) {
	m := New(1, period, start)
	m.HandleCandidates(start, []netip.AddrPort{address(2)})
	require.Equal(t, start, m.Deadline())
	out := run(m, start, time.Second)
	require.Equal(t, Effect{Kind: Greet, Addr: address(2)}, out[0], "nobody knows which node is there")
	require.Len(t, out, 4, "after 0, 0.1, 0.3 and 0.7 s")
	lone := greetings(run(m, start.Add(1100*time.Millisecond), time.Hour))[address(2)]
	require.Equal(t, int(time.Hour/(loneEvery*period)), lone, "it never gives up")

	later := start.Add(2 * time.Hour)
	m.SetAlive(later, timed.SetOf(3))
	run(m, later, time.Minute)
	calm := greetings(run(m, later.Add(time.Minute), time.Hour))[address(2)]
	require.Equal(t, int(time.Hour/calmEvery), calm)

	alone := later.Add(time.Hour + time.Minute)
	for len(greetings(run(m, alone, 1))) == 0 {
		alone++ // until just after a greeting
		alone = timed.Later(alone, m.Deadline())
	}
	alone = alone.Add(time.Second)
	m.SetAlive(alone, timed.Set{})
	require.Equal(t, 2, greetings(run(m, alone, 3*seekEvery*period+1))[address(2)], "it is alone again")

	alone = alone.Add(time.Minute)
	var soon int
	for range 20 { // a peer comes and goes
		m.SetAlive(alone, timed.SetOf(3))
		m.SetAlive(alone, timed.Set{})
		soon += greetings(run(m, alone, seekEvery*period/2))[address(2)]
		alone = alone.Add(seekEvery * period / 2)
	}
	require.Greater(t, soon, 5, "to be alone again puts no greeting off")

	slow := New(1, time.Second, start)
	slow.SetAlive(start, timed.SetOf(3))
	slow.HandleCandidates(start, []netip.AddrPort{address(2)})
	run(slow, start, time.Minute)
	calm = greetings(run(slow, start.Add(time.Minute), time.Hour))[address(2)]
	require.Equal(t, int(time.Hour/(loneEvery*time.Second)), calm, "nor is one with company greeted more often than one alone")
}

func TestCandidatesAreGreetedForEver(t *testing.T) { seeks(t) }

// However many candidates there are, few are greeted. Those that remain are not greeted
// more often because the list is another one.
func fewCandidates(t testing.TB) {
	m := New(1, period, start)
	var many []netip.AddrPort
	for id := range timed.NodeID(200) {
		many = append(many, address(id+2))
	}
	m.HandleCandidates(start, many)
	require.Len(t, greetings(run(m, start, time.Millisecond)), MaxCandidates)
	slices.Reverse(many[:10])
	for i := range 50 {
		now := start.Add(time.Duration(i+1) * time.Millisecond)
		m.HandleCandidates(now, many[:10])
		require.Empty(t, run(m, now, time.Millisecond))
	}
	now := start.Add(time.Minute)
	run(m, now, time.Second)
	m.HandleCandidates(now.Add(time.Second), []netip.AddrPort{address(220), address(4)})
	got := greetings(run(m, now.Add(time.Second), loneEvery*period))
	require.Len(t, got, 2, "those of the list, and no former ones")
	require.Greater(t, got[address(220)], got[address(4)], "it is new")
	require.Positive(t, got[address(4)])
	now = start.Add(time.Hour)
	m.HandleCandidates(now, nil)
	require.Empty(t, run(m, now, time.Hour), "they are candidates no more")
}

func TestCandidatesAreBounded(t *testing.T) { fewCandidates(t) }
