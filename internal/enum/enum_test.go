package enum

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestName(t *testing.T) {
	type kind uint8
	names := []string{1: "one", 3: "three"}
	require.Equal(t, "one", Name(kind(1), names...))
	require.Equal(t, "three", Name(kind(3), names...))
	require.Equal(t, "kind 0", Name(kind(0), names...), "a gap")
	require.Equal(t, "kind 255", Name(kind(255), names...), "beyond the last")
}
