package main

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
)

// Whoever can send a message or write a key must not command the terminal that prints it: not
// by the characters below the space, and not by those behind ASCII, which have the same effect.
func TestNoTextCommandsATerminal(t *testing.T) {
	for text, want := range map[string]string{
		"größer, 大":     "größer, 大",
		"\x1b[2J":       `"\x1b[2J"`,
		"a\u009b2J":     `"a\u009b2J"`,
		"del\x7f":       `"del\x7f"`,
		"left\u202eto":  `"left\u202eto"`,
		"two\nlines":    `"two\nlines"`,
		"\xff no UTF-8": `"\xff no UTF-8"`,
	} {
		require.Equal(t, want, printable([]byte(text)))
		got, err := deliveryText(&api.Delivery{Kind: "message", Sender: 2, Payload: base64.StdEncoding.EncodeToString([]byte(text))})
		require.NoError(t, err)
		require.Regexp(t, ` from node 2: `, got)
		require.Equal(t, want, got[len(got)-len(want):])
	}
}
