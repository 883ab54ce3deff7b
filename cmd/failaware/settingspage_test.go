//go:build unix

package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const settingsPage = "../../docs/reference/configuration.md"

// docs/reference/configuration.md has every setting of a node, by its three names.
func TestSettingsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Configuration of a node\n\nThis page is generated from the program by `go test ./cmd/failaware -run TestSettingsPage -update`. " +
		"[examples/node.yaml](../../examples/node.yaml) has every setting with a comment, and `failaware config check FILE` says what a file means.\n\n" +
		"Each setting has a key of the YAML file, a flag, and a variable of the environment. Flags take precedence over the environment, and the environment over the file. " +
		"`FAILAWARE_CONFIG` names the file. An unknown key or flag is an error that names it, and an unknown `FAILAWARE_` variable a warning.\n")
	var sections []string
	rows := map[string]string{}
	for _, s := range settings {
		section, _, found := strings.Cut(s.key, ".")
		if !found {
			section = ""
		}
		if rows[section] == "" {
			sections = append(sections, section)
		}
		kind := s.kind
		if kind == kindBool {
			kind = ""
		}
		rows[section] += fmt.Sprintf("| `%s` | `%s` | `%s` | %s |\n", s.key, cell("--"+s.flag+" "+kind), s.env(), cell(s.usage))
	}
	for _, section := range sections {
		title := "The node"
		if section != "" {
			title = "`" + section + "`"
		}
		fmt.Fprintf(&b, "\n## %s\n\n| key | flag | variable | meaning |\n| --- | --- | --- | --- |\n%s", title, rows[section])
	}
	if flag.Lookup("update").Value.String() == "true" {
		require.NoError(t, os.WriteFile(settingsPage, []byte(b.String()), 0o644))
	}
	have, err := os.ReadFile(settingsPage)
	require.NoError(t, err)
	require.Equal(t, b.String(), string(have), "the page is old: go test ./cmd/failaware -run TestSettingsPage -update")
}

// What nodes of the broadcast must have in common is said of its settings.
func TestSettingsOfAllNodesAreNamed(t *testing.T) {
	for _, key := range []string{"broadcast.window", "broadcast.max_messages", "broadcast.max_payload", "broadcast.require_quorum"} {
		at := slices.IndexFunc(settings, func(s *setting) bool { return s.key == key })
		require.Contains(t, settings[at].usage, "the same everywhere", key)
	}
}
