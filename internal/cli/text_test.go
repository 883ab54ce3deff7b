package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlainTextCommandsNoTerminal(t *testing.T) {
	for text, want := range map[string]string{
		"größer, 大\tand\nso on\n": "größer, 大\tand\nso on\n",
		"\x1b[2J":                 `\x1b[2J`,
		"a\r\u009b2J\x7f":         `a\r\u009b2J\x7f`,
		"left\u202eto":            `left\u202eto`,
		"\xff and \ufffd":         "\\xff and \ufffd",
		"it's \"\a\"":             `it's "\a"`,
	} {
		require.Equal(t, want, Plain(text))
	}
}
