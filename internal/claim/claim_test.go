package claim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

const start timed.Instant = 1e12

func newClaim() *Machine {
	t := timed.LAN()
	return New(&t, start)
}

func after(d time.Duration) timed.Instant { return start.Add(d) }

// A node that nobody answers begins a group of its own, and not before others had time to
// answer.
func aloneLate(t testing.TB) {
	m := newClaim()
	require.Equal(t, Undecided, m.HandleTimeout(after(999*time.Millisecond)))
	require.Equal(t, after(time.Second), m.Deadline())
	require.Equal(t, Confirmed, m.HandleTimeout(after(time.Second)))
	m.NoteRival()
	require.Equal(t, Confirmed, m.HandleTimeout(after(2*time.Second)), "a verdict is final")
	require.Equal(t, timed.Never, m.Deadline())
}

func TestNobodyAnswers(t *testing.T) { aloneLate(t) }

// A node that a peer accepts keeps the id if nobody objects for a while.
func settles(t testing.TB) {
	m := newClaim()
	m.NoteAcceptance(after(100 * time.Millisecond))
	m.NoteAcceptance(after(250 * time.Millisecond))
	require.Equal(t, Undecided, m.HandleTimeout(after(299*time.Millisecond)))
	require.Equal(t, Confirmed, m.HandleTimeout(after(300*time.Millisecond)))
	m = newClaim()
	m.NoteAcceptance(after(900 * time.Millisecond))
	require.Equal(t, Undecided, m.HandleTimeout(after(1099*time.Millisecond)), "a late acceptance is settled too")
	require.Equal(t, Confirmed, m.HandleTimeout(after(1100*time.Millisecond)))
}

func TestAcceptedNodesSettle(t *testing.T) { settles(t) }

// One refusal, or one packet of another process with the id, is enough.
func oneIsEnough(t testing.TB) {
	m := newClaim()
	m.NoteAcceptance(start)
	m.NoteRefusal(timed.SetOf(1, 2))
	m.NoteRefusal(timed.SetOf(3))
	m.NoteAcceptance(after(time.Millisecond))
	require.Equal(t, Refused, m.HandleTimeout(after(time.Hour)))
	require.Equal(t, timed.SetOf(1, 2, 3), m.Used())
	m = newClaim()
	m.NoteRival()
	require.Equal(t, Refused, m.HandleTimeout(after(time.Hour)))
}

func TestOneRefusalIsEnough(t *testing.T) { oneIsEnough(t) }

// All free ids are chosen, evenly, and no other.
func choosesFree(t testing.TB) {
	var used timed.Set
	for id := timed.NodeID(1); id < 250; id++ {
		used.Add(id)
	}
	count := map[timed.NodeID]int{}
	for r := range uint64(600) {
		count[Choose(used, r)]++
	}
	require.Equal(t, map[timed.NodeID]int{250: 100, 251: 100, 252: 100, 253: 100, 254: 100, 255: 100}, count)
	for id := timed.NodeID(250); id != 0; id++ {
		used.Add(id)
	}
	require.Equal(t, timed.NoNode, Choose(used, 7))
}

func TestFreeIdsAreChosen(t *testing.T) { choosesFree(t) }
