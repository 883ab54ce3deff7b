package loop

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// withoutFiles lets the process open no more files until the function that it returns is called.
func withoutFiles(t testing.TB) (restore func()) {
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 0, Max: limit.Max}))
	return func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)) }
}
