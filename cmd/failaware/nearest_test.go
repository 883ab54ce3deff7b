package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Two letters in the wrong order are one typing error, and a flag may be taken for a command.
func TestSwappedLettersAreRecognized(t *testing.T) {
	for _, c := range []struct {
		args  []string
		there string
	}{
		{[]string{"kv", "gte", "x"}, "; there is get"},
		{[]string{"satus"}, "; there is status"},
		{[]string{"members", "--hlep"}, "; there is --help"},
		{[]string{"version"}, "--version\n"},
	} {
		code, _, stderr := invoke(c.args...)
		require.Equal(t, 2, code, c.args)
		require.Contains(t, stderr, c.there, c.args)
	}
	_, _, stderr := invoke("xyzzy")
	require.NotContains(t, stderr, "there is")
}
