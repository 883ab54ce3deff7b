package store

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/replicate"
)

// The status of a node whose disk is full, and what it cannot answer, name the disk.
func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startGroup(t, kv.Partitionable, 1, 1)
		defer g.close()
		s := g.stores[0]
		const why = "begin kv/log-0000000000000181: no space left on device"
		full := errors.Join(errors.New(why), errors.New(why)) // writing fails, and tidying up

		var a api.KVStatus
		describe(replicate.Progress{Situation: replicate.Working, Full: full}, &a)
		require.Equal(t, why, a.Disk)
		waits := &replicate.NotAcceptingError{Situation: replicate.Working, Full: full}
		require.EqualError(t, s.explain(waits), "this node waits for room to keep its state: "+why)

		s.Describe(&a)
		require.True(t, a.Accepting)
		require.Empty(t, a.Disk)
		waits.Full = nil
		require.NotContains(t, s.explain(waits).Error(), "room")
	})
}
