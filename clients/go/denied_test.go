package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// patient returns a context that ends with the twentieth connection to a server, so that nothing
// asks there for ever.
func patient(t *testing.T, s *httptest.Server) context.Context {
	ctx, enough := context.WithCancelCause(t.Context())
	var connections atomic.Int32
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew && connections.Add(1) == 20 {
			enough(errors.New("it asks again and again"))
		}
	}
	t.Cleanup(func() { s.Close(); enough(nil) })
	return ctx
}

// A client and a node that do not trust each other will not, however often the client asks: a
// watch ends, and of a command it is known that nobody has carried it out.
func TestWhoeverIsNotTrustedIsNotAskedAgain(t *testing.T) {
	answers := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	for name, start := range map[string]func(*httptest.Server) *tls.Config{
		"the certificate is of nobody known": func(s *httptest.Server) *tls.Config {
			s.StartTLS()
			return nil
		},
		"the certificate has another name": func(s *httptest.Server) *tls.Config {
			s.StartTLS()
			c := s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
			c.ServerName = "node.example.net"
			return c
		},
		"the client has no certificate": func(s *httptest.Server) *tls.Config {
			s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
			s.StartTLS()
			return s.Client().Transport.(*http.Transport).TLSClientConfig
		},
		"it is no server of TLS": func(s *httptest.Server) *tls.Config {
			s.Start()
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewUnstartedServer(answers)
			ctx := patient(t, s)
			secure := start(s)
			c, err := New(URL("https://"+s.Listener.Addr().String(), "token", secure))
			require.NoError(t, err)
			for _, err := range Watch(ctx, KvWatchParams{}, c) {
				require.True(t, Denied(err), "%v", err)
			}
			_, err = OpenSession(ctx, c)
			require.True(t, Denied(err), "%v", err)
			require.NoError(t, context.Cause(ctx))
		})
	}
}

// So it is at a socket which another user may have made. A command goes on at a node that is
// trusted.
func TestAnUntrustedSocketIsNotAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		untrusted := doer(func(q *http.Request) (*http.Response, error) {
			asked++
			return nil, &url.Error{Op: q.Method, URL: q.URL.String(), Err: errors.Join(fmt.Errorf("the socket: %w", ErrUntrusted))}
		}).client(t)
		works := doer(func(*http.Request) (*http.Response, error) { return says(http.StatusOK, `{"status": "done"}`) }).client(t)
		ctx, cancel := context.WithTimeout(t.Context(), longEnough)
		defer cancel()
		for _, err := range Watch(ctx, KvWatchParams{}, untrusted) {
			require.ErrorIs(t, err, ErrUntrusted)
		}
		require.Equal(t, 1, asked)
		_, err := NewWriter(untrusted).Put(ctx, "colour", nil)
		require.True(t, Denied(err), "%v", err)
		require.NotErrorIs(t, err, ErrUnknownOutcome)
		_, err = OpenSession(ctx, untrusted, works)
		require.NoError(t, err)
		require.Equal(t, 3, asked)
	})
}

// A node that refuses what the client shows says so by its answer, which other answers do not.
func TestARefusalSaysWhetherTheClientIsDenied(t *testing.T) {
	for code, want := range map[int]bool{http.StatusUnauthorized: true, http.StatusForbidden: true, http.StatusNotFound: false, http.StatusServiceUnavailable: false} {
		node := doer(func(*http.Request) (*http.Response, error) { return says(code, `{"error": "no"}`) }).client(t)
		for _, err := range node.Events(t.Context(), "", "") {
			require.EqualError(t, err, "failaware: no")
			require.Equal(t, want, Denied(err), code)
		}
	}
	require.False(t, Denied(nil))
	require.False(t, Denied(context.Canceled))
}
