package api

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

// A request that is over is not kept: a node serves for years.
func noRequestIsKept(t testing.TB) {
	token := TokenOf("0123456789abcdef0123")
	h := guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { require.Len(t, token.underWay.all, 1) }), token)
	for range 5 {
		q := httptest.NewRequest(http.MethodGet, "/v1/status", nil)
		q.Header.Set("Authorization", "Bearer 0123456789abcdef0123")
		h.ServeHTTP(httptest.NewRecorder(), q)
		require.Empty(t, token.underWay.all)
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v1/status", nil))
		require.Empty(t, token.underWay.all)
	}
}

func TestNoRequestIsKept(t *testing.T) { noRequestIsKept(t) }

// A server that was closed before it begins to serve ends at once, and leaves no listener.
func TestACloseBeforeServeCounts(t *testing.T) {
	s := NewServer(startNode(t, failaware.Config{ID: 1}))
	s.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	select {
	case err := <-served:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		t.Fatal("it serves")
	}
	_, err = net.Dial("tcp", l.Addr().String())
	require.Error(t, err)
}
