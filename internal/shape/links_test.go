package shape

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

var (
	fenced  = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```[ \t]*$")
	inline  = regexp.MustCompile("`[^`\n]*`")
	links   = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.+?)[ #]*$`)
	linked  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	mention = regexp.MustCompile(`(?:^|[^\w/.-])(docs/[\w./-]*\w)`)
)

// files returns the files of the repository with one of the endings, by their path from
// its root. The empty ending stands for names without one.
func files(t *testing.T, endings ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	dir := root(t)
	require.NoError(t, filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || file == dir {
			return err
		}
		if e.IsDir() {
			if n := e.Name(); strings.HasPrefix(n, ".") && n != ".ci" && n != ".github" || n == "bin" || n == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		if !e.Type().IsRegular() || !slices.Contains(endings, filepath.Ext(file)) {
			return nil
		}
		b, err := os.ReadFile(file)
		rel, _ := filepath.Rel(dir, file)
		out[filepath.ToSlash(rel)] = string(b)
		return err
	}))
	return out
}

// prose is a page without its code.
func prose(page string) string {
	return inline.ReplaceAllString(fenced.ReplaceAllString(page, ""), "")
}

// anchors returns the names of the headings of a page, as GitHub forms them.
func anchors(page string) (out []string) {
	seen := map[string]int{}
	for _, h := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, linked.ReplaceAllString(h[1], "$1"))
		if n := seen[name]; n > 0 {
			out = append(out, fmt.Sprint(name, "-", n))
		} else {
			out = append(out, name)
		}
		seen[name]++
	}
	return out
}

// targets returns the relative links of a page, by their path from the root, and what
// is wrong with them.
func targets(pages map[string]string, name string) (out, wrong []string) {
	for _, m := range links.FindAllStringSubmatch(prose(pages[name]), -1) {
		u, err := url.Parse(m[1])
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: the link %q: %v", name, m[1], err))
			continue
		}
		if u.IsAbs() {
			continue
		}
		to := name
		if u.Path != "" {
			to = path.Join(path.Dir(name), u.Path)
		}
		out = append(out, to)
		if page, is := pages[to]; is && u.Fragment != "" && !slices.Contains(anchors(page), u.Fragment) {
			wrong = append(wrong, fmt.Sprintf("%s: the link %q: %s has no heading %q", name, m[1], to, u.Fragment))
		}
	}
	return out, wrong
}

// Every relative link of a page leads to a file of the repository, and to a heading of
// it if it names one.
func TestLinksResolve(t *testing.T) {
	pages := files(t, ".md")
	require.Contains(t, pages, "docs/README.md")
	for name := range pages {
		out, wrong := targets(pages, name)
		for _, w := range wrong {
			t.Error(w)
		}
		for _, to := range out {
			if _, err := os.Stat(filepath.Join(root(t), filepath.FromSlash(to))); err != nil {
				t.Errorf("%s: a link to %s, which does not exist", name, to)
			}
		}
	}
}

// Every page of docs can be reached from its index, and from the README.
func TestPagesCanBeReached(t *testing.T) {
	pages := files(t, ".md")
	for _, start := range []string{"docs/README.md", "README.md"} {
		reached, todo := map[string]bool{}, []string{start}
		for len(todo) > 0 {
			name := todo[0]
			todo = todo[1:]
			if _, is := pages[name]; !is || reached[name] {
				continue
			}
			reached[name] = true
			out, _ := targets(pages, name)
			todo = append(todo, out...)
		}
		for name := range pages {
			if strings.HasPrefix(name, "docs/") && !reached[name] {
				t.Errorf("no path of links leads from %s to %s", start, name)
			}
		}
	}
}

// What code, comments and pages name under docs exists.
func TestMentionedPagesExist(t *testing.T) {
	for name, text := range files(t, ".go", ".md", ".yaml", ".yml", ".txtar", ".json", ".service", "") {
		if strings.Contains(name, "testdata/") && !strings.HasSuffix(name, ".md") {
			continue
		}
		for _, m := range mention.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root(t), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s names %s, which does not exist", name, m[1])
			}
		}
	}
}

// The checks must notice what is wrong.
func TestWrongLinksAreSeen(t *testing.T) {
	pages := map[string]string{
		"a.md":     "# A `b` [c](d)\n\n## Two\n\n## Two\n\n[x](sub/b.md#gone) [y](sub/b.md#here-1) `[z](none)`\n```\n[z](none)\n# not\n```\n[self](#a-b-c) [self](#two-1) [web](https://example.com/#x)",
		"sub/b.md": "# Here: 1\n[up](../a.md#not)",
	}
	out, wrong := targets(pages, "a.md")
	require.Equal(t, []string{"d", "sub/b.md", "sub/b.md", "a.md", "a.md"}, out)
	require.Len(t, wrong, 1)
	require.Contains(t, wrong[0], "gone")
	_, wrong = targets(pages, "sub/b.md")
	require.Len(t, wrong, 1)
	require.Contains(t, wrong[0], "not")
}
