package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
)

// A standard input that is too large is refused. A part of it is never taken for the whole.
func TestInputIsWhole(t *testing.T) {
	const most = 10
	for size := range most + 3 {
		cmd := &cobra.Command{}
		text := strings.Repeat("x", size)
		cmd.SetIn(strings.NewReader(text))
		b, err := inputValue(cmd, "-", most)
		if size > most {
			require.ErrorContains(t, err, "the standard input is larger than 10 bytes", "%d bytes", size)
			require.Empty(t, b)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, text, string(b))
	}
}

// The environment names the address of a node and the file of its token, unless flags do.
func TestTheTokenOfTheEnvironment(t *testing.T) {
	var shown string
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		shown = q.Header.Get("Authorization")
		api.Answer(w, http.StatusOK, api.Leader{})
	}))
	defer node.Close()
	file := func(name string) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(name+"\n"), 0o600))
		return path
	}
	t.Setenv("FAILAWARE_ADDR", node.URL)
	t.Setenv("FAILAWARE_TOKEN_FILE", file("of-the-environment"))
	for want, g := range map[string]*globals{
		"Bearer of-the-environment":  {},
		"Bearer of-the-command-line": {token: file("of-the-command-line")},
	} {
		c, err := g.client()
		require.NoError(t, err)
		require.NoError(t, c.Get(t.Context(), "/v1/leader", &api.Leader{}))
		require.Equal(t, want, shown)
	}
}
