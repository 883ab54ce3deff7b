package api

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/trust"
	"github.com/failaware/failaware/internal/trust/trusttest"
)

// A socket that another user has put where anybody can put one is asked nothing.
func TestASquattedSocketIsAskedNothing(t *testing.T) {
	trusttest.NeedRoot(t)
	dir, err := os.MkdirTemp("", "api")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	require.NoError(t, os.Chmod(dir, 0o777|os.ModeSticky))
	path := filepath.Join(dir, "s")
	l := trusttest.Listen(t, path, trusttest.Nobody)
	read := make(chan int)
	go func() {
		n := 0
		if c, err := l.Accept(); err == nil {
			n, _ = c.Read(make([]byte, 1))
		}
		read <- n
	}()
	err = NewClient(Address{Socket: path}, "").Get(t.Context(), "/v1/leader", &Leader{})
	require.ErrorIs(t, err, trust.ErrUntrusted)
	_, forged := err.(*ForgedError)
	require.True(t, forged, "%T", err)
	require.ErrorContains(t, err, path)
	require.Zero(t, <-read)
}

// A client is told of the user of the node that has answered last.
func TestTheUserOfANodeIsOfTheLastConnection(t *testing.T) {
	trusttest.NeedRoot(t)
	dir, err := os.MkdirTemp("", "api")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	require.NoError(t, os.Chown(dir, trusttest.Nobody, 0))
	require.NoError(t, os.Chmod(dir, 0o755))
	path := filepath.Join(dir, "s")
	c := NewClient(Address{Socket: path}, "")
	for _, user := range []int{trusttest.Nobody, 0} {
		l := trusttest.Listen(t, path, user)
		go func() {
			_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { Answer(w, http.StatusOK, Leader{}) }))
		}()
		require.NoError(t, c.Get(t.Context(), "/v1/leader", &Leader{}))
		require.Equal(t, user, c.Other())
		c.http.CloseIdleConnections()
		require.NoError(t, l.Close()) // and the socket's file is gone
	}
}
