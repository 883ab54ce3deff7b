package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns a writer of text to w that may contain words of a node, or of whatever has
// answered in its place: it writes them as [Plain] returns them.
func Text(w io.Writer) io.Writer { return textWriter{w} }

type textWriter struct{ w io.Writer }

func (t textWriter) Write(b []byte) (int, error) {
	if _, err := io.WriteString(t.w, Plain(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Plain returns a text with escapes, as in strings of Go, in the places of what a terminal may
// obey: of everything that cannot be printed, but for line breaks and tabs.
func Plain(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, obeyed) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case obeyed(r):
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

func obeyed(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }
