package api

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

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
	c := &slotConn{slots: l, user: noUser}
	q := httptest.NewRequest(http.MethodGet, "/", nil)
	q.Host = "127.0.0.1"
	q.Header.Set("Authorization", "Bearer x")
	w := httptest.NewRecorder()
	guard(http.NotFoundHandler(), TokenOf("x")).ServeHTTP(w, q.WithContext(withConn(q.Context(), c)))
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Contains(t, w.Body.String(), errTooMany.Error())
}

func TestTheSocketKnowsItsUsers(t *testing.T) {
	inner, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	l := limit(inner)
	l.most = 1
	dial := accepts(t, l)
	_, first := dial()
	require.True(t, first.(*slotConn).admitted)
	c, err := net.Dial("unix", inner.Addr().String())
	require.NoError(t, err)
	requireClosed(t, c)
}
