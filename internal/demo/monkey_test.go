package demo

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/failaware/failaware/timed"
	"github.com/stretchr/testify/require"
)

// Random keys are pressed. The invariants hold, and after healing the nodes form one
// group again. MONKEY sets the duration.
func TestMonkey(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	during := 4 * time.Second
	if text := os.Getenv("MONKEY"); text != "" {
		var err error
		during, err = time.ParseDuration(text)
		require.NoError(t, err)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	w := newTestWorld(t, 5)
	require.NoError(t, w.StartAll())
	k := &controls{world: w}
	const keys = "112233445500ccCCssSSppkkxxhhr"
	for end := time.Now().Add(during); time.Now().Before(end); {
		k.press(rune(keys[random.IntN(len(keys))]))
		time.Sleep(time.Duration(random.Int64N(int64(60 * time.Millisecond))))
	}
	w.Heal()
	for id := range w.All().All() {
		w.Resume(id)
		require.NoError(t, w.Start(id))
	}
	began := time.Now()
	eventually(t, func() bool { _, _, _, ok := newStory(w).agree(w.All()); return ok })
	t.Logf("together after %v", time.Since(began))
	rounds, broken := w.watch.result()
	require.NotZero(t, rounds)
	require.Empty(t, broken)
	for id := range w.All().All() {
		require.NoError(t, w.Node(id).Err())
	}
	require.Equal(t, timed.SetOf(1, 2, 3, 4, 5), w.All())
}
