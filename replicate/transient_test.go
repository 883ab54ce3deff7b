package replicate_test

import (
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// seldom is an application that fails to write its state down a few times.
type seldom struct {
	words
	fails atomic.Int64
}

func (s *seldom) Snapshot(w io.Writer) error {
	if s.fails.Add(-1) >= 0 {
		return errors.New("not now")
	}
	return s.words.Snapshot(w)
}

// One error of Snapshot does not keep a joiner waiting until the view changes.
func TestAnErrorOfSnapshotPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 3})
		cast := failaware.BroadcastConfig{}
		n, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Transport: net.Transport(), Broadcast: &cast})
		require.NoError(t, err)
		app := &seldom{}
		r, err := replicate.Start(n, app, replicate.Config{})
		require.NoError(t, err)
		defer r.Close()
		time.Sleep(n.Bounds().Ready + n.Bounds().View)
		_, err = r.Submit(t.Context(), []byte("one"))
		require.NoError(t, err)
		app.fails.Store(3)
		joiner := start(t, failaware.Config{ID: 2, Transport: net.Transport(), Broadcast: &cast}, replicate.Config{}, &words{})
		time.Sleep(n.Bounds().Ready + n.Bounds().View + 10*time.Second)
		require.Equal(t, replicate.Working, joiner.Progress().Situation)
		require.Equal(t, []string{"one"}, joiner.latest(t))
	})
}
