package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
)

// onlyStrictLasts shows every kind of delivery to a member that has the state of its view. All
// members have only a regular Strict one and what is before it: so only that lasts, and only
// that is sure for reads without messages, whatever the state is kept by.
func onlyStrictLasts(t testing.TB) {
	for _, cfg := range []Config{{}, {Quorum: majority(1, 2, 3)}, {Stored: true}, {Stored: true, Quorum: majority(1, 2, 3)}} {
		w := newWorld(3, cfg)
		w.install(0, 1, 2)
		w.op(0, "a")
		m := w.nodes[0].r
		m.lastsTo = m.last + 1 // on all disks
		for _, a := range []broadcast.Atomicity{broadcast.WeakAtomicity, broadcast.StrongAtomicity, broadcast.StrictAtomicity} {
			for _, transitional := range []bool{false, true} {
				d := broadcast.Delivery{ID: broadcast.ID{Class: broadcast.ClassOrdered}, Options: broadcast.Options{Order: broadcast.TotalOrder, Atomicity: a},
					Transitional: transitional, Position: m.seen + 1}
				all := a == broadcast.StrictAtomicity && !transitional
				require.Equal(t, all && (cfg.Quorum != nil || cfg.Stored), m.lasts(&d), "%v, transitional: %v", a, transitional)
				m.noteSeen(&d)
				require.Equal(t, all, m.Extent().Whole > d.Position, "%v, transitional: %v", a, transitional)
				require.Equal(t, d.Position, m.Extent().Seen)
			}
		}
		m.noteSeen(&broadcast.Delivery{ID: broadcast.ID{Class: broadcast.ClassOrdered}, Options: broadcast.Options{Atomicity: broadcast.StrictAtomicity}, Position: m.seen + 1})
		x := m.Extent()
		require.Equal(t, m.seen+1, x.Whole)
		if cfg.Stored {
			require.Equal(t, m.lastsTo, x.Sure, "a reader relies on what no disk has")
			require.Less(t, x.Sure, x.Whole)
		} else {
			require.Equal(t, x.Whole, x.Sure)
		}
	}
}

func TestOnlyWhatIsStrictLasts(t *testing.T) { onlyStrictLasts(t) }
