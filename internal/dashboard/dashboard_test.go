package dashboard

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func get(t *testing.T, s Source, method, path string) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	Handler(s).ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w.Result()
}

func body(t *testing.T, res *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return string(b)
}

// link matches the files that a page or a module names.
var link = regexp.MustCompile(`(?:href|src)="(/[^"#]+)"|from "\./([^"]+)"`)

func TestThePageHasAllFilesThatItNames(t *testing.T) {
	seen := map[string]bool{}
	var visit func(path string)
	visit = func(path string) {
		if seen[path] {
			return
		}
		seen[path] = true
		res := get(t, Demo, http.MethodGet, path)
		require.Equal(t, http.StatusOK, res.StatusCode, path)
		require.NotEmpty(t, res.Header.Get("Content-Type"), path)
		for _, m := range link.FindAllStringSubmatch(body(t, res), -1) {
			if m[1] != "" {
				visit(m[1])
			} else {
				visit(prefix + m[2])
			}
		}
	}
	visit("/")
	require.NoError(t, fs.WalkDir(assets, "assets", func(name string, d fs.DirEntry, err error) error {
		if path := prefix + strings.TrimSuffix(strings.TrimPrefix(name, "assets/"), ".gz"); !d.IsDir() && !strings.HasSuffix(name, "LICENSE") && !strings.HasSuffix(name, "index.html") {
			require.True(t, seen[path], "%s is used by nothing", path)
		}
		return err
	}))
}

// outside matches addresses of other places. Names of XML languages are no addresses.
var outside = regexp.MustCompile(`(?:https?:)?//[a-z0-9-]+\.[a-z0-9.-]+`)

func TestThePageNeedsNothingFromOutside(t *testing.T) {
	require.NoError(t, fs.WalkDir(assets, "assets", func(name string, d fs.DirEntry, err error) error {
		if d.IsDir() || strings.HasPrefix(name, "assets/uplot/") {
			return err
		}
		text, err := assets.ReadFile(name)
		require.NoError(t, err)
		for _, m := range outside.FindAllString(string(text), -1) {
			require.Equal(t, "http://www.w3.org", m, name)
		}
		require.NotRegexp(t, `style="|onclick="|<script>|innerHTML|eval\(`, string(text), name)
		return nil
	}))
	policy := get(t, Node, http.MethodGet, "/").Header.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'")
	require.NotContains(t, policy, "unsafe")
	require.NotContains(t, policy, "http")
}

func TestThePageKnowsItsSource(t *testing.T) {
	require.Contains(t, body(t, get(t, Demo, http.MethodGet, "/")), `data-source="demo"`)
	require.Contains(t, body(t, get(t, Node, http.MethodGet, "/dashboard/")), `data-source="node"`)
}

func TestOnlyFilesAreServed(t *testing.T) {
	for _, path := range []string{"/dashboard/none.js", "/dashboard/../dashboard.go", "/dashboard/uplot", "/dashboard", "/index.html"} {
		require.Equal(t, http.StatusNotFound, get(t, Node, http.MethodGet, path).StatusCode, path)
	}
	require.Equal(t, http.StatusMethodNotAllowed, get(t, Node, http.MethodPost, "/").StatusCode)
}

// The library of charts is stored compressed. A client gets it so if it can read that.
func TestCompressedFiles(t *testing.T) {
	const path = prefix + "uplot/uPlot.iife.min.js"
	plain := get(t, Node, http.MethodGet, path)
	require.Empty(t, plain.Header.Get("Content-Encoding"))
	require.Equal(t, "text/javascript; charset=utf-8", plain.Header.Get("Content-Type"))
	text := body(t, plain)
	require.Contains(t, text, "uPlot")

	q := httptest.NewRequest(http.MethodGet, path, nil)
	q.Header.Set("Accept-Encoding", "gzip, deflate, br")
	w := httptest.NewRecorder()
	Handler(Node).ServeHTTP(w, q)
	require.Equal(t, "gzip", w.Header().Get("Content-Encoding"))
	require.Equal(t, "Accept-Encoding", w.Header().Get("Vary"))
	r, err := gzip.NewReader(w.Body)
	require.NoError(t, err)
	unpacked, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, text, string(unpacked))

	require.Empty(t, get(t, Node, http.MethodGet, prefix+"main.js").Header.Get("Content-Encoding"))
}

func TestABrowserKeepsWhatHasNotChanged(t *testing.T) {
	q := httptest.NewRequest(http.MethodGet, prefix+"main.js", nil)
	q.Header.Set("If-None-Match", get(t, Node, http.MethodGet, prefix+"main.js").Header.Get("ETag"))
	w := httptest.NewRecorder()
	Handler(Node).ServeHTTP(w, q)
	require.Equal(t, http.StatusNotModified, w.Code)
}
