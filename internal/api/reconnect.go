package api

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/failaware/failaware/internal/sockerr"
)

// Limits of sending a request once more.
const (
	mostReconnects = 6
	reconnectPause = 5 * time.Millisecond // before the first; each further one is twice as long
)

// reconnecting sends requests, and sends one once more if the node closes its new connection
// without an answer. A node that has too many strangers closes the oldest, which may be a
// client that has not come to show its token; net/http tries again only if a connection was
// used before.
type reconnecting struct{ *http.Transport }

func (r reconnecting) RoundTrip(q *http.Request) (*http.Response, error) {
	pause := reconnectPause
	for n := 0; ; n++ {
		res, again, err := r.once(q)
		if err == nil || !again || n == mostReconnects {
			return res, err
		}
		select {
		case <-q.Context().Done():
			return nil, err
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// once sends a request, and reports whether it may be sent once more if it fails: the node
// has closed the connection, and the request changes nothing, or was not written.
func (r reconnecting) once(q *http.Request) (res *http.Response, again bool, err error) {
	var connected, written atomic.Bool
	trace := &httptrace.ClientTrace{
		GotConn:      func(httptrace.GotConnInfo) { connected.Store(true) },
		WroteHeaders: func() { written.Store(true) },
	}
	one := q.Clone(httptrace.WithClientTrace(q.Context(), trace))
	if q.GetBody != nil {
		if one.Body, err = q.GetBody(); err != nil {
			return nil, false, err
		}
	}
	res, err = r.Transport.RoundTrip(one)
	closed := connected.Load() || errors.Is(err, io.EOF) || sockerr.Of(err) == syscall.ECONNRESET // also before TLS is set up
	return res, closed && !refusedByTLS(err) && (q.Method == http.MethodGet || !written.Load()) && q.Context().Err() == nil, err
}

// refusedByTLS reports whether the node has said over TLS why it closes the connection.
func refusedByTLS(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error"
}
