package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/replicate"
)

// batchStore is the store of a node that carries out batches. It keeps the first result of
// each command of a session.
type batchStore struct {
	mu       sync.Mutex
	sessions int
	keys     map[string]string
	applied  map[string]api.KVResult // by session and number
	lose     int                     // answers to lose
	refuse   map[string]api.KVResult // by key: instead of carrying it out, once
	open     map[string]bool         // sessions
}

func newBatchStore() *batchStore {
	return &batchStore{keys: map[string]string{}, applied: map[string]api.KVResult{}, refuse: map[string]api.KVResult{}, open: map[string]bool{}}
}

func (s *batchStore) serve(t *testing.T) (socket string) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/kv/session/open", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sessions++
		id := fmt.Sprintf("1/0000000000000007/o%d", s.sessions)
		s.open[id] = true
		api.Answer(w, http.StatusOK, api.KVSession{Session: id})
	})
	mux.HandleFunc("POST /v1/kv/session/close", func(w http.ResponseWriter, q *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, q.URL.Query().Get("session"))
		api.Answer(w, http.StatusOK, api.Done{Done: true})
	})
	mux.HandleFunc("POST /v1/kv/batch", func(w http.ResponseWriter, q *http.Request) {
		var b struct{ Commands []api.KVCommand }
		if err := json.NewDecoder(q.Body).Decode(&b); err != nil || len(b.Commands) > api.MaxBatch {
			t.Errorf("%d commands: %v", len(b.Commands), err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		var a api.KVBatch
		for i := range b.Commands {
			a.Results = append(a.Results, s.carryOut(t, &b.Commands[i]))
		}
		if s.lose--; s.lose >= 0 {
			panic(http.ErrAbortHandler)
		}
		api.Answer(w, http.StatusOK, a)
	})
	return serveAt(t, mux)
}

func (s *batchStore) carryOut(t *testing.T, c *api.KVCommand) api.KVResult {
	if r, refused := s.refuse[c.Key]; refused {
		delete(s.refuse, c.Key)
		return r
	}
	name := *c.Session + " " + strconv.FormatUint(*c.Number, 10)
	if r, before := s.applied[name]; before {
		if r.Write.Key != c.Key {
			t.Errorf("%s is %s and %s", name, r.Write.Key, c.Key)
		}
		return r
	}
	r := api.KVResult{Code: http.StatusOK, Write: &api.KVWrite{Status: "done", Key: c.Key}}
	if _, exists := s.keys[c.Key]; exists && c.Version != nil && *c.Version == "0" {
		r.Code, r.Error = http.StatusConflict, "it exists"
	} else {
		s.keys[c.Key] = string(c.Value)
	}
	s.applied[name] = r
	return r
}

// listed writes a list of keys, each with its own name as value, to a file.
func listed(t *testing.T, keys ...string) string {
	list := api.KVList{}
	for _, key := range keys {
		list.Items = append(list.Items, api.KVItem{Key: key, Value: encoded(key), Version: "3"})
	}
	b, err := json.Marshal(list)
	require.NoError(t, err)
	return filed(t, string(b))
}

func filed(t *testing.T, text string) string {
	file := filepath.Join(t.TempDir(), "list.json")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func encoded(text string) string {
	b, _ := json.Marshal([]byte(text))
	return strings.Trim(string(b), `"`)
}

func numbered(n int) (keys []string) {
	for i := range n {
		keys = append(keys, fmt.Sprintf("k%03d", i))
	}
	return keys
}

// Each key is written once, in batches, although answers are lost and nodes refuse.
func TestAnImportWritesEachKeyOnce(t *testing.T) {
	s := newBatchStore()
	s.keys["k000"], s.keys["k003"] = "kept", "kept"
	s.lose = 2 // of the first batch
	s.refuse["k130"] = api.KVResult{Code: http.StatusServiceUnavailable, Error: "no quorum"}
	s.refuse["k200"] = api.KVResult{Code: http.StatusGatewayTimeout, Error: "the outcome is unknown"}
	file := listed(t, numbered(300)...)
	code, out, stderr := invoke("--addr", s.serve(t), "kv", "import", file, "--timeout", "1m")
	require.Equal(t, int(exitMismatch), code, stderr)
	require.Equal(t, "keys: 298 written, 2 exist and were left alone (--overwrite replaces their values)\n", out)
	require.Len(t, s.keys, 300)
	for key, value := range s.keys {
		if key == "k000" || key == "k003" {
			key = "kept"
		}
		require.Equal(t, key, value)
	}
	require.Len(t, s.applied, 300, "each has a number of its own")
	require.Equal(t, importSessions, s.sessions)
	require.Empty(t, s.open, "they are closed")

	code, out, stderr = invoke("--addr", s.serve(t), "kv", "import", file, "--overwrite", "-o", "json", "--timeout", "1m")
	require.Equal(t, 0, code, stderr)
	require.JSONEq(t, `{"written": 300, "existing": 0, "leased": 0}`, out)
	require.Equal(t, "k003", s.keys["k003"])
}

// A session remembers its last commands, so no batch has more of one.
func TestAnImportStaysWithinItsSessions(t *testing.T) {
	require.LessOrEqual(t, importSessions*replicate.SessionWindow, api.MaxBatch)
	s := newBatchStore()
	code, _, stderr := invoke("--addr", s.serve(t), "kv", "import", listed(t, numbered(replicate.SessionWindow+1)...), "--timeout", "1m")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, 2, s.sessions)
}

// What another attempt would not mend ends an import, which says how far it is. What it
// might mend ends it after --timeout.
func TestAnImportThatFailsSaysHowFarItIs(t *testing.T) {
	for name, c := range map[string]struct {
		result api.KVResult
		code   int
		text   string
	}{
		"full":    {api.KVResult{Code: 507, Write: &api.KVWrite{Status: "full"}, Error: "the store is full"}, 1, `key "k130": the store is full; 139 of 140 keys were written, or existed` + "\n"},
		"session": {api.KVResult{Code: 410, Error: "the session is not known"}, int(exitUnknown), `key "k130": the session is not known; 139 of 140 keys were written, or existed: repeat the import to go on`},
		"wrong":   {api.KVResult{Code: 400, Error: "no"}, 2, `key "k130": no; 139 of 140`},
	} {
		s := newBatchStore()
		s.refuse["k130"] = c.result
		code, out, stderr := invoke("--addr", s.serve(t), "kv", "import", listed(t, numbered(140)...), "--timeout", "1m")
		require.Equal(t, c.code, code, "%s: %s", name, stderr)
		require.Empty(t, out)
		require.Contains(t, stderr, c.text, name)
	}
	s := newBatchStore()
	s.lose = 1 << 30
	code, _, stderr := invoke("--addr", s.serve(t), "kv", "import", listed(t, "a"), "--timeout", "500ms")
	require.Equal(t, int(exitUnknown), code, stderr)
	require.Contains(t, stderr, "0 of 1 keys were written")
}

// A batch has no more bytes than a node takes.
func TestAnImportOfLargeValues(t *testing.T) {
	i := importer{sessions: make([]string, importSessions)}
	list := make([]api.KVCommand, 40)
	for k := range list {
		list[k] = api.KVCommand{Op: "put", Key: strings.Repeat("\x01", 60), Value: make([]byte, 100<<10)}
	}
	n := i.fitting(list)
	b, err := json.Marshal(map[string]any{"commands": list[:n]})
	require.NoError(t, err)
	require.Less(t, len(b), api.MaxBatchBytes)
	require.Greater(t, n, 5)
	list[0].Value = make([]byte, 2<<20)
	require.Equal(t, 1, i.fitting(list), "the node says that it is too large")
}

func TestAListThatNoStoreHasPrintedIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		``:                            `it is not the output of "kv list --all -o json": EOF`,
		`{"items": [`:                 "unexpected EOF",
		`{"key": "a"}`:                `it is not the output of "kv list --all -o json"`,
		`[]`:                          `it is not the output of "kv list --all -o json": a JSON array is no object`,
		`{"items": [{"key": 7}]}`:     `it is not the output of "kv list --all -o json": byte 20: a JSON number is no value of "items.key"`,
		`{"items": []} x`:             "invalid character",
		`{"items": [], "more": true}`: "one page of a longer list: list with --all",
		`{"items": [{"key": "a", "value": "?"}]}`:                                            "item 1: the value is not base64",
		`{"items": [{"key": "a"}]}{"items": [{"key": ""}]}`:                                  "item 2: a key is",
		`{"items": [{"key": "a"}, {"key": "b"}, {"key": "a"}]}`:                              `item 3: key "a" is there twice`,
		`{"items": [{"key": "a", "value": "` + encoded(string(make([]byte, 1<<20))) + `"}]}`: "item 1: a value has at most",
	} {
		code, _, stderr := invoke("--addr", "/nowhere", "kv", "import", filed(t, text))
		require.Equal(t, 2, code, text)
		require.Contains(t, stderr, want)
		require.Contains(t, stderr, "FILE: ")
	}
	code, _, stderr := invoke("--addr", "/nowhere", "kv", "import", "/nowhere/list.json")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "FILE: open /nowhere/list.json")
}

// Keys with a lease belong to a holder, which a list cannot bring back.
func TestKeysWithALeaseAreLeftOut(t *testing.T) {
	s := newBatchStore()
	file := filed(t, `{"items": [{"key": "a", "lease": "0000000000000001.2"}, {"key": "b"}, {"key": "c", "lease": "0000000000000001.2"}, {"key": "d"}]}`)
	code, out, stderr := invoke("--addr", s.serve(t), "kv", "import", file, "--timeout", "1m")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, "keys: 2 written, 2 had a lease and were left out\n", out)
	require.Equal(t, "keys: 2 written, 1 had a lease and was left out", (&imported{Written: 2, Leased: 1}).text())
	require.Equal(t, map[string]string{"b": "", "d": ""}, s.keys)
}
