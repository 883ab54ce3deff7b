package browsertest

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// site is where `make site` builds the pages.
const site = "../../bin/site"

func requireSite(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(site, "index.html")); err != nil {
		t.Skip("there is no site: make site builds it")
	}
}

var (
	reference  = regexp.MustCompile(`(?:href|src)="([^"]+)"`)
	identifier = regexp.MustCompile(` id="([^"]+)"`)
	inTree     = regexp.MustCompile(`^https://github\.com/failaware/failaware/blob/main/([^#]+)`)
)

// Every link of the site leads to a page, to a heading that exists, or to a file of the
// repository.
func TestLinksOfTheSite(t *testing.T) {
	requireSite(t)
	pages, headings := map[string]string{}, map[string]map[string]bool{}
	root := os.DirFS(site)
	require.NoError(t, fs.WalkDir(root, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".html" {
			return err
		}
		b, err := fs.ReadFile(root, name)
		pages[name], headings[name] = string(b), map[string]bool{}
		for _, m := range identifier.FindAllStringSubmatch(string(b), -1) {
			headings[name][m[1]] = true
		}
		return err
	}))
	require.Greater(t, len(pages), 40)
	links := 0
	for name, text := range pages {
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			links++
			if file := inTree.FindStringSubmatch(m[1]); file != nil {
				_, err := os.Stat(filepath.Join("../..", file[1]))
				require.NoError(t, err, "%s: %s", name, m[1])
			}
			if strings.Contains(m[1], ":") {
				require.NotRegexp(t, `^https?://[^./]+(/|$)`, m[1], "%s: a pattern of an address is no link", name)
				continue
			}
			target, anchor, _ := strings.Cut(m[1], "#")
			switch {
			case target == "":
				target = name
			case strings.HasPrefix(target, "/"):
				target = target[1:]
			default:
				target = path.Join(path.Dir(name), target)
			}
			if target == "" || strings.HasSuffix(target, "/") {
				target += "index.html"
			}
			_, err := fs.Stat(root, target)
			require.NoError(t, err, "%s leads to %s", name, m[1])
			if anchor != "" {
				require.True(t, headings[target][anchor], "%s leads to %s, and there is no such heading", name, m[1])
			}
		}
	}
	t.Logf("%d links of %d pages", links, len(pages))
}

// The site reads in a browser and finds words.
func TestTheSiteIsSearched(t *testing.T) {
	requireSite(t)
	b := open(t, 1280, 860)
	server := httptest.NewServer(http.FileServer(http.Dir(site)))
	t.Cleanup(server.Close)
	b.do(chromedp.Navigate(server.URL + "/concepts/fail-awareness.html"))
	b.until("h1", func(s string) bool { return strings.HasPrefix(s, "Fail-awareness") })
	b.shoot("site", false)
	b.until("aside.VPSidebar", func(s string) bool { return strings.Contains(s, "Quick start") && strings.Contains(s, "Glossary") })
	b.click(".DocSearch-Button")
	b.do(chromedp.SendKeys(chromedp.CSS("#localsearch-input"), "hand over epoch"))
	b.until(".VPLocalSearchBox .results", func(s string) bool { return strings.Contains(strings.ToLower(s), "epoch") })
	b.shoot("site-search", false)
	b.do(chromedp.SendKeys(chromedp.CSS("#localsearch-input"), kb.Enter))
	b.until("main", func(s string) bool { return strings.Contains(s, "epoch") })
	require.NotContains(t, eval[string](b, "location.pathname"), "fail-awareness")
	b.requireNoErrors()
}

// On a desk nothing is cut off: blocks of commands wrap, and so do names of files in tables.
func TestTheSiteCutsNothingOff(t *testing.T) {
	requireSite(t)
	b := open(t, 1280, 860)
	server := httptest.NewServer(http.FileServer(http.Dir(site)))
	t.Cleanup(server.Close)
	for _, page := range []string{"/start/three-hosts.html", "/how-to/singleton.html", "/internals/papers.html", "/reference/commands.html"} {
		b.do(chromedp.Navigate(server.URL + page))
		b.until("h1", func(s string) bool { return s != "" })
		const cut = `[...document.querySelectorAll('.vp-doc pre, .vp-doc table')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent.slice(0, 200)).join('\n')`
		require.Empty(t, eval[string](b, cut), page)
	}
	b.requireNoErrors()
}

// Blocks of code scroll within the page, on a telephone too, and the side bar is plain text.
func TestTheSiteFitsAPhone(t *testing.T) {
	requireSite(t)
	b := open(t, 400, 860)
	server := httptest.NewServer(http.FileServer(http.Dir(site)))
	t.Cleanup(server.Close)
	for _, page := range []string{"/how-to/kv.html", "/start/quick-start.html"} {
		b.do(chromedp.Navigate(server.URL + page))
		b.until("h1", func(s string) bool { return s != "" })
		const spilling = `[...document.querySelectorAll('.vp-doc pre')].filter(p => getComputedStyle(p).overflowX === 'visible').map(p => p.textContent).join('\n')`
		require.Positive(t, eval[int](b, "document.querySelectorAll('.vp-doc pre').length"))
		require.Empty(t, eval[string](b, spilling), "blocks of %s that spill over the page", page)
		require.LessOrEqual(t, eval[int](b, "document.documentElement.scrollWidth"), 400, page)
		require.NotContains(t, eval[string](b, "document.querySelector('.VPSidebar').textContent"), "`")
	}
	b.shoot("site-phone", false)
	b.requireNoErrors()
}
