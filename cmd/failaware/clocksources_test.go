package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli/clitest"
	"github.com/failaware/failaware/internal/ntptest"
)

// One of three servers lies by 10 s: the node is External within a bound, and the
// commands say which server it is.
func TestTheLiarIsNamedOnTheCommandLine(t *testing.T) {
	args := []string{"--id", "1", "--min-references", "3"}
	lies := ntptest.Start(t, ntptest.Behaviour{Shift: 10 * time.Second}).Addr()
	for _, addr := range []string{ntptest.Start(t, ntptest.Behaviour{}).Addr(), lies, ntptest.Start(t, ntptest.Behaviour{}).Addr()} {
		args = append(args, "--ntp", addr)
	}
	p := startProcess(t, args...)
	code, out, err := p.ask("wait", "synced", "--external", "--bound", "20ms", "--timeout", clitest.LongEnough.String(), "-o", "json")
	require.Zero(t, code, out+err)
	var clock api.Clock
	require.NoError(t, json.Unmarshal([]byte(out), &clock))
	require.LessOrEqual(t, *clock.UTCBoundNS, int64(20*time.Millisecond))

	code, out, err = p.ask("clock", "sources", "-o", "json")
	require.Zero(t, code, err)
	var sources api.Sources
	require.NoError(t, json.Unmarshal([]byte(out), &sources))
	require.Len(t, sources.Sources, 3)
	for _, s := range sources.Sources {
		want := "good"
		if s.Name == "ntp "+lies {
			want = "falseticker"
		}
		require.Equal(t, want, s.Verdict, s.Name)
	}
	code, out, err = p.ask("clock", "sources")
	require.Zero(t, code, err)
	require.Regexp(t, `ntp `+lies+` +1 +falseticker +(9\.\d+|10(\.\d+)?)s`, out)
}

// The clock is shown again and again, until the program is told to end.
func TestClockIsShownLive(t *testing.T) {
	p := startProcess(t, "--id", "1")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var shown, errors clitest.Buffer
	ended := make(chan int)
	go func() {
		ended <- program.Run(ctx, []string{"--addr", p.socket, "clock", "-w", "--every", "5ms", "-o", "ndjson"}, strings.NewReader(""), &shown, &errors)
	}()
	for end := time.Now().Add(clitest.LongEnough); strings.Count(shown.String(), "\n") < 3; time.Sleep(time.Millisecond) {
		require.True(t, time.Now().Before(end), "%s", errors.String())
	}
	cancel()
	require.Zero(t, <-ended)
	var last int64
	for line := range strings.Lines(shown.String()) {
		var clock api.Clock
		require.NoError(t, json.Unmarshal([]byte(line), &clock))
		require.Greater(t, clock.TimeNS, last)
		last = clock.TimeNS
	}
}
