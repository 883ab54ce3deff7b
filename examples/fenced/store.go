package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
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
func payload(key string, value []byte) []byte { return append([]byte(begin(key)), value...) }

// begin is what a payload has before the value.
func begin(key string) string { return "PUT " + key + "\n" }

// store answers requests. It has the values, and the fence in front of them.
type store struct {
	values values
	fence  *fence.Fence
}

func openStore(dir string) (*store, error) {
	s := &store{values: values(filepath.Join(dir, "values"))}
	if err := os.MkdirAll(string(s.values), 0o700); err != nil {
		return nil, err
	}
	var err error
	s.fence, err = fence.Open(filepath.Join(dir, "fence"))
	return s, err
}

func (s *store) close() { _ = s.fence.Close() }

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
	value, err := s.values.get(key)
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
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
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
	_, err = s.fence.Do(resource, &e, edict.Sum(payload(key, value)), func(edict.Verdict) error { return s.values.put(key, value) })
	_, refused := errors.AsType[*edict.RefusedError](err)
	switch {
	case refused:
		http.Error(w, err.Error(), http.StatusConflict)
	case errors.Is(err, edict.ErrPayload):
		http.Error(w, fmt.Sprintf("%v: that of this write is %q and the value", err, begin(key)), http.StatusBadRequest)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
