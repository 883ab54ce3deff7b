package chaos

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// A run leaves no namespace and no disk behind, even if it panics.
func TestARunThatPanicsTearsDown(t *testing.T) {
	if why := Missing(); why != "" {
		t.Skip(why)
	}
	o := Options{Seed: 1, Nodes: 3, Preset: "lan", For: 1, Dir: t.TempDir(), Launch: func() *exec.Cmd { panic("launch") }}
	require.PanicsWithValue(t, "launch", func() { _, _ = Run(t.Context(), o) })
	h := hosts{name: hostsName()}
	for _, space := range []string{h.hub(), h.of(1)} {
		_, err := os.Stat("/run/netns/" + space)
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	require.NoError(t, err)
	require.NotContains(t, string(mounts), o.Dir)
}
