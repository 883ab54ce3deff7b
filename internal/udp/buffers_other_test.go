//go:build !linux

package udp

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A system that refuses a large buffer gives a smaller one.
func TestABufferIsAsLargeAsTheSystemAllows(t *testing.T) {
	given := 0
	set := func(size int) error {
		if size > 1_864_135 {
			return syscall.ENOBUFS
		}
		given = size
		return nil
	}
	enlarge(set, 4<<20)
	require.Equal(t, 1<<20, given)
	enlarge(set, 0)
	require.Equal(t, 1<<20, given, "the choice of the system stays")
	enlarge(func(int) error { return syscall.ENOBUFS }, 4<<20)
}
