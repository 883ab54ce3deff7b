//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Systemd orders the messages about a reload by its own clock, in microseconds.
func TestTheTimeOfAReload(t *testing.T) {
	now := func() int64 {
		var at unix.Timespec
		require.NoError(t, unix.ClockGettime(unix.CLOCK_MONOTONIC, &at))
		return at.Nano() / 1000
	}
	var us int64
	before := now()
	_, err := fmt.Sscanf(reloadingState(), "RELOADING=1\nMONOTONIC_USEC=%d", &us)
	require.NoError(t, err)
	require.GreaterOrEqual(t, us, before)
	require.LessOrEqual(t, us, now())
}

// A node that leaves is ended at once by a signal that a person sends after the first one,
// and not by one that has come twice.
func TestASignalThatComesTwiceAsksOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		signals, ended := make(chan os.Signal), 0
		go hurry(ctx, signals, func() { ended++ })
		signals <- syscall.SIGTERM
		time.Sleep(sameRequest - 1)
		signals <- syscall.SIGINT
		synctest.Wait()
		require.Zero(t, ended)
		time.Sleep(time.Nanosecond)
		signals <- syscall.SIGHUP
		synctest.Wait()
		require.Zero(t, ended)
		signals <- syscall.SIGTERM
		synctest.Wait()
		require.Equal(t, 1, ended)
		cancel()
		synctest.Wait() // it has ended, or the bubble would be stuck
	})
}
