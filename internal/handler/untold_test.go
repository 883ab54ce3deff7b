package handler

import (
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/event"
)

// A webhook that could not be told of lost events is told at the next run.
func TestLostEventsAreToldUntilOneRunSucceeds(t *testing.T) {
	var heard []string
	away := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if away { // as a gateway before a service that starts
			away = false
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		heard = append(heard, q.Header.Get("Failaware-Dropped"))
	}))
	defer server.Close()
	spec, err := ParseWebhook("elected=" + server.URL)
	require.NoError(t, err)
	s := Start(Config{Node: 1, Timeout: time.Minute, Close: time.Minute, Log: hclog.NewNullLogger()}, []Spec{spec}, func() iter.Seq[event.Event] {
		return slices.Values([]event.Event{event.Missed{Count: 3}, event.Elected{Header: event.Header{Sequence: 4}},
			event.Elected{Header: event.Header{Sequence: 5}}, event.Elected{Header: event.Header{Sequence: 6}}})
	})
	s.Close()
	require.Equal(t, []string{"4", "0"}, heard, "three were missed, and one failed")
}
