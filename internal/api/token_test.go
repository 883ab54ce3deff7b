package api

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/trust"
)

// tokensAreSecret has a node find its token in a file of every mode. It takes none that others
// may read or write: they could do to the node whatever its users can.
func tokensAreSecret(t testing.TB) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes")
	}
	for mode := os.FileMode(0o600); mode <= 0o677; mode++ {
		path := filepath.Join(t.TempDir(), "token")
		made, err := MakeToken(path)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(path, mode))
		again, err := MakeToken(path)
		if mode&0o066 == 0 {
			require.NoError(t, err)
			require.Equal(t, made, again)
			continue
		}
		require.ErrorIs(t, err, trust.ErrUntrusted, "%v", mode)
	}
}

func TestATokenIsSecret(t *testing.T) { tokensAreSecret(t) }
