package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
)

// newWeb serves a world, and returns its address.
func newWeb(t *testing.T, w *World) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- NewWeb(ctx, w, "test").Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-served)
	})
	return "http://" + l.Addr().String()
}

func lookAt(t *testing.T, url string) (w WebWorld) {
	t.Helper()
	res, err := http.Get(url + "/demo/world")
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.NoError(t, json.NewDecoder(res.Body).Decode(&w))
	return w
}

// act sends a fault with some headers, and returns the status and the answer.
func act(t *testing.T, url, fault string, header ...string) (int, string) {
	t.Helper()
	q, err := http.NewRequest(http.MethodPost, url+"/demo/fault", strings.NewReader(fault))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		q.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			q.Host = header[i+1]
		}
	}
	res, err := http.DefaultClient.Do(q)
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(b)
}

func TestThePageSeesAndCausesFaults(t *testing.T) {
	w := newTestWorld(t, 3)
	url := newWeb(t, w)
	require.NoError(t, w.StartAll())
	eventually(t, func() bool { _, _, _, ok := newStory(w).agree(w.All()); return ok })

	code, text := act(t, url, `{"action":"cut","nodes":[2,3],"one_way":true}`)
	require.Equal(t, http.StatusOK, code, text)
	require.Contains(t, text, "2 → 3: cut")
	require.Equal(t, []WebLink{{From: 2, To: 3, Cut: true}}, lookAt(t, url).Links)
	code, text = act(t, url, `{"action":"heal"}`)
	require.Equal(t, http.StatusOK, code, text)
	code, text = act(t, url, `{"action":"crash","nodes":[1]}`)
	require.Equal(t, http.StatusOK, code, text)

	res, err := http.Get(url + "/demo/why?node=1&about=leader")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusNotFound, res.StatusCode, "it does not run")
	res, err = http.Get(url + "/demo/why?node=2&about=leader")
	require.NoError(t, err)
	var why api.Why
	require.NoError(t, json.NewDecoder(res.Body).Decode(&why))
	require.NoError(t, res.Body.Close())
	require.NotEmpty(t, why.Causes)

	eventually(t, func() bool {
		now := lookAt(t, url)
		return len(now.Links) == 0 && now.Nodes[0].State == "crashed" && now.Nodes[0].Status == nil &&
			now.Nodes[1].Status != nil && len(now.Nodes[1].Status.View.Members) == 2
	})
	for name, fault := range map[string]string{
		"no action":    `{"action":"melt"}`,
		"no JSON":      `melt`,
		"no such node": `{"action":"crash","nodes":[4]}`,
		"wrapped id":   `{"action":"crash","nodes":[257]}`,
		"twice":        `{"action":"cut","nodes":[2,2]}`,
		"too many":     `{"action":"cut","nodes":[1,2,3,1,2,3,1,2,3,1]}`,
	} {
		code, text = act(t, url, fault)
		require.Equal(t, http.StatusBadRequest, code, name)
		require.Contains(t, text, `"error"`, name)
	}
}

func TestOtherSitesCannotCauseFaults(t *testing.T) {
	w := newTestWorld(t, 2)
	url := newWeb(t, w)
	for _, header := range [][]string{
		{"Host", "rebound.example:80"},
		{"Origin", "http://evil.example"},
		{"Sec-Fetch-Site", "cross-site"},
	} {
		code, _ := act(t, url, `{"action":"cut","nodes":[1,2]}`, header...)
		require.Equal(t, http.StatusForbidden, code, header)
	}
	require.Empty(t, lookAt(t, url).Links)
	code, _ := act(t, url, `{"action":"cut","nodes":[1,2]}`, "Sec-Fetch-Site", "same-origin", "Origin", url)
	require.Equal(t, http.StatusOK, code)
	require.Len(t, lookAt(t, url).Links, 2)
}

// follow reads events of a stream until enough says so.
func follow(t *testing.T, url, last string, enough func(api.Event) bool) (list []api.Event) {
	t.Helper()
	q, err := http.NewRequest(http.MethodGet, url+"/demo/events", nil)
	require.NoError(t, err)
	q.Header.Set("Last-Event-ID", last)
	res, err := http.DefaultClient.Do(q)
	require.NoError(t, err)
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var e api.Event
			require.NoError(t, json.Unmarshal([]byte(data), &e))
			list = append(list, e)
			if enough(e) {
				return list
			}
		}
	}
	require.FailNow(t, "the stream has ended")
	return nil
}

func TestThePageResumesTheEventsOfAllNodes(t *testing.T) {
	w := newTestWorld(t, 2)
	url := newWeb(t, w)
	w.Note("the first")
	require.NoError(t, w.StartAll())
	nodes := map[int]bool{}
	list := follow(t, url, "0", func(e api.Event) bool { nodes[e.Node] = true; return len(nodes) == 3 })
	require.Equal(t, "fault", list[0].Kind)
	require.Equal(t, "the first", list[0].Text)
	for i, e := range list {
		require.Equal(t, uint64(i+1), e.Sequence)
	}
	again := follow(t, url, list[0].ID, func(e api.Event) bool { return e.ID == list[len(list)-1].ID })
	require.Equal(t, list[1:], again)

	for range 2 * historySize {
		w.history.add(happening{fault: "one of many"})
	}
	slow := follow(t, url, list[0].ID, func(e api.Event) bool { return e.Kind == "missed" })
	require.GreaterOrEqual(t, slow[len(slow)-1].Count, uint64(historySize))
}
