package store

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/replicate"
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
		require.Contains(t, counted, lossy)
		require.Len(t, counted, len(found)+1)
		require.Zero(t, counted["diverged"])
		require.NotZero(t, counted["settled"])
		clear(counted)
		require.NotZero(t, g.stores[0].Counts().Events["settled"], "what was told belongs to who asked")
	})
}

// A beginning after which acknowledged operations may be gone is counted on its own.
func TestLossyBeginningsAreCounted(t *testing.T) {
	s := &Store{}
	s.counted.events = noEvents()
	s.noteEvent(replicate.Begun{})
	require.Zero(t, s.counted.events[lossy])
	s.noteEvent(replicate.Begun{Lossy: true})
	require.EqualValues(t, 1, s.counted.events[lossy])
	require.EqualValues(t, 2, s.counted.events["begun"])
}

// A build that compares states in another way is no fault of anybody's settings: an upgrade
// fires no alert.
func TestOtherBuildsAreNoFault(t *testing.T) {
	var said []replicate.Event
	s := &Store{cfg: Config{OnEvent: func(e replicate.Event) { said = append(said, e) }}}
	s.counted.events = noEvents()
	s.noteEvent(replicate.Differs{Member: 2, Setting: "HashEvery", Here: "4099", There: "4096"})
	require.Zero(t, s.counted.events["differs"])
	require.Len(t, said, 1)
	require.Equal(t, "node 2 is of another build: until all nodes are of one, their states are not compared", said[0].String())
	s.noteEvent(replicate.Differs{Member: 2, Setting: "Storage"})
	require.EqualValues(t, 1, s.counted.events["differs"])
	require.IsType(t, replicate.Differs{}, said[1])
	s.cfg.OnEvent = nil
	s.noteEvent(replicate.Differs{Member: 2, Setting: "HashEvery"})
}

// Operations that wait for a reader are counted, and the directory of the state is told.
func TestWhatWaitsIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		g := startWith(t, Config{Kind: kv.Partitionable, Dir: dir, Trace: true}, 1, 1)
		s, waiting := g.stores[0], Counts{}
		require.NotNil(t, s.app.keep)
		s.replica.Read(func() {
			for _, key := range []string{"a", "b", "c"} {
				go func() { _, _ = s.Submit(within(t, time.Minute), kv.Command{Op: kv.Put, Key: key}, api.Attempt{}) }()
			}
			time.Sleep(time.Second)
			waiting = s.Counts()
		})
		require.GreaterOrEqual(t, waiting.Behind, 2, "besides the one whose turn it is")
		require.Zero(t, waiting.Keys)
		g.settle()
		require.Zero(t, s.Counts().Behind)
		require.Equal(t, 3, s.Counts().Keys)
		var a api.KVStatus
		s.Describe(&a)
		require.Equal(t, dir, a.Storage)
		g.close()
	})
}
