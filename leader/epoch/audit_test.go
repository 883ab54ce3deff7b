package epoch

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Each invariant is noticed when it is broken, and none before.
func TestAudits(t *testing.T) {
	for invariant, breakIt := range map[string]func(*Machine){
		"an older epoch": func(m *Machine) { m.state.Epoch-- },
		"stopped voting": func(m *Machine) { m.state.Phase = Noted },
	} {
		m := &Machine{state: State{Epoch: 3, Phase: Wedged}}
		require.Empty(t, m.Audit())
		require.Empty(t, m.Audit())
		breakIt(m)
		require.Contains(t, m.Audit(), invariant)
	}
}
