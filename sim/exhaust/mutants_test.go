//go:build mutants

package exhaust

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

// Every bug is found, and the path to it is no violation without the bug.
func TestMutantsAreKilled(t *testing.T) {
	defer mutant.Set(mutant.None)
	for _, k := range kills {
		mutant.SetUnaudited(k.id)
		r, err := Run(context.Background(), k.opt)
		require.NoError(t, err)
		v := r.Violation
		if v == nil {
			t.Errorf("mutant %v survived %d states, exhausted %v", k.id, r.States, r.Exhausted)
			continue
		}
		require.Equal(t, k.check, v.Check, "mutant %v: %s", k.id, v.Detail)
		require.NotEmpty(t, v.Steps)
		again, _, err := Replay(v.Path)
		require.NoError(t, err)
		require.Equal(t, v.Detail, again.Detail, "mutant %v: the path leads there again", k.id)
		mutant.Set(mutant.None)
		sound, _, err := Replay(v.Path)
		if err == nil { // else without the bug there is no such path
			require.Nil(t, sound, "mutant %v", k.id)
		}
		t.Logf("%v: %s after %d states, %d messages", k.id, v.Check, r.States, messages(v.Path))
	}
}

// messages returns of how many messages on a path the fate was chosen.
func messages(p Path) (n int) {
	for _, c := range p.Choices {
		n += len(c.Fates)
	}
	return n
}
