package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

// clientInMemory returns a client of a handler, in virtual time.
func clientInMemory(t testing.TB, h http.HandlerFunc) *Client {
	l := newPipes()
	srv := newHTTPServer(h)
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	c := NewClient(Address{URL: "http://node"}, "")
	c.http.Transport.(reconnecting).DialContext = func(context.Context, string, string) (net.Conn, error) { return l.dial(), nil }
	return c
}

// eventsOf answers with the beginning of a stream, and then with nothing.
func eventsOf(w http.ResponseWriter, ids ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, id := range ids {
		fmt.Fprintf(w, "data: {\"id\": %q}\n\n", id)
	}
	_ = http.NewResponseController(w).Flush()
}

// A node that is silent for longer than its beats allow, as when it is stopped, is given up.
func TestASilentStreamIsGivenUp(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"without an answer": func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() },
		"before an event":   func(w http.ResponseWriter, q *http.Request) { eventsOf(w); <-q.Context().Done() },
		"after an event":    func(w http.ResponseWriter, q *http.Request) { eventsOf(w, "1"); <-q.Context().Done() },
		"within an event": func(w http.ResponseWriter, q *http.Request) {
			eventsOf(w)
			_, _ = io.WriteString(w, "data: {")
			<-q.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, begin := clientInMemory(t, h), time.Now()
				err := c.Events(t.Context(), &Resume{}, nil, func(Event) error { return nil })
				require.EqualError(t, err, "the node at http://node has not answered in time")
				_, gone := errors.AsType[*UnreachableError](err)
				require.True(t, gone)
				require.Equal(t, mostSilence, time.Since(begin))
			})
		})
	}
}

// A caller may expect an answer sooner. Then the stream may be as silent as others.
func TestAStreamBeginsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clientInMemory(t, func(w http.ResponseWriter, q *http.Request) {
			select {
			case <-time.After(4 * time.Second):
				eventsOf(w)
			case <-q.Context().Done(): // nothing may be left when the test ends
			}
			<-q.Context().Done()
		})
		for allowed, took := range map[time.Duration]time.Duration{3 * time.Second: 3 * time.Second, 5 * time.Second: 4*time.Second + mostSilence} {
			begin := time.Now()
			err := c.Events(t.Context(), &Resume{Begin: allowed}, nil, nil)
			require.EqualError(t, err, "the node at http://node has not answered in time")
			require.Equal(t, took, time.Since(begin))
		}
	})
}

// deliveriesOf answers with two deliveries, and then breaks off, is silent, or ends the stream.
func deliveriesOf(then func(q *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		eventsOf(w, "1", "2")
		then(q)
	}
}

// A list of deliveries whose node dies within it is no whole list.
func TestAListThatIsCutOffIsAnError(t *testing.T) {
	for text, then := range map[string]func(q *http.Request){
		"the stream has ended": func(*http.Request) {},
		"the list is cut off: the connection to http://node is lost: unexpected EOF": func(*http.Request) { panic(http.ErrAbortHandler) },
		"the list is cut off: the node at http://node has not answered in time":      func(q *http.Request) { <-q.Context().Done() },
	} {
		synctest.Test(t, func(t *testing.T) {
			count := 0
			err := clientInMemory(t, deliveriesOf(then)).Deliveries(t.Context(), &Resume{}, false, nil, func(Delivery) error { count++; return nil })
			require.EqualError(t, err, text)
			require.Equal(t, 2, count)
		})
	}
}

// So is one that the caller gives up, unless that has enough.
func TestAListThatIsGivenUpIsAnError(t *testing.T) {
	interrupted := errors.New("interrupted")
	synctest.Test(t, func(t *testing.T) {
		silent := clientInMemory(t, deliveriesOf(func(q *http.Request) { <-q.Context().Done() }))
		late, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.EqualError(t, silent.Deliveries(late, &Resume{}, false, nil, func(Delivery) error { return nil }), "the list is cut off: it takes too long")
		ctx, stop := context.WithCancelCause(t.Context())
		stopped := func(Delivery) error { stop(interrupted); return nil }
		require.EqualError(t, silent.Deliveries(ctx, &Resume{}, false, nil, stopped), "the list is cut off: interrupted")
		ctx, stop = context.WithCancelCause(t.Context())
		enough := func(Delivery) error { stop(interrupted); return errEnough }
		require.Equal(t, errEnough, silent.Deliveries(ctx, &Resume{}, false, nil, enough))
	})
}

// A node that ends within a list breaks the connection: an orderly end would be that of the list.
func TestAServerThatEndsCutsItsListsOff(t *testing.T) {
	s, c := serveNode(t, startNode(t, failaware.Config{ID: 1, Broadcast: &failaware.BroadcastConfig{}}))
	large := make([]failaware.Delivery, 15)
	for i := range large {
		large[i] = failaware.Delivery{View: &failaware.View{}, Payload: make([]byte, 1<<20)}
	}
	s.kept.add(large, false)
	err := c.Deliveries(t.Context(), &Resume{Last: "0"}, false, nil, func(Delivery) error {
		s.cancel()
		return nil
	})
	_, cut := errors.AsType[*CutOffError](err)
	require.True(t, cut, "%v", err)
}

// A node that has nothing to say beats.
func TestAQuietStreamIsNotGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		streams := NewStreams(t.Context())
		c := clientInMemory(t, func(w http.ResponseWriter, q *http.Request) {
			streams.Serve(w, q, 0, func(context.Context, uint64) iter.Seq[[]byte] {
				return func(yield func([]byte) bool) {
					time.Sleep(time.Hour)
					yield(streams.Message(1, "kind", Event{ID: "1"}))
				}
			})
		})
		err := c.Events(t.Context(), &Resume{}, nil, func(Event) error { return errEnough })
		require.ErrorIs(t, err, errEnough)
	})
}

// An application may take its time with an event: meanwhile nothing is read.
func TestASlowApplicationIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clientInMemory(t, func(w http.ResponseWriter, _ *http.Request) {
			require.NoError(t, http.NewResponseController(w).SetWriteDeadline(time.Time{}))
			eventsOf(w, "1", "2")
			time.Sleep(mostSilence / 2)
			eventsOf(w, "3")
		})
		err := c.Events(t.Context(), &Resume{}, nil, func(e Event) error {
			time.Sleep(mostSilence)
			if e.ID == "3" {
				return errEnough
			}
			return nil
		})
		require.ErrorIs(t, err, errEnough)
	})
}

// An event that the caller fails to take comes again.
func TestAStreamContinuesBehindWhatWasTaken(t *testing.T) {
	full := errors.New("no room")
	synctest.Test(t, func(t *testing.T) {
		r := &Resume{}
		c := clientInMemory(t, func(w http.ResponseWriter, _ *http.Request) { eventsOf(w, "a-1", "a-2", "a-3") })
		err := c.Events(t.Context(), r, nil, func(e Event) error {
			if e.ID == "a-2" {
				return full
			}
			return nil
		})
		require.Equal(t, full, err)
		require.Equal(t, "a-1", r.Last)
	})
}
