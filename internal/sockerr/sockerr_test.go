package sockerr

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// failed returns the error of package net for an error of the system.
func failed(errno syscall.Errno) error {
	return fmt.Errorf("here: %w", &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", errno)})
}

func TestErrorsOfWindowsHaveTheirUsualNames(t *testing.T) {
	require.Equal(t, syscall.EADDRINUSE, Of(failed(10048)))
	require.Equal(t, syscall.ECONNREFUSED, Of(failed(10061)))
	for number, usual := range winsock {
		require.Equal(t, usual, Of(failed(number)))
		require.Equal(t, usual, Of(failed(usual)), "the other systems have that one")
	}
	require.Equal(t, syscall.ENOTDIR, Of(failed(syscall.ENOTDIR)))
	require.Zero(t, Of(nil))
	require.Zero(t, Of(errors.New("of no system")))
}
