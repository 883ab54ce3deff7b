package replicate_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// notEqual are settings of which each node may have its own.
var notEqual = []string{"MaxSnapshot", "SnapshotMemory", "Spool", "ChunkBytes", "Rate", "Window", "MaxQueued", "OnMessage", "OnEvent"}

// equalSettings give the second of two nodes another value of a setting, and say what the
// first and the second call the difference.
var equalSettings = map[string]struct {
	change      func(t *testing.T, c *replicate.Config)
	here, there string
}{
	"HashEvery": {func(_ *testing.T, c *replicate.Config) { c.HashEvery = 7 }, "HashEvery is 0 here and 7 there", "HashEvery is 7 here and 0 there"},
	"Storage": {func(t *testing.T, c *replicate.Config) { c.Storage = t.TempDir() },
		"Storage is not set here and set there", "Storage is set here and not set there"},
}

// A new setting must be equal at all nodes, or not.
func TestEverySettingIsEqualOrNot(t *testing.T) {
	var all []string
	for f := range reflect.TypeFor[replicate.Config]().Fields() {
		all = append(all, f.Name)
	}
	require.ElementsMatch(t, all, append(slices.Collect(maps.Keys(equalSettings)), notEqual...))
}

// Both nodes name a setting that must be equal, with both values, in their first view.
func TestBothSidesNameADifference(t *testing.T) {
	for name, s := range equalSettings {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := memory.New(memory.Options{})
				var all [2]*holder
				for i := range all {
					var c replicate.Config
					if i == 1 {
						s.change(t, &c)
					}
					all[i] = start(t, failaware.Config{ID: failaware.NodeID(i + 1), Transport: net.Transport(), Broadcast: &failaware.BroadcastConfig{}}, c, &words{})
				}
				meet(all[0].Node())
				for i, text := range []string{s.here, s.there} {
					require.Len(t, all[i].differed(), 1)
					require.Contains(t, all[i].differed()[0], text)
					require.NoError(t, all[i].Close())
				}
			})
		})
	}
}
