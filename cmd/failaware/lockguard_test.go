package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/hwclock"
)

// told returns what a guard reads: numbers, and then what r has.
func told(r io.Reader, numbers ...uint64) io.Reader {
	var b []byte
	for _, x := range numbers {
		b = binary.BigEndian.AppendUint64(b, x)
	}
	return io.MultiReader(bytes.NewReader(b), r)
}

func TestAGuardKillsWhenLockIsGoneOrLate(t *testing.T) {
	clock := hwclock.Of(func() int64 { return int64(time.Hour) })
	kills := make(chan int, 10)
	kill := func(group int) { kills <- group }
	end := strings.NewReader("")

	require.NoError(t, runGuard(told(end, 77, uint64(2*time.Hour)), clock, kill))
	require.Equal(t, 77, <-kills, "lock is gone")
	require.Empty(t, kills)

	require.NoError(t, runGuard(end, clock, kill))
	require.Empty(t, kills, "the command was never started")
	for _, group := range []uint64{0, 1, 1 << 63} {
		require.Error(t, runGuard(told(end, group), clock, kill))
		require.Empty(t, kills, "every process, or this one's group")
	}

	lives, lock := io.Pipe()
	done := make(chan error)
	go func() { done <- runGuard(told(lives, 78, uint64(time.Hour)), clock, kill) }()
	require.Equal(t, 78, <-kills, "the hold is over")
	require.NoError(t, lock.Close())
	require.Equal(t, 78, <-kills, "lock is gone")
	require.NoError(t, <-done)
}
