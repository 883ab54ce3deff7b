package shape

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// mostWords is how many words the pages below docs may have that people write.
const mostWords = 32_400

// generated are the pages that programs write.
var generated = []string{"docs/mutants.md", "docs/sim-report.md", "docs/reference/commands.md",
	"docs/reference/configuration.md", "docs/reference/events.md", "docs/reference/wire.md"}

// printed are parts of pages that programs print, or that tests hold to programs: the
// tables of make peers, the paths of the API, the metrics, and on the page of the papers the
// places in the code and the planted bugs.
var printed = regexp.MustCompile("(?s:\nVersions: .*?\n### How to read)|(?m:^\\| `(?:GET |POST |/v1|failaware_).*$)" +
	"|`[\\w./-]+\\.go:\\w+`|(?m:\\| [A-Z]\\w+(?:, [A-Z]\\w+)* \\|$)")

// code are blocks between fences, and indented ones.
var code = regexp.MustCompile("(?:" + fenced.String() + `)|(?m:^\n(?:    .*\n)+)`)

// words counts the words of a page without its code. A word has a letter: signs, numbers
// and the bars of tables are none.
func words(page string) (n int) {
	for w := range strings.FieldsSeq(code.ReplaceAllString(page, "\n")) {
		if strings.ContainsFunc(w, unicode.IsLetter) {
			n++
		}
	}
	return n
}

// The pages stay as short as they can be read.
func TestPagesAreShort(t *testing.T) {
	sum, sizes := 0, map[string]int{}
	for name, page := range files(t, ".md") {
		if strings.HasPrefix(name, "docs/") && !slices.Contains(generated, name) {
			page = printed.ReplaceAllString(page, "")
			if name == papers {
				page = bold.ReplaceAllString(page, "") // a test holds them to the simulator
			}
			sizes[name] = words(page)
			sum += sizes[name]
		}
	}
	largest := slices.Collect(maps.Keys(sizes))
	slices.SortFunc(largest, func(a, b string) int { return sizes[b] - sizes[a] })
	var list strings.Builder
	for _, name := range largest[:10] {
		fmt.Fprintf(&list, "\n%6d %s", sizes[name], name)
	}
	require.LessOrEqual(t, sum, mostWords, "words in pages that are not generated; the largest are:%s", &list)
}

func TestWordsAreCounted(t *testing.T) {
	require.Equal(t, 9, words("# Two words\n\n| a | 1 | – |\n| --- | --- | --- |\n\n* and *three* more\n    here\n\n    not these\n    nor these\n\n```sh\nnor that\n```\n\n    nor\n\nmore words\n"))
}

// link is the target of a link or picture, which a reader does not see.
var link = regexp.MustCompile(`\]\([^)]*\)`)

// The README has a screen and a half: ninety lines of 120 characters.
func TestTheReadmeIsShort(t *testing.T) {
	page, lines := files(t, ".md")["README.md"], 0
	for line := range strings.Lines(link.ReplaceAllString(page, "]")) {
		const width = 120
		if n := len([]rune(strings.TrimSpace(line))); n > 0 {
			lines += (n + width - 1) / width
		}
	}
	require.Positive(t, lines)
	require.LessOrEqual(t, lines, 90, "lines of the README, without empty ones")
}
