package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync/clockbound"
	"github.com/failaware/failaware/internal/cli/clitest"
	"github.com/failaware/failaware/internal/ntptest"
)

// ntpAddress is the node's address for NTP clients: at the port of NTP if it is free
// here, because some clients use no other.
func ntpAddress() string {
	usual := fmt.Sprintf("127.0.0.124:%d", ntptest.Port)
	c, err := net.ListenPacket("udp4", usual)
	if err != nil {
		return "127.0.0.1:0"
	}
	_ = c.Close()
	return usual
}

// A node with one reference serves its time, with a proven bound, to programs that know
// nothing of failaware. When the reference has ended and the bound has grown beyond the
// configured one, the same programs refuse the node.
func TestOtherProgramsAreToldUTCWhileItIsKnown(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for 20 s until a bound is too large; not with -short")
	}
	t.Parallel()
	const ahead = 250 * time.Millisecond // of the system's clock
	reference := ntptest.Start(t, ntptest.Behaviour{Shift: ahead, Dispersion: 50 * time.Microsecond})
	args := []string{"--id", "1", "-o", "json", "--ntp", reference.Addr(), "--ntp-listen", ntpAddress(),
		// The reference is asked every 16 s. A bound that grows by a thousandth
		// of the time stays within the limit until then, and not for much
		// longer.
		"--max-drift-ppb", "1000000", "--one-way-timeout", "4ms", "--max-utc-error", "20ms"}
	segment := filepath.Join(shortDir(t), "shm0")
	if runtime.GOOS == "linux" {
		args = append(args, "--clockbound", segment)
	}
	p := runProcess(t, args...)
	var s started
	for end := time.Now().Add(clitest.LongEnough); json.Unmarshal([]byte(p.out.String()), &s) != nil; time.Sleep(5 * time.Millisecond) {
		require.True(t, time.Now().Before(end) && p.running(), "the node does not start: %s", p.err.String())
	}
	server := netip.MustParseAddrPort(s.NTP)
	code, out, err := p.ask("wait", "synced", "--external", "--timeout", clitest.LongEnough.String())
	require.Zero(t, code, out+err)

	clients := func(says func(t *testing.T, offset time.Duration, err error)) {
		for name, ask := range ntptest.Clients {
			t.Run(name, func(t *testing.T) {
				offset, err := ask(t, server)
				says(t, offset, err)
			})
		}
	}
	clients(func(t *testing.T, offset time.Duration, err error) {
		require.NoError(t, err)
		require.InDelta(t, ahead.Seconds(), offset.Seconds(), 0.05)
	})
	look := segmentReader(t, segment, ahead)
	look(clockbound.Synchronized)

	reference.Set(ntptest.Behaviour{Silent: true})
	look(clockbound.FreeRunning)
	code, out, err = p.ask("wait", "synced", "--external", "--timeout", "10ms")
	require.Equal(t, 1, code, out+err)
	clients(func(t *testing.T, _ time.Duration, err error) { require.Error(t, err) })
	p.stop()
	require.Zero(t, p.end(t))
	look(clockbound.Unknown)
}

// running reports whether the node has not ended.
func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// segmentReader returns a function that waits for a status of a segment, and checks
// that the bounds contain the reference's time.
func segmentReader(t *testing.T, path string, ahead time.Duration) func(clockbound.Status) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return func(clockbound.Status) {}
	}
	r, err := clockbound.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return func(want clockbound.Status) {
		t.Helper()
		for end := time.Now().Add(clitest.LongEnough); ; time.Sleep(5 * time.Millisecond) {
			require.True(t, time.Now().Before(end), "never %v", want)
			before := time.Now().Add(ahead)
			i, err := r.Now()
			after := time.Now().Add(ahead)
			if err != nil {
				continue // it is being written
			}
			if i.Status == clockbound.Synchronized || i.Status == clockbound.FreeRunning {
				require.False(t, i.Earliest.After(after), "%v, from %v on, but it is %v", i.Status, i.Earliest, after)
				require.False(t, i.Latest.Before(before), "%v, until %v, but it is %v", i.Status, i.Latest, before)
			}
			if i.Status == want {
				return
			}
		}
	}
}
