package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/leftover"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// stays names the fields of a Replica that do not belong to the view.
var stays = []string{
	"cfg", "now", "out", "standing", "lineage", "ordered", "mates", "base", "basedAt", "old", "discarded", "remembers",
	"promised", "hasTo", "heard", "queue", "queued", "load", "held", "asked", "incoming", "spare", "Invalid",
	"nextAt", // the rate is one for all views
	"inputs", // this node says it before it counts
}

// beginsAnew requires that nothing of a view is left when the next begins.
func beginsAnew(t testing.TB) {
	v := &membership.View{ID: membership.ViewID{Sequence: 9, Leader: 1, Boot: incarnation(0).Boot}, Set: timed.SetOf(1, 2)}
	for i := range 2 {
		v.Members = append(v.Members, membership.Member{Incarnation: incarnation(i)})
	}
	cfg := Config{Self: incarnation(0)}
	m, fresh := New(cfg, Earlier{}), New(cfg, Earlier{})
	leftover.Fill(m, stays...)
	m.begin(v)
	fresh.begin(v)
	require.Nil(t, leftover.Differ(m, fresh, stays...), "left over")
}

func TestAViewBeginsAnew(t *testing.T) { beginsAnew(t) }
