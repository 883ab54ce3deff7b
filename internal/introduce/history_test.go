package introduce

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

// In any history, the machine has done what was due: it is never due again at the instant at
// which it was served, however exactly that was its deadline. It greets no member that is alive.
func TestNothingStaysDue(t *testing.T) { nothingStaysDue(t) }

func nothingStaysDue(t testing.TB) {
	some := rapid.Custom(func(t *rapid.T) (s timed.Set) {
		for _, id := range rapid.SliceOfN(rapid.IntRange(2, 6), 0, 5).Draw(t, "ids") {
			s.Add(timed.NodeID(id))
		}
		return s
	})
	rapid.Check(t, func(t *rapid.T) {
		m, now, alive := New(1, period, start), start, timed.Set{}
		t.Repeat(map[string]func(*rapid.T){
			"hears": func(t *rapid.T) {
				alive = some.Draw(t, "alive")
				m.SetAlive(now, alive)
			},
			"is told": func(t *rapid.T) {
				for id := range some.Draw(t, "members").All() {
					m.HandleMembers(now, members(id))
				}
			},
			"looks up": func(t *rapid.T) {
				var found []netip.AddrPort
				for id := range some.Draw(t, "found").All() {
					found = append(found, address(id))
				}
				m.HandleCandidates(now, found)
			},
			"works": func(t *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(t, "turns") {
					now = timed.Later(now, m.Deadline())
					for _, e := range m.HandleTimeout(now, nil) {
						require.False(t, e.Kind == Greet && alive.Has(e.Peer), "greets node %v, which is alive", e.Peer)
					}
					require.Greater(t, m.Deadline(), now)
				}
			},
		})
	})
}
