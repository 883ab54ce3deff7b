package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/leftover"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// beginsAnew requires that nothing of a view is left when the next begins.
func beginsAnew(t testing.TB) {
	v := &membership.View{ID: membership.ViewID{Sequence: 9, Leader: 1, Boot: incarnation(0).Boot}, Set: timed.SetOf(1, 2)}
	for i := range 2 {
		v.Members = append(v.Members, membership.Member{Incarnation: incarnation(i)})
	}
	cfg := Config{Self: incarnation(0)}
	m, fresh := New(cfg, Earlier{}), New(cfg, Earlier{})
	leftover.Fill(&m.viewState)
	m.begin(v)
	fresh.begin(v)
	require.Nil(t, leftover.Differ(&m.viewState, &fresh.viewState), "left over")
}

func TestAViewBeginsAnew(t *testing.T) { beginsAnew(t) }
