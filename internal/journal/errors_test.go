//go:build unix

package journal

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErrorsNameTheFileOnce(t *testing.T) {
	of := func(errno syscall.Errno) error { return &fs.PathError{Op: "write", Path: "kv/log-1", Err: errno} }
	require.EqualError(t, about("write", "kv/log-1", of(syscall.EROFS)), "write kv/log-1: read-only file system")
	full := about("write", "kv/log-1", classify(of(syscall.ENOSPC)))
	require.EqualError(t, full, "write kv/log-1: the disk is full: no space left on device")
	require.ErrorIs(t, full, ErrFull)
	require.ErrorIs(t, full, syscall.ENOSPC)
}
