package main

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/beevik/ntp"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync/clockbound"
	"github.com/failaware/failaware/internal/cli/clitest"
)

// A node without references does not know UTC, and all its outputs report this.
func TestANodeTellsOtherProgramsThatItKnowsNoUTC(t *testing.T) {
	args := []string{"--id", "1", "--api", "none", "-o", "json", "--ntp-listen", "127.0.0.1:0"}
	path := filepath.Join(shortDir(t), "shm0")
	if runtime.GOOS == "linux" {
		args = append(args, "--clockbound", path)
	}
	p := runProcess(t, args...)
	var s started
	require.Eventually(t, func() bool { return json.Unmarshal([]byte(p.out.String()), &s) == nil }, clitest.LongEnough, 5*time.Millisecond)
	r, err := ntp.QueryWithOptions(s.NTP, ntp.QueryOptions{Timeout: clitest.LongEnough})
	require.NoError(t, err)
	require.Equal(t, ntp.LeapNotInSync, r.Leap)
	require.Error(t, r.Validate())
	if runtime.GOOS == "linux" {
		require.Equal(t, path, s.ClockBound)
		reader, err := clockbound.Open(path)
		require.NoError(t, err)
		defer reader.Close()
		require.Eventually(t, func() bool {
			i, err := reader.Now()
			return err == nil && i.Status == clockbound.Unknown
		}, clitest.LongEnough, time.Millisecond)
	}
	p.stop()
	require.Zero(t, p.end(t))
}
