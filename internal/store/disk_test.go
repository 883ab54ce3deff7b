package store

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/replicate"
)

// A node whose disk is full applies nothing, so its status does not say that it takes commands,
// and what it cannot answer names the disk.
func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startGroup(t, kv.Partitionable, 1, 1)
		defer g.close()
		s := g.stores[0]
		describe := func() (a api.KVStatus) {
			s.Describe(&a)
			return a
		}
		waits := &replicate.NotAcceptingError{Situation: replicate.Working}
		unknown := &failaware.UnknownOutcomeError{Reason: failaware.NotAwaited}
		require.True(t, describe().Accepting)

		full := errors.New("begin kv/log-0000000000000181: no space left on device")
		s.noteEvent(replicate.Disk{Err: errors.Join(full, full)}) // writing fails, and tidying up
		require.False(t, describe().Accepting)
		require.False(t, s.Counts().Accepting)
		require.Equal(t, "begin kv/log-0000000000000181: no space left on device", describe().Disk)
		require.EqualError(t, s.explain(waits), "this node waits for room to keep its state: begin kv/log-0000000000000181: no space left on device")
		require.ErrorContains(t, s.explain(unknown), "; this node waits for room to keep its state: begin kv/log-0000000000000181: no space")

		s.noteEvent(replicate.Disk{})
		require.True(t, describe().Accepting)
		require.True(t, s.Counts().Accepting)
		require.Empty(t, describe().Disk)
		require.NotContains(t, s.explain(waits).Error(), "room")
		require.NotContains(t, s.explain(unknown).Error(), "room")
	})
}
