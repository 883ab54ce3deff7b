package handler

import (
	"context"
	"encoding/json"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/api"
)

func TestWebhooksGetEventsInTheirOrder(t *testing.T) {
	var mu sync.Mutex
	var got []uint64
	var dropped []string
	var answer http.HandlerFunc = func(w http.ResponseWriter, q *http.Request) {
		var e api.Event
		if json.NewDecoder(q.Body).Decode(&e) != nil || q.Header.Get("Failaware-Event") != e.Kind || q.Header.Get("Content-Type") != "application/json" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		got, dropped = append(got, e.Sequence), append(dropped, q.Header.Get("Failaware-Dropped"))
		switch e.Sequence {
		case 2:
			w.WriteHeader(http.StatusInternalServerError)
		case 3:
			http.Redirect(w, q, "/elsewhere", http.StatusTemporaryRedirect)
		}
	}
	server := httptest.NewServer(answer)
	defer server.Close()
	spec, err := ParseWebhook("elected=" + strings.Replace(server.URL, "http://", "http://user:secret@", 1) + "/secret/hook?token=secret")
	require.NoError(t, err)
	var log strings.Builder
	c := Config{Node: 1, Timeout: time.Minute, Close: time.Minute, Log: hclog.New(&hclog.LoggerOptions{Output: &log})}
	s := Start(c, []Spec{spec}, func() iter.Seq[event.Event] {
		return slices.Values([]event.Event{event.Missed{Count: 3}, event.Elected{Header: event.Header{Sequence: 1}}, event.Ready{},
			event.Elected{Header: event.Header{Sequence: 2}}, event.Elected{Header: event.Header{Sequence: 3}}, event.Elected{Header: event.Header{Sequence: 4}}})
	})
	s.Close()
	require.Equal(t, []uint64{1, 2, 3, 4}, got, "none comes twice")
	require.Equal(t, []string{"3", "0", "1", "2"}, dropped)
	require.Equal(t, Counts{Handled: 2, Failed: 2, Dropped: 3}, s.Counts())
	require.Contains(t, log.String(), "the webhook answers 500")
	require.Contains(t, log.String(), "handler="+server.URL+"/...")
	require.NotContains(t, log.String(), "secret")

	server.Close()
	s = Start(c, []Spec{spec}, func() iter.Seq[event.Event] { return slices.Values([]event.Event{event.Elected{}}) })
	s.Close()
	require.Equal(t, Counts{Failed: 1}, s.Counts())
	require.NotContains(t, log.String(), "secret")
}

// A server may close a connection just when the next event is sent through it. No event is
// lost by that.
func TestEventsAreNotSentThroughUsedConnections(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	type conn struct{}
	server.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, conn{}, new(atomic.Bool))
	}
	server.Config.Handler = http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		if used := q.Context().Value(conn{}).(*atomic.Bool); used.Swap(true) {
			panic(http.ErrAbortHandler)
		}
	})
	server.Start()
	defer server.Close()
	spec, err := ParseWebhook("elected=" + server.URL)
	require.NoError(t, err)
	s := Start(Config{Node: 1, Timeout: time.Minute, Close: time.Minute, Log: hclog.NewNullLogger()}, []Spec{spec}, func() iter.Seq[event.Event] {
		return slices.Values([]event.Event{event.Elected{}, event.Elected{}, event.Elected{}})
	})
	s.Close()
	require.Equal(t, Counts{Handled: 3}, s.Counts())
}

func TestBadHandlersAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"elected":            `"elected" is not EVENT=COMMAND`,
		"elected=":           `"elected=" has no COMMAND`,
		"=true":              "the name of an event is missing",
		"elected,=true":      "the name of an event is missing",
		"won=true":           `"won" is neither an event (clock-adopted, `,
		"elected,lost=true":  `"lost" is neither`,
		"leader, views=true": "",
	} {
		_, err := ParseCommand(text)
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.ErrorContains(t, err, want, text)
	}
	for _, text := range []string{"elected=nowhere", "elected=ftp://host/", "elected=http://", "elected=unix:/path", "elected=http://a b/"} {
		_, err := ParseWebhook(text)
		require.ErrorContains(t, err, "is not a URL with http or https", text)
	}
}
