package api

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

// accepts makes connections that l has accepted.
func accepts(t *testing.T, l *slots) (dial func() (client, server net.Conn)) {
	t.Helper()
	accepted := make(chan net.Conn)
	go func() {
		defer close(accepted)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	return func() (net.Conn, net.Conn) {
		c, err := net.Dial(l.Addr().Network(), l.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c, <-accepted
	}
}

func requireClosed(t *testing.T, c net.Conn) {
	t.Helper()
	require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Minute)))
	_, err := c.Read(make([]byte, 1))
	require.Error(t, err)
	var timeout net.Error
	require.False(t, errors.As(err, &timeout) && timeout.Timeout())
}

func TestStrangersGiveWayToStrangersOnly(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := limit(inner)
	l.most = 1
	dial := accepts(t, l)
	_, known := dial()
	require.True(t, l.admit(known.(*slotConn)))
	require.True(t, l.admit(known.(*slotConn)), "once is enough")
	first, oldest := dial()
	for range MaxStrangers {
		dial()
	}
	requireClosed(t, first)
	require.False(t, l.admit(oldest.(*slotConn)), "it is closed")
	_, other := dial()
	require.False(t, l.admit(other.(*slotConn)), "there is one slot")
	require.NoError(t, known.Close())
	_ = known.Close() // frees nothing more
	require.True(t, l.admit(other.(*slotConn)))
	require.Equal(t, 1, l.total)
}

func TestAUserHasAShareOfTheConnections(t *testing.T) {
	l := limit(nil)
	l.most, l.perUser = 3, 1
	conn := func(user int) *slotConn {
		one, other := net.Pipe()
		t.Cleanup(func() { _ = other.Close() })
		return &slotConn{Conn: one, slots: l, user: user}
	}
	a := conn(12345)
	require.True(t, l.admit(a))
	require.False(t, l.admit(conn(12345)))
	require.True(t, l.admit(conn(12346)))
	require.True(t, l.admit(conn(0)), "root has no share")
	require.False(t, l.admit(conn(0)), "there are no more")
	require.NoError(t, a.Close())
	require.True(t, l.admit(conn(12345)))
	require.NotContains(t, l.users, noUser)
	require.NoError(t, a.Close())

	other := conn(noUser)
	l.most = 10
	require.True(t, l.admitAs(other, "client"))
	require.False(t, l.admitAs(conn(noUser), "client"))
	require.NoError(t, other.Close())
	require.Empty(t, l.clients, "it grows with the clients that there are, not with those that there were")
}

// Connections that show no token do not keep out those that do.
func TestStrangersDoNotShutOutClients(t *testing.T) {
	const token = "0123456789abcdef"
	s := NewServer(startNode(t, failaware.Config{ID: 1}))
	defer s.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = s.ServeTCP(l, TokenOf(token)) }()
	for range 2 * MaxConnections {
		c, err := net.Dial("tcp", l.Addr().String())
		require.NoError(t, err)
		defer c.Close()
	}
	var answer Leader
	client := NewClient(Address{URL: "http://" + l.Addr().String()}, token)
	require.NoError(t, client.Get(t.Context(), "/v1/leader", &answer))
}

func TestTooManyClientsAreToldSo(t *testing.T) {
	l := limit(nil)
	l.most = 0
	refused := 0
	l.refused = func() { refused++ }
	c := &slotConn{slots: l, user: noUser}
	q := httptest.NewRequest(http.MethodGet, "/", nil)
	q.Host = "127.0.0.1"
	q.Header.Set("Authorization", "Bearer x")
	w := httptest.NewRecorder()
	guard(http.NotFoundHandler(), TokenOf("x")).ServeHTTP(w, q.WithContext(withConn(q.Context(), c)))
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Contains(t, w.Body.String(), errTooMany.Error())
	require.Equal(t, 1, refused)
}

// A client of the socket that finds no room is told so, and is answered if there is room by then.
func clientsOfTheSocketAreTold(t testing.TB) {
	path := filepath.Join(t.TempDir(), "s")
	inner, err := net.Listen("unix", path)
	require.NoError(t, err)
	l := limit(inner)
	l.most = 1
	var refused atomic.Int64
	l.refused = func() { refused.Add(1) }
	srv := newHTTPServer(withRoom(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { Answer(w, http.StatusOK, Done{true}) })))
	go func() { _ = srv.Serve(l) }()
	defer func() { _ = srv.Close() }()
	first, err := net.Dial("unix", path)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.total == 1
	}, longEnough, time.Millisecond)
	client := func() error { return NewClient(Address{Socket: path}, "").Post(t.Context(), "/") }
	for range 3 {
		var e *StatusError
		require.ErrorAs(t, client(), &e)
		require.Equal(t, http.StatusServiceUnavailable, e.Code)
		require.ErrorContains(t, e, "too many connections: 128, and of one user 32, are the most")
	}
	require.EqualValues(t, 3, refused.Load())
	require.NoError(t, first.Close())
	require.Eventually(t, func() bool { return client() == nil }, longEnough, time.Millisecond)
}

func TestClientsOfTheSocketAreToldOfTooMany(t *testing.T) { clientsOfTheSocketAreTold(t) }

// asking is where a log goes that takes its time: meanwhile, others ask how many were refused.
type asking struct {
	t    *testing.T
	of   *Server
	said []uint64
}

func (a *asking) Write(b []byte) (int, error) {
	require.True(a.t, a.of.refusals.mu.TryLock(), "whoever asks waits for the log")
	a.of.refusals.mu.Unlock()
	a.said = append(a.said, a.of.Refused())
	return len(b), nil
}

func TestALogThatBlocksHoldsUpNoAnswer(t *testing.T) {
	a := &asking{t: t, of: &Server{}}
	a.of.LogTo(hclog.New(&hclog.LoggerOptions{Output: a}))
	a.of.refusals.note()
	require.Equal(t, []uint64{1}, a.said)
}

// Refusals are logged when they begin, and once a minute while they go on.
func TestRefusalsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		r := refusals{log: hclog.New(&hclog.LoggerOptions{Output: &text})}
		lines := func() int { return strings.Count(text.String(), "\n") }
		r.note()
		require.Equal(t, 1, lines())
		require.Contains(t, text.String(), "requests are refused: the node has too many connections: 128, and of one user 32, are the most: count=1")
		for range 119 {
			time.Sleep(time.Second)
			r.note()
		}
		require.Equal(t, 2, lines())
		require.Contains(t, text.String(), "count=60")
		require.EqualValues(t, 120, r.count)
		(&refusals{}).note()
	})
}
