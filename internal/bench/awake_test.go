package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/awake"
)

// All nodes of the measurement run with it, or there is no measurement.
func TestBroadcastAwake(t *testing.T) {
	if err := new(usage).ofProcess(); err != nil {
		t.Skip(err)
	}
	request, missing := awake.Hold()
	require.NoError(t, request.Close())
	start := launcher(t)
	var nodes []*exec.Cmd
	holders := 0
	r, err := Broadcast(t.Context(), BroadcastOptions{Members: []int{2}, Sizes: []int{64}, Order: failaware.TotalOrder,
		Atomicities: []failaware.Atomicity{failaware.WeakAtomicity}, All: []bool{false}, Loads: []CastLoadName{LoadSlow},
		Awake: true, Preset: "patient", Timing: patient(), For: 100 * time.Millisecond, Limit: time.Minute,
		Launch: func() *exec.Cmd {
			nodes = append(nodes, start())
			return nodes[len(nodes)-1]
		},
		Progress: func(string, ...any) { // the nodes still run
			for _, n := range nodes {
				holders += holds(t, n.Process.Pid)
			}
		}})
	if missing != nil {
		require.ErrorContains(t, err, missing.Error())
		return
	}
	require.NoError(t, err)
	require.Equal(t, 2, holders)
	require.True(t, r.Awake)
	var b strings.Builder
	r.Text(&b)
	require.Contains(t, b.String(), "kept from sleeping")
}

// holds counts the requests of a process to the kernel.
func holds(t *testing.T, pid int) (count int) {
	t.Helper()
	descriptors := fmt.Sprintf("/proc/%d/fd", pid)
	list, err := os.ReadDir(descriptors)
	if errors.Is(err, fs.ErrNotExist) { // one that carried the raw floor, and has ended
		return 0
	}
	require.NoError(t, err)
	for _, d := range list {
		if to, err := os.Readlink(filepath.Join(descriptors, d.Name())); err == nil && to == awake.Device {
			count++
		}
	}
	return count
}
