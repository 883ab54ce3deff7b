package sim

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEpochsOfAWorld(t *testing.T) {
	_, err := Run(1, Options{Epochs: true})
	require.ErrorContains(t, err, "Epochs: needs a Quorum")
	c, err := CaseOf(3, Options{Quorum: "majority:1,2,3", Epochs: true, Duration: 5e9})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, c.Write(&b))
	again, err := ReadCase(&b)
	require.NoError(t, err)
	require.True(t, again.Options.Epochs)
	x, err := c.Run()
	require.NoError(t, err)
	y, err := again.Run()
	require.NoError(t, err)
	require.Equal(t, x.Hash, y.Hash)
}
