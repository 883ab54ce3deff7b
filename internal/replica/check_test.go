package replica

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// anyOrderCompares gives a member the hashes of three members, one of which differs, in every
// order. It tells of each member with another hash than its own, once, and of no other.
func anyOrderCompares(t testing.TB) {
	at := Point{membership.ViewID{Sequence: 5, Leader: 1, Boot: 7}, 14}
	for first := range 3 {
		for second := range 3 {
			for wrong := range 3 {
				if first == second {
					continue
				}
				v := &membership.View{ID: at.View}
				for i := range 3 {
					v.Set.Add(incarnation(i).Node)
					v.Members = append(v.Members, membership.Member{Incarnation: incarnation(i)})
				}
				m := New(Config{Self: incarnation(0)}, Earlier{})
				m.view = v
				for _, from := range []int{first, second, 3 - first - second, first, second} {
					value := uint64(1)
					if from == wrong {
						value = 2
					}
					m.takeHash(incarnation(from).Node, at, value)
				}
				var told []timed.NodeID
				for _, e := range m.out {
					require.Equal(t, EventDiverged, e.Event.Kind)
					require.NotEqual(t, e.Event.Ours, e.Event.Theirs)
					told = append(told, e.Event.Member)
				}
				slices.Sort(told)
				want := []timed.NodeID{incarnation(wrong).Node}
				if wrong == 0 {
					want = []timed.NodeID{2, 3}
				}
				require.Equal(t, want, told, "%d, then %d; %d is wrong", first, second, wrong)
			}
		}
	}
}

func TestHashesAreComparedInAnyOrder(t *testing.T) { anyOrderCompares(t) }
