package shape

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "wrap the prose of pages")

// proseWidth is where prose is wrapped, without the targets of links.
const proseWidth = 120

var (
	listItem = regexp.MustCompile(`^ *(?:[*-]|\d+\.) +`)
	// upright begins a line that is no prose: a table, a heading, a picture, a quotation.
	upright = regexp.MustCompile(`^ *(?:\||#|!\[|>|<)`)
	// unit is what a line may not divide: a word, code, or a link with its text.
	unit = regexp.MustCompile("(?:`[^`]*`|\\[[^\\]]*\\]\\([^)]*\\)|\\S)+")
	// marker is a word that would be something else at the beginning of a line.
	marker = regexp.MustCompile(`^(?:[-+*=]+$|\d+[.)]$|[#>|<])`)
)

// results are the tables that make peers prints; a test of bench/peers holds them to it.
var results = regexp.MustCompile(`(?s)\n\d{4}-\d\d-\d\d, \d+ processes.*?\n### How to read`)

func width(line string) int { return len([]rune(link.ReplaceAllString(line, "]"))) }

// fill returns a paragraph, or an item of a list, in lines of proseWidth, unless it is so
// already.
func fill(lines []string) []string {
	if !slices.ContainsFunc(lines, func(l string) bool { return width(l) > proseWidth }) {
		return lines
	}
	first := listItem.FindString(lines[0])
	if first == "" {
		first = lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " "))]
	}
	text := strings.TrimPrefix(strings.Join(lines, " "), first)
	indent := strings.Repeat(" ", len(first))
	var out []string
	line := ""
	for _, u := range unit.FindAllString(text, -1) {
		switch {
		case line == "":
			line = first + u
		case width(line)+1+width(u) > proseWidth && !marker.MatchString(u):
			out = append(out, line)
			line = indent + u
		default:
			line += " " + u
		}
	}
	return append(out, line)
}

// wrapped returns a page with its prose wrapped. Code, tables and headings stay.
func wrapped(page string) string {
	var out, block []string
	flush := func() {
		if len(block) > 0 {
			out = append(out, fill(block)...)
		}
		block = nil
	}
	code := false
	for line := range strings.SplitSeq(page, "\n") {
		trimmed := strings.TrimSpace(line)
		fence := strings.HasPrefix(trimmed, "```")
		switch {
		case fence || code:
			flush()
			out = append(out, line)
			code = code != fence
		case trimmed == "" || upright.MatchString(line) || len(block) == 0 && strings.HasPrefix(line, "    "):
			flush()
			out = append(out, line)
		case listItem.MatchString(line):
			flush()
			block = []string{line}
		default:
			block = append(block, line)
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// Prose has lines of 120 characters, so that a change of a sentence is a small change of
// its page. `go test ./internal/shape -run ProseIsWrapped -update` wraps all pages.
func TestProseIsWrapped(t *testing.T) {
	for name, page := range files(t, ".md") {
		if slices.Contains(generated, name) || strings.HasPrefix(name, ".github/") { // an issue shows the ends of lines
			continue
		}
		parts, printed := results.Split(page, -1), append(results.FindAllString(page, -1), "")
		want := ""
		for i, part := range parts {
			want += wrapped(part) + printed[i]
		}
		if *update && want != page {
			require.NoError(t, os.WriteFile(filepath.Join("../..", name), []byte(want), 0o644))
			continue
		}
		require.Equal(t, want, page, "%s: -update wraps its prose", name)
	}
}

func TestWrapped(t *testing.T) {
	word := strings.Repeat("x", 59)
	for page, want := range map[string]string{
		word + " " + word + " 3 - y":           word + " " + word + "\n3 - y",
		word + " " + word + "x - y":            word + " " + word + "x -\ny",
		"* " + word + " " + word + " `a b`":    "* " + word + "\n  " + word + " `a b`",
		word + " " + word + " [a b](target)":   word + " " + word + "\n[a b](target)",
		"    " + word + " " + word + " code":   "    " + word + " " + word + " code",
		"```\n" + word + word + word + "\n```": "```\n" + word + word + word + "\n```",
		"| " + word + " | " + word + " | x |":  "| " + word + " | " + word + " | x |",
		"short\nlines\nstay":                   "short\nlines\nstay",
	} {
		require.Equal(t, want, wrapped(page))
		require.Equal(t, want, wrapped(want), "wrapped twice")
	}
}
