package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The commands of handlers get the path of the node's socket, also in other directories, and
// nothing if the node has no socket.
func TestTheSocketForHandlers(t *testing.T) {
	t.Chdir(shortDir(t))
	abs := func(name string) string {
		path, err := filepath.Abs(name)
		require.NoError(t, err)
		return path
	}
	for given, want := range map[string]string{
		"none": "", "127.0.0.1:7070": "", "[::1]:7070": "",
		"api": abs("api"), "./api": abs("api"), "unix:api": abs("api"), abs("api"): abs("api"), "./none": abs("none"),
	} {
		require.Equal(t, want, (&nodeConfig{api: given}).handlerAPI(), given)
	}
}
