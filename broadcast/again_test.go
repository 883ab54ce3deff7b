package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
)

// sendsAgain reports whether what nobody has of a member's messages comes with its first packets
// in the next view. Requests would bring them too, but only after a keepalive has told the
// others that there is something to ask for.
func sendsAgain(t testing.TB) bool {
	g := newTrio(3, Config{})
	g.drop = func(from, _ int, p *Packet) bool { return from == 1 && len(p.Runs) > 0 }
	var ids []ID
	for _, order := range []Order{TotalOrder, Unordered} {
		id, err := g.cast(1, []byte("x"), Options{Order: order, Atomicity: StrictAtomicity})
		require.NoError(t, err)
		ids = append(ids, id)
	}
	g.act(1)
	g.install(viewOf(2, 0, 1, 2))
	for _, id := range ids {
		require.False(t, g.nodes[0].Holds(id) || g.nodes[2].Holds(id))
	}
	g.drop = nil
	g.act(1)
	for _, id := range ids {
		if !g.nodes[0].Holds(id) || !g.nodes[2].Holds(id) {
			return false
		}
	}
	return true
}

func TestWhatNobodyHasIsSentAgainInTheNextView(t *testing.T) { require.True(t, sendsAgain(t)) }

// deliveredHere reports whether a member that has delivered its own message hears nothing more of
// it when no decision of the view has covered it.
func deliveredHere(t testing.TB) bool {
	g := newTrio(3, Config{})
	_, err := g.cast(1, []byte("x"), Options{Order: Unordered, Atomicity: WeakAtomicity})
	require.NoError(t, err)
	g.act(1)
	require.Equal(t, 1, g.count[1])
	require.Zero(t, g.nodes[1].known)
	g.effects = nil
	g.install(viewOf(2, 0, 1, 2))
	for _, e := range g.effects {
		if e.Kind == Elsewhere {
			return false
		}
	}
	return g.count[1] == 1
}

func TestADeliveredMessageIsNotElsewhere(t *testing.T) { require.True(t, deliveredHere(t)) }

// goesOnBehindTheBase reports whether messages count that a member holds behind the base of a
// view, although it never had those up to the base.
func goesOnBehindTheBase() bool {
	s := New(Config{})
	var st stream
	st.begin(&s.arena, 100, 0)
	st.put(&s.arena, letter(3, "cd"), 16)
	st.begin(&s.arena, 100, 2)
	return st.contig == 4 && st.whole == 4
}

func TestMessagesGoOnBehindTheBase(t *testing.T) { require.True(t, goesOnBehindTheBase()) }

// keepsDeviations reports whether all members get the deviation of each message, even of those that
// have one stamp because the sender's clock was set back.
func keepsDeviations(t testing.TB) bool {
	g := newTrio(2, Config{})
	g.keep = true
	g.turn()
	for _, at := range []clocksync.Time{1 << 40, 1<<40 - 900, 1<<40 - 100} {
		_, err := g.nodes[0].Broadcast(clocksync.Reading{Time: at, Deviation: 5}, nil, Options{TotalOrder, WeakAtomicity})
		require.NoError(t, err)
	}
	g.run(aFewPeriods)
	for i := range g.nodes {
		require.Len(t, g.delivered[i], 3)
		for k, d := range g.delivered[i] {
			if want := []int64{5, 905, 105}[k]; d.Stamp != 1<<40 || int64(d.Deviation) != want {
				return false
			}
		}
	}
	return true
}

func TestAllMembersGetTheDeviationOfAMessage(t *testing.T) { require.True(t, keepsDeviations(t)) }
