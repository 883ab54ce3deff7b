package api

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// closing is a listener that closes the first connections unread.
type closing struct {
	net.Listener
	left atomic.Int64
}

func (l *closing) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil || l.left.Add(-1) < 0 {
			return c, err
		}
		_ = c.Close()
	}
}

// serveClosing serves a handler at a closing listener, over TLS if there is a configuration.
func serveClosing(t testing.TB, secure *tls.Config, h http.HandlerFunc) (l *closing, addr string) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l = &closing{Listener: inner}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	outer := net.Listener(l)
	if secure != nil {
		outer = tls.NewListener(l, secure)
	}
	go func() { served <- ServeUntil(ctx, outer, h) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-served)
	})
	return l, inner.Addr().String()
}

func closedConnectionsAreMadeAgain(t testing.TB) {
	l, addr := serveClosing(t, nil, func(w http.ResponseWriter, _ *http.Request) { Answer(w, http.StatusOK, Leader{}) })
	get := func() error {
		client := NewClient(Address{URL: "http://" + addr}, "")
		defer client.http.CloseIdleConnections()
		return client.Get(t.Context(), "/v1/leader", &Leader{})
	}
	for _, n := range []int64{0, 1, mostReconnects} {
		l.left.Store(n)
		require.NoError(t, get(), "%d closed", n)
	}
	const all = 1 << 40
	l.left.Store(all)
	var gone *UnreachableError
	require.ErrorAs(t, get(), &gone)
	require.Equal(t, int64(mostReconnects+1), all-l.left.Load(), "the attempts are bounded")
}

// A node that has too many strangers closes a client's connection before it has read the
// request. The client connects again.
func TestClosedConnectionsAreMadeAgain(t *testing.T) { closedConnectionsAreMadeAgain(t) }

// A command is sent once more if TLS was not yet set up, as nobody can have read it.
func TestCommandsThatNobodyReadAreSentAgain(t *testing.T) {
	x := serveRemote(t, true, "")
	var performed atomic.Int64
	l, at := serveClosing(t, x.r.current.Load().config, func(w http.ResponseWriter, _ *http.Request) {
		performed.Add(1)
		Answer(w, http.StatusOK, Done{true})
	})
	l.left.Store(mostReconnects)
	addr, err := ParseAddress("https://" + at)
	require.NoError(t, err)
	require.NoError(t, NewSecureClient(addr, "", x.config("client")).Post(t.Context(), "/v1/resign"))
	require.Equal(t, int64(1), performed.Load())

	// A node that refuses a certificate is not asked again.
	l.left.Store(0)
	require.ErrorContains(t, NewSecureClient(addr, "", x.config("")).Get(t.Context(), "/v1/leader", &Leader{}), "certificate required")
	require.Equal(t, int64(-1), l.left.Load())
}

func commandsAreNotPerformedTwice(t testing.TB) {
	var read atomic.Int64
	_, addr := serveClosing(t, nil, func(http.ResponseWriter, *http.Request) {
		read.Add(1)
		panic(http.ErrAbortHandler)
	})
	client := NewClient(Address{URL: "http://" + addr}, "")
	var gone *UnreachableError
	require.ErrorAs(t, client.Post(t.Context(), "/v1/resign"), &gone)
	_, err := client.Broadcast(t.Context(), []byte("payload"), nil)
	require.ErrorAs(t, err, &gone)
	require.Equal(t, int64(2), read.Load())
}

// A command that a node may have read is not sent again.
func TestCommandsAreNotPerformedTwice(t *testing.T) { commandsAreNotPerformedTwice(t) }

// A request may have arrived if there was a connection, unless TLS refused the client.
func TestOfALostRequestItIsSaidWhetherItMayHaveArrived(t *testing.T) {
	refused := &net.OpError{Op: "remote error", Err: io.ErrUnexpectedEOF}
	for _, x := range []struct {
		err       error
		connected bool
		want      bool
	}{{io.EOF, true, true}, {io.EOF, false, false}, {refused, true, false}, {refused, false, false}} {
		e := &UnreachableError{Err: x.err, connected: x.connected}
		require.Equal(t, x.want, e.MayHaveArrived(), "%+v", x)
	}
}
