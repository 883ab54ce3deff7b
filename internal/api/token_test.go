package api

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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

// tokensAreLong reads tokens of all lengths. A short one could be guessed, and so could one that a
// node has made of few random bytes.
func tokensAreLong(t testing.TB) {
	path := filepath.Join(t.TempDir(), "token")
	for length := range mostToken + 4 {
		token := strings.Repeat("x", length)
		require.NoError(t, os.WriteFile(path, []byte(token+"\n"), 0o600))
		got, err := ReadToken(path)
		if length < leastToken || length > mostToken {
			require.ErrorContains(t, err, "one word of 16 to 256 bytes", "%d bytes", length)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, token, got)
	}
	made := map[byte]bool{}
	for range 100 {
		b, err := hex.DecodeString(NewToken())
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(b), 16)
		made[b[len(b)-1]] = true
	}
	require.Greater(t, len(made), 10, "the last byte is random, too")
}

func TestATokenIsLong(t *testing.T) { tokensAreLong(t) }
