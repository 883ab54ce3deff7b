package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTerminalsThatOnlyPrintLines(t *testing.T) {
	for name, dumb := range map[string]bool{"dumb": true, "dumb-emacs-ansi": true, "xterm-256color": false, "": false} {
		require.Equal(t, dumb, isDumb(name), name)
	}
}
