package dashboard

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
	require.NoError(t, fs.WalkDir(os.DirFS("assets"), ".", func(name string, d fs.DirEntry, err error) error {
		if path := prefix + strings.TrimSuffix(name, ".gz"); !d.IsDir() && !strings.HasSuffix(name, "LICENSE") && !strings.HasSuffix(name, "index.html") {
			require.True(t, seen[path], "%s is used by nothing", path)
		}
		return err
	}))
}

// outside matches addresses of other places. Names of XML languages are no addresses.
var outside = regexp.MustCompile(`(?:https?:)?//[a-z0-9-]+\.[a-z0-9.-]+`)

func TestThePageNeedsNothingFromOutside(t *testing.T) {
	require.NoError(t, fs.WalkDir(os.DirFS("assets"), ".", func(name string, d fs.DirEntry, err error) error {
		if d.IsDir() || strings.HasPrefix(name, "uplot/") {
			return err
		}
		text, err := os.ReadFile(filepath.Join("assets", name))
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

var update = flag.Bool("update", false, "pack the scripts and styles")

// What is embedded is what is in assets. The bytes of a packed file may depend on who packed it.
func TestPackedFilesAreThoseOfAssets(t *testing.T) {
	var want []string
	for _, pattern := range []string{"assets/*.js", "assets/*.css"} {
		names, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, name := range names {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			name = filepath.Base(name)
			want = append(want, name+".gz")
			if *update {
				pack(t, filepath.Join("packed", name+".gz"), text)
				continue
			}
			served := body(t, get(t, Node, http.MethodGet, prefix+name))
			require.Equal(t, string(text), served, "%s has changed since it was packed: go test ./internal/dashboard -run Packed -update", name)
		}
	}
	packed, err := filepath.Glob("packed/*")
	require.NoError(t, err)
	for i, name := range packed {
		packed[i] = filepath.Base(name)
	}
	require.ElementsMatch(t, want, packed)
}

// pack writes a compressed file, unless there is one with the text.
func pack(t *testing.T, path string, text []byte) {
	t.Helper()
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(unpack(t, bytes.NewReader(old)), text) {
		return
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	require.NoError(t, err)
	_, err = w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
}

func unpack(t *testing.T, packed io.Reader) []byte {
	t.Helper()
	r, err := gzip.NewReader(packed)
	require.NoError(t, err)
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	return text
}

// Scripts and styles are stored compressed. A client gets them so if it can read that.
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
	require.Equal(t, text, string(unpack(t, w.Body)))

	q.URL.Path = prefix + "icon.svg"
	w = httptest.NewRecorder()
	Handler(Node).ServeHTTP(w, q)
	require.Empty(t, w.Header().Get("Content-Encoding"))
}

func TestABrowserKeepsWhatHasNotChanged(t *testing.T) {
	q := httptest.NewRequest(http.MethodGet, prefix+"main.js", nil)
	q.Header.Set("If-None-Match", get(t, Node, http.MethodGet, prefix+"main.js").Header.Get("ETag"))
	w := httptest.NewRecorder()
	Handler(Node).ServeHTTP(w, q)
	require.Equal(t, http.StatusNotModified, w.Code)
}

// The pages of a node and of the demonstration may come from one address, one after the other.
func TestOnlyThePagesOfTheSourcesDiffer(t *testing.T) {
	tag := func(s Source, path string) string { return get(t, s, http.MethodGet, path).Header.Get("ETag") }
	require.NotEqual(t, tag(Node, "/"), tag(Demo, "/"))
	require.Equal(t, tag(Node, prefix+"main.js"), tag(Demo, prefix+"main.js"))
}
