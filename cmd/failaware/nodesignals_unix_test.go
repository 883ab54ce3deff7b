//go:build unix

package main

import (
	"context"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

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
