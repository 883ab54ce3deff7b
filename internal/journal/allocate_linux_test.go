package journal_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/journal"
)

// Only Linux is asked to reserve room in a file.
func TestTheSystemIsAskedForRoom(t *testing.T) {
	require.ErrorIs(t, journal.SystemFile(open(t, os.DevNull)).Allocate(1), syscall.ENODEV)
}
