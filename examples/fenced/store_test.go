package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/timed"
)

// client is the leader of a round of votes that writes to a store.
type client struct {
	url    string
	stamps []edict.Stamp
	count  uint64
}

// leads returns a leader that node 2 has voted for when its clock showed at.
func leads(url string, node timed.NodeID, at timed.Instant) *client {
	stamps := []edict.Stamp{{Node: 2, Counter: 1, Boot: 20, At: at}, {Node: node, Counter: 1, Boot: timed.BootID(10 * node), At: 1}}
	if node < 2 {
		stamps[0], stamps[1] = stamps[1], stamps[0]
	}
	return &client{url: url, stamps: stamps}
}

func (c *client) edict(key, value string) *edict.Edict {
	c.count++
	return &edict.Edict{Epoch: 1, Stamps: c.stamps, Counter: c.count, Digest: edict.Sum(payload(key, []byte(value)))}
}

func put(t *testing.T, url, key, value, e string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPut, url+"/"+key, strings.NewReader(value))
	require.NoError(t, err)
	r.Header.Set(header, e)
	return do(t, r)
}

func get(t *testing.T, url, key string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url+"/"+key, nil)
	require.NoError(t, err)
	return do(t, r)
}

func do(t *testing.T, r *http.Request) (int, string) {
	t.Helper()
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(b)
}

// serve serves the store of a directory until stop is called.
func serve(t *testing.T, dir string) (url string, stop func()) {
	t.Helper()
	s, err := openStore(dir)
	require.NoError(t, err)
	server := httptest.NewServer(s)
	stop = sync.OnceFunc(func() { server.Close(); s.close() })
	t.Cleanup(stop)
	return server.URL, stop
}

func TestALeaderOfThePastWritesNothing(t *testing.T) {
	dir := t.TempDir()
	url, stop := serve(t, dir)
	old, now := leads(url, 1, 100), leads(url, 3, 200)
	e := old.edict("k", "old").String()
	code, _ := put(t, url, "k", "old", e)
	require.Equal(t, http.StatusNoContent, code)
	late := old.edict("k", "late").String()
	e = now.edict("k", "new").String()
	code, _ = put(t, url, "k", "new", e)
	require.Equal(t, http.StatusNoContent, code)
	code, text := put(t, url, "k", "late", late)
	require.Equal(t, http.StatusConflict, code)
	require.Contains(t, text, "a later edict was obeyed before")
	code, text = put(t, url, "other", "late", late)
	require.Equal(t, http.StatusBadRequest, code, "the edict was for another key")
	require.Equal(t, "edict: made for another payload: that of this write is \"PUT other\\n\" and the value\n", text)
	code, _ = put(t, url, "k", "new", e)
	require.Equal(t, http.StatusNoContent, code, "a writer without an answer writes again")

	stop()
	url, _ = serve(t, dir)
	code, _ = put(t, url, "k", "late", late)
	require.Equal(t, http.StatusConflict, code, "after a restart too")
	code, text = get(t, url, "k")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "new", text)
	code, _ = get(t, url, "other")
	require.Equal(t, http.StatusNotFound, code)
}

func TestAWriteThatFailedIsRepeated(t *testing.T) {
	dir := t.TempDir()
	url, _ := serve(t, dir)
	c := leads(url, 1, 100)
	values := filepath.Join(dir, "values")
	require.NoError(t, os.Rename(values, values+"-away"))
	e := c.edict("k", "v").String()
	code, _ := put(t, url, "k", "v", e)
	require.Equal(t, http.StatusInternalServerError, code)
	require.NoError(t, os.Rename(values+"-away", values))
	code, _ = get(t, url, "k")
	require.Equal(t, http.StatusNotFound, code)
	code, _ = put(t, url, "k", "v", e)
	require.Equal(t, http.StatusNoContent, code)
	_, text := get(t, url, "k")
	require.Equal(t, "v", text)
}

// For any order of the writes of two leaders, the last value is the latest one that the
// store accepted.
func TestConcurrentWritesEndWithTheLatest(t *testing.T) {
	url, _ := serve(t, t.TempDir())
	var wg sync.WaitGroup
	var mu sync.Mutex
	latest, value := edict.Edict{}, ""
	for _, c := range []*client{leads(url, 1, 100), leads(url, 3, 200)} {
		for n := range 10 {
			v := fmt.Sprintf("%v-%d", c.stamps, n)
			e := c.edict("k", v)
			wg.Go(func() {
				code, text := put(t, url, "k", v, e.String())
				if code == http.StatusConflict {
					return
				}
				if code != http.StatusNoContent {
					t.Error(text)
				}
				mu.Lock()
				defer mu.Unlock()
				if value == "" || edict.Compare(*e, latest) == edict.After {
					latest, value = *e, v
				}
			})
		}
	}
	wg.Wait()
	_, text := get(t, url, "k")
	require.Equal(t, value, text)
}

func TestBadRequests(t *testing.T) {
	url, _ := serve(t, t.TempDir())
	c := leads(url, 1, 100)
	for _, b := range []struct {
		key, value, edict string
		code              int
		want              string
	}{
		{"k", "v", "", 400, "malformed"},
		{"k", "v", "nonsense", 400, "malformed"},
		{"k", "v", c.edict("k", "w").String(), 400, "another payload"},
		{"", "v", c.edict("", "v").String(), 400, "a key of 1 to 64"},
		{strings.Repeat("k", maxKey+1), "v", c.edict("k", "v").String(), 400, "a key of 1 to 64"},
		{"a%0Ab", "v", c.edict("a", "b\nv").String(), 400, "without control characters"},
		{"k", strings.Repeat("v", maxValue+1), c.edict("k", "v").String(), 413, "at most"},
	} {
		code, text := put(t, url, b.key, b.value, b.edict)
		require.Equal(t, b.code, code, text)
		require.Contains(t, text, b.want)
	}
	code, _ := put(t, url, "..%2F..%2Fpasswd", "v", c.edict("../../passwd", "v").String())
	require.Equal(t, http.StatusNoContent, code)
	_, text := get(t, url, "..%2F..%2Fpasswd")
	require.Equal(t, "v", text, "it is a key like any other")
	r, err := http.NewRequest(http.MethodDelete, url+"/k", nil)
	require.NoError(t, err)
	code, _ = do(t, r)
	require.Equal(t, http.StatusMethodNotAllowed, code)
}
