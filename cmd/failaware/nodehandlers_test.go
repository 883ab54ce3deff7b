package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The commands of handlers get the address of the node's API, also in other directories, and
// nothing if the node has none.
func TestTheAddressForHandlers(t *testing.T) {
	t.Chdir(shortDir(t))
	abs := func(name string) string {
		path, err := filepath.Abs(name)
		require.NoError(t, err)
		return path
	}
	for given, want := range map[string]string{
		"none": "", "127.0.0.1:7070": "http://127.0.0.1:7070", "[::1]:7070": "http://[::1]:7070",
		"api": abs("api"), "./api": abs("api"), "unix:api": abs("api"), abs("api"): abs("api"), "./none": abs("none"),
	} {
		c := nodeConfig{api: given, apiToken: "token"}
		addr, token := c.handlerAPI()
		require.Equal(t, want, addr, given)
		wanted := ""
		if c.tcpAPI() {
			wanted = abs("token")
		}
		require.Equal(t, wanted, token, given)
	}
}
