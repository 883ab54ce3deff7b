package dashboard

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// Source is what a page reads.
type Source string

// The sources of a page.
const (
	// Node is the API of one node.
	Node Source = "node"
	// Demo is the API of the demonstration.
	Demo Source = "demo"
)

// The scripts and styles in assets are embedded as they are in packed, which a test writes.
//
//go:embed assets/index.html assets/icon.svg assets/uplot packed
var embedded embed.FS

// policy lets the page load its own files and talk to its own server, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// types are the media types of the files. The tables of the system may lack some.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	"":      "text/plain; charset=utf-8",
}

// file is one of the files of the page.
type file struct {
	data   []byte
	packed bool   // data is compressed with gzip
	kind   string // media type
	tag    string // of its content
}

// prefix is the path of all files but the page itself, which is at / too.
const prefix = "/dashboard/"

// Handler returns a handler of GET requests for / and for paths below /dashboard/.
func Handler(s Source) http.Handler {
	files := map[string]*file{}
	err := fs.WalkDir(embedded, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := embedded.ReadFile(name)
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, ".html") {
			data = bytes.ReplaceAll(data, []byte(`data-source="node"`), []byte(`data-source="`+string(s)+`"`))
		}
		sum := sha256.Sum256(data)
		_, name, _ = strings.Cut(name, "/")
		name, packed := strings.CutSuffix(name, ".gz")
		files[prefix+name] = &file{data, packed, types[path.Ext(name)], `"` + hex.EncodeToString(sum[:12]) + `"`}
		return nil
	})
	if err != nil {
		panic(err) // the files are embedded
	}
	page := files[prefix+"index.html"]
	files["/"], files[prefix] = page, page
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { serve(w, q, files[q.URL.Path]) })
}

// serve answers with a file, or says that there is none if it is nil.
func serve(w http.ResponseWriter, q *http.Request, f *file) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	switch {
	case f == nil:
		http.Error(w, "no such page", http.StatusNotFound)
	case q.Method != http.MethodGet && q.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "this page is for GET only", http.StatusMethodNotAllowed)
	default:
		h.Set("Content-Type", f.kind)
		h.Set("Cache-Control", "no-cache") // ask again, and compare the tag
		h.Set("ETag", f.tag)
		http.ServeContent(w, q, "", time.Time{}, bytes.NewReader(f.content(q, h)))
	}
}

// content returns what a client gets of a file, and says in the header if that is compressed.
func (f *file) content(q *http.Request, h http.Header) []byte {
	if !f.packed {
		return f.data
	}
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(q.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		return f.data
	}
	r, err := gzip.NewReader(bytes.NewReader(f.data))
	if err != nil {
		panic(err) // the files are embedded
	}
	data, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return data
}
