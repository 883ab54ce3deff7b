package shape

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The bridges are programs of modules of their own that share only the client of the API, which is
// no place for how a program logs. So each has the same file, of which one is tested.
func TestTheBridgesLogTroubleAlike(t *testing.T) {
	read := func(bridge string) string {
		b, err := os.ReadFile(filepath.Join(root(t), "bridge", bridge, "trouble.go"))
		require.NoError(t, err)
		return string(b)
	}
	require.Equal(t, read("nats"), read("otel"))
}
