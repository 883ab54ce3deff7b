package enum

import (
	"testing"

	"github.com/stretchr/testify/require"
)

type colour uint8

func (c colour) String() string { return Name(c, "red", "green") }

func TestUnmarshal(t *testing.T) {
	var c colour
	require.NoError(t, Unmarshal(&c, []byte("green"), 1))
	require.EqualValues(t, 1, c)
	require.EqualError(t, Unmarshal(&c, []byte("kind 2"), 1), `"kind 2" is no enum.colour`)
	require.Error(t, Unmarshal(&c, nil, 1))
	require.EqualValues(t, 1, c)
}
