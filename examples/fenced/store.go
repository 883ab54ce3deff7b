package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/edict/fence"
)

const (
	// header carries the edict of a write.
	header = "Failaware-Edict"
	// resource has one leader at a time: here, it is the whole store.
	resource = "store"
	maxKey   = 64
	maxValue = 1 << 20
)

// payload is the payload of the edict of a write. It contains the key, because
// otherwise an edict would allow writing the value anywhere. Keys have no line breaks,
// so that no two writes have one payload.
func payload(key string, value []byte) []byte {
	return append([]byte("PUT "+key+"\n"), value...)
}

// store keeps a file for each key, and the fence.
type store struct {
	values string
	fence  *fence.Fence
}

func openStore(dir string) (*store, error) {
	s := &store{values: filepath.Join(dir, "values")}
	if err := os.MkdirAll(s.values, 0o700); err != nil {
		return nil, err
	}
	var err error
	s.fence, err = fence.Open(filepath.Join(dir, "fence"))
	return s, err
}

func (s *store) close() { _ = s.fence.Close() }

// path returns the file of a key.
func (s *store) path(key string) string { return filepath.Join(s.values, "="+url.PathEscape(key)) }

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := strings.TrimPrefix(r.URL.Path, "/")
	if key == "" || len(key) > maxKey || strings.ContainsFunc(key, unicode.IsControl) {
		http.Error(w, fmt.Sprintf("a key of 1 to %d bytes without control characters is needed", maxKey), http.StatusBadRequest)
		return
	}
	switch r.Method {
	case http.MethodGet:
		s.get(w, key)
	case http.MethodPut:
		s.put(w, r, key)
	default:
		w.Header().Set("Allow", "GET, PUT")
		http.Error(w, "GET and PUT are all there is", http.StatusMethodNotAllowed)
	}
}

func (s *store) get(w http.ResponseWriter, key string) {
	value, err := os.ReadFile(s.path(key))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		http.Error(w, "there is no such key", http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(value)
	}
}

func (s *store) put(w http.ResponseWriter, r *http.Request, key string) {
	value, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxValue))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		http.Error(w, fmt.Sprintf("a value has at most %d bytes", maxValue), http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	e, err := edict.Parse(r.Header.Get(header))
	if err != nil {
		http.Error(w, header+": "+err.Error(), http.StatusBadRequest)
		return
	}
	// A repeated edict repeats its write, which changes nothing.
	_, err = s.fence.Do(resource, &e, edict.Sum(payload(key, value)), func(edict.Verdict) error { return s.write(key, value) })
	refused := new(edict.RefusedError)
	switch {
	case errors.As(err, &refused):
		http.Error(w, err.Error(), http.StatusConflict)
	case errors.Is(err, edict.ErrPayload):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// write replaces a value. It waits for the disk: the fence remembers the edict, so a
// value that was lost afterwards would not be written again. (Directories cannot be
// flushed on Windows; the example is for other systems.)
func (s *store) write(key string, value []byte) error {
	f, err := os.CreateTemp(s.values, "new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // has no effect after the renaming
	_, err = f.Write(value)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), s.path(key)); err != nil {
		return err
	}
	d, err := os.Open(s.values)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
