package store

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// What an operator reads about a full disk has one line, and no names of the library.
func TestAFullDiskIsToldInOneLine(t *testing.T) {
	require.Empty(t, roomText(nil))
	full := errors.New("write kv/spool: no space left on device")
	require.Equal(t, full.Error(), roomText(errors.Join(full, errors.New("close kv/spool: no space left on device"))))
	require.Equal(t, full.Error(), roomText(fmt.Errorf("replicate: Spool: %w", full)))
}
