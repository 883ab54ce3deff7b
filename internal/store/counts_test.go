package store

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/kv"
)

// Every kind of event is counted from the start: an alert on a kind that comes for the first
// time needs the 0 before it.
func TestEveryKindOfEventIsCountedFromTheStart(t *testing.T) {
	text, err := os.ReadFile("../../replicate/events.go")
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)^func \((\w+)\) event\(\)`).FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, found)
	synctest.Test(t, func(t *testing.T) {
		g := startGroup(t, kv.Partitionable, 1, 1)
		defer g.close()
		counted := g.stores[0].Counts().Events
		for _, f := range found {
			require.Contains(t, counted, strings.ToLower(f[1]))
		}
		require.Len(t, counted, len(found))
		require.Zero(t, counted["diverged"])
		require.NotZero(t, counted["settled"])
	})
}
