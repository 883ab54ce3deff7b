package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
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

// Keys are printed as values are, wherever they stand.
func TestNoKeyCommandsATerminal(t *testing.T) {
	const key, want = "left\u202eto", `"left\u202eto"`
	socket := storeThat(t, http.StatusOK, map[string]any{
		"list":      api.KVList{Items: []api.KVItem{{Key: key, Version: "1"}}},
		"conflicts": api.KVConflicts{Conflicts: []api.KVConflict{{ID: "00c0ffee00c0ffee.1", Key: key}}},
		"lease":     api.KVLease{Lease: "00c0ffee00c0ffee.2", Found: true, Keys: []string{"plain", key}},
	})
	for _, line := range []string{"list", "conflicts", "lease show 00c0ffee00c0ffee.2"} {
		code, out, stderr := invoke(append([]string{"--addr", socket, "kv"}, strings.Fields(line)...)...)
		require.Zero(t, code, stderr)
		require.Contains(t, out, want, line)
		require.NotContains(t, out, key, line)
	}
	for _, kind := range []string{"put", "delete"} {
		var out strings.Builder
		w := &watcher{g: &globals{output: cli.RegisterFormat(pflag.NewFlagSet("", 0))}, out: &out}
		require.NoError(t, w.change(api.KVChange{Kind: kind, Key: key}))
		require.Contains(t, out.String(), want)
		require.NotContains(t, out.String(), key)
	}
}

// Who answers in the place of a node must not command the terminal either, by whichever word.
func TestNoAnswerCommandsATerminal(t *testing.T) {
	const word, want = "a\x1b[2J\u009b\u202eb", `a\x1b[2J\u009b\u202eb`
	failing := storeThat(t, http.StatusServiceUnavailable, map[string]any{"list": api.Failure{Error: word}})
	code, _, stderr := invoke("--addr", failing, "kv", "list")
	require.NotZero(t, code)
	require.Contains(t, stderr, want)
	require.NotContains(t, stderr, word)
	socket := storeThat(t, http.StatusOK, map[string]any{
		"list":   api.KVList{Items: []api.KVItem{{Key: "k", Version: word}}, Fresh: api.KVFresh{Situation: word}},
		"status": api.KVStatus{Kind: word},
		"get":    api.KVGet{Key: "k", Found: true, Value: base64.StdEncoding.EncodeToString([]byte(word)), Fresh: api.KVFresh{Situation: word}},
	})
	for _, line := range []string{"list", "status"} {
		_, out, stderr := invoke("--addr", socket, "kv", line)
		require.Contains(t, out, want, line)
		require.NotContains(t, out+stderr, word, line)
	}
	code, out, stderr := invoke("--addr", socket, "kv", "get", "k")
	require.Zero(t, code)
	require.Equal(t, word+"\n", out, "it may be for a program")
	require.NotContains(t, stderr, word)
	var lines strings.Builder
	w := &watcher{g: &globals{output: cli.RegisterFormat(pflag.NewFlagSet("", 0))}, out: &lines}
	require.NoError(t, w.print(api.Event{Kind: "elected", Text: word}))
	require.NoError(t, w.delivery(api.Delivery{Kind: "new-incarnation", Reason: word}))
	require.NoError(t, w.change(api.KVChange{Kind: "stale", Reason: word}))
	require.Equal(t, 3, strings.Count(lines.String(), want))
	require.NotContains(t, lines.String(), word)
}

// A long value is cut before a character that would be cut in half.
func TestValuesAreCutBetweenCharacters(t *testing.T) {
	for _, c := range []string{"e", "é", "€", "🙂"} {
		for before := longest - 4; before <= longest; before++ {
			whole := min(before+len(c), longest)
			if whole < before+len(c) {
				whole = before
			}
			if before+len(c) < longest {
				continue // more is shown
			}
			value := strings.Repeat("a", before) + c + "more"
			require.Equal(t, fmt.Sprintf("%s… (%d bytes)", value[:whole], len(value)), printable([]byte(value)))
		}
	}
}
