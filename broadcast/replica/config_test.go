package replica

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfigNamesWhatIsWrong(t *testing.T) {
	self := incarnation(0)
	require.NoError(t, Config{Self: self}.Validate(1<<20))
	for field, c := range map[string]Config{
		"MaxSnapshot": {Self: self, MaxSnapshot: -1},
		"ChunkBytes":  {Self: self, ChunkBytes: 1},
		"Rate":        {Self: self, Rate: 1},
		"Window":      {Self: self, ChunkBytes: 1000, Window: 999},
		"MaxQueued":   {Self: self, MaxQueued: 1},
		"HashEvery":   {Self: self, HashEvery: -1},
		"Self":        {},
	} {
		require.ErrorContains(t, c.Validate(1<<20), "replica: "+field+":")
	}
	require.ErrorContains(t, Config{Self: self}.Validate(1000), "MaxPayload 1000")
}
