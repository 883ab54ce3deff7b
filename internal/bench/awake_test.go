package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/awake"
)

func TestProcessorsAreKeptAwakeWhileItLasts(t *testing.T) {
	if err := MayKeepAwake(); err != nil {
		t.Skip(err)
	}
	require.Zero(t, requests(t))
	failed := errors.New("failed")
	require.ErrorIs(t, keepAwake(func() error {
		require.Equal(t, 1, requests(t))
		return failed
	}), failed)
	require.Zero(t, requests(t))
}

func TestBroadcastAwake(t *testing.T) {
	if testing.Short() {
		t.Skip("several runs of several processes")
	}
	if err := new(usage).ofProcess(); err != nil {
		t.Skip(err)
	}
	opt := BroadcastOptions{Members: []int{2}, Sizes: []int{64}, Order: failaware.TotalOrder,
		Atomicities: []failaware.Atomicity{failaware.WeakAtomicity}, All: []bool{false}, Loads: []CastLoadName{LoadAwake},
		Setup: setup(t), For: time.Second}
	if missing := MayKeepAwake(); missing != nil {
		_, err := Broadcast(t.Context(), opt)
		require.ErrorContains(t, err, missing.Error())
		return
	}
	r := broadcastUndisturbed(t, opt, func(c *BroadcastCell) bool { return measured(&c.Awake) && c.Floors.Awake.Latency.Count > 0 })
	c := &r.Cells[0]
	require.Positive(t, c.Awake.Latency.Count)
	require.Positive(t, c.Floors.Awake.Latency.Count)
	require.Zero(t, c.Slow)
	require.Zero(t, c.Floors.Slow)
	var b strings.Builder
	require.NoError(t, r.Text(&b))
	require.Contains(t, b.String(), "awake p50")
}

// requests counts this process's requests to the kernel.
func requests(t *testing.T) (count int) {
	t.Helper()
	descriptors := fmt.Sprintf("/proc/%d/fd", os.Getpid())
	list, err := os.ReadDir(descriptors)
	require.NoError(t, err)
	for _, d := range list {
		if to, err := os.Readlink(filepath.Join(descriptors, d.Name())); err == nil && to == awake.Device {
			count++
		}
	}
	return count
}
