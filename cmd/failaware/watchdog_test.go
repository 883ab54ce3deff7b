package main

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/cli/clitest"
)

// A node that works is fed three times as often as it must be, one that hangs is not, and
// one that goes on is fed again.
func TestOnlyANodeThatWorksIsFed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done, fed := make(chan struct{}), 0
		var works atomic.Bool
		go feedWhile(done, 3*time.Second, works.Load, func() { fed++ })
		for _, x := range []struct {
			works bool
			fed   int
		}{{true, 5}, {false, 5}, {true, 10}} {
			works.Store(x.works)
			time.Sleep(5*time.Second + time.Millisecond)
			synctest.Wait()
			require.Equal(t, x.fed, fed)
		}
		close(done)
		time.Sleep(time.Minute)
		require.Equal(t, 10, fed)
	})
}

// The watchdog of a node whose loop takes no turns is not fed, and the log says so.
func TestANodeThatHangsIsNotFed(t *testing.T) {
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(shortDir(t), "notify"), Net: "unixgram"})
	if err != nil && runtime.GOOS == "windows" {
		t.Skip(err)
	}
	require.NoError(t, err)
	defer c.Close()
	t.Setenv("NOTIFY_SOCKET", c.LocalAddr().String())
	var stalled sync.Mutex
	n, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Listen: "127.0.0.1:0", OnPublish: func(failaware.Published) {
		stalled.Lock()
		defer stalled.Unlock()
	}})
	require.NoError(t, err)
	defer n.Close()
	fed := func() bool {
		require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Millisecond)))
		_, err := c.Read(make([]byte, 100))
		return err == nil
	}
	said := &clitest.Buffer{}
	r := &nodeRun{node: n, log: hclog.New(&hclog.LoggerOptions{Output: said})}
	stalled.Lock()
	goOn := sync.OnceFunc(stalled.Unlock)
	defer goOn()
	for n.Status().Age >= 0 { // until it publishes the next time
	}
	go r.feedWatchdog(3 * time.Millisecond)
	for !strings.Contains(said.String(), "the loop takes no turns") {
		require.False(t, fed(), said)
	}
	require.False(t, fed())
	goOn()
	for !fed() { // it goes on
		require.NoError(t, t.Context().Err())
	}
}

// The watchdog is of this process alone, and a time that makes no sense is none. One that is
// longer than needed is a time all the same.
func TestTheTimeOfTheWatchdog(t *testing.T) {
	own := strconv.Itoa(os.Getpid())
	for _, x := range []struct {
		us, pid string
		want    time.Duration
	}{
		{"", "", 0}, {"x", "", 0}, {"0", "", 0}, {"-1", own, 0}, {"3000000", "1", 0},
		{"3000000", own, 3 * time.Second}, {"3000000", "", 3 * time.Second},
		{"3600000000", "", time.Hour}, {"7200000000", "", time.Hour}, {"9223372036854775807", "", time.Hour},
	} {
		t.Setenv("WATCHDOG_USEC", x.us)
		t.Setenv("WATCHDOG_PID", x.pid)
		require.Equal(t, x.want, watchdogTime(), "%+v", x)
	}
}

// Systemd names a socket by a path, or by an abstract name of Linux.
func TestSocketsOfSystemd(t *testing.T) {
	path := filepath.Join(shortDir(t), "notify")
	names := map[string]string{path: path}
	if runtime.GOOS == "linux" {
		names["@"+path] = "\x00" + path
	}
	for named, name := range names {
		c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
		if err != nil && runtime.GOOS == "windows" {
			t.Skip(err)
		}
		require.NoError(t, err)
		t.Setenv("NOTIFY_SOCKET", named)
		notifySystemd("READY=1")
		require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Minute)))
		b := make([]byte, 100)
		n, err := c.Read(b)
		require.NoError(t, err)
		require.Equal(t, "READY=1", string(b[:n]))
		require.NoError(t, c.Close())
	}
	for _, named := range []string{"", "/nonexistent"} {
		t.Setenv("NOTIFY_SOCKET", named)
		notifySystemd("READY=1")
	}
}
