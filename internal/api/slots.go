package api

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/failaware/failaware/internal/trust"
)

// Limits of the connections of a listener.
const (
	// MaxConnections is how many authenticated connections a listener keeps: those of
	// users who may use the unix socket, and those that have shown the token over TCP.
	MaxConnections = 128
	// MaxPerUser is how many of them one user may have: on a unix socket a user other
	// than root and the one of the node, and of other hosts one certificate, or one
	// address that shows the token.
	MaxPerUser = 32
	// MaxStrangers is how many connections may be open that have not yet shown the
	// token, or over a unix socket have found no room. The oldest one is closed when there
	// is one more.
	MaxStrangers = 64
)

var errTooMany = fmt.Errorf("the node has too many connections: %d, and of one user %d, are the most", MaxConnections, MaxPerUser)

// slots counts the connections of a listener.
type slots struct {
	net.Listener
	mu        sync.Mutex
	most      int
	perUser   int
	total     int
	users     map[int]int
	clients   map[string]int
	strangers []*slotConn // oldest first
	refused   func()      // is called for each request of a connection that has no room
}

func limit(l net.Listener) *slots {
	return &slots{Listener: l, most: MaxConnections, perUser: MaxPerUser, users: map[int]int{}, clients: map[string]int{}, refused: func() {}}
}

// slotConn is a counted connection.
type slotConn struct {
	net.Conn
	slots    *slots
	user     int
	client   string // of another host; empty if it is not known
	admitted bool
	closed   bool

	verified atomic.Pointer[verified] // the last verification of its client's certificate
}

// noUser is the user of a connection whose user is not known.
const noUser = -1

// Accept returns the next connection. One over a unix socket is admitted at once if there is
// room. Others are strangers until admit.
func (s *slots) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	out := &slotConn{Conn: c, slots: s, user: noUser}
	u, unix := c.(*net.UnixConn)
	if unix {
		if user, known, err := trust.User(u); err == nil && known {
			out.user = user
		}
	}
	if !unix || !s.admit(out) {
		s.addStranger(out)
	}
	return out, nil
}

// addStranger counts a connection, and closes the oldest of too many.
func (s *slots) addStranger(c *slotConn) {
	s.mu.Lock()
	s.strangers = append(s.strangers, c)
	var oldest *slotConn
	if len(s.strangers) > MaxStrangers {
		oldest = s.strangers[0]
	}
	s.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close()
	}
}

// admit counts a connection as authenticated, if there is room.
func (s *slots) admit(c *slotConn) bool { return s.admitAs(c, "") }

func (s *slots) admitAs(c *slotConn, client string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.admitted {
		c.client = client
	}
	switch {
	case c.closed:
		return false
	case c.admitted:
		return true
	case s.total >= s.most:
		return false
	case c.user > 0 && c.user != os.Geteuid() && s.users[c.user] >= s.perUser:
		return false
	case c.client != "" && s.clients[c.client] >= s.perUser:
		return false
	}
	c.admitted = true
	s.total++
	if c.client != "" {
		s.clients[c.client]++
	}
	if c.user != noUser {
		s.users[c.user]++
	}
	s.forget(c)
	return true
}

func (s *slots) forget(c *slotConn) {
	s.strangers = slices.DeleteFunc(s.strangers, func(x *slotConn) bool { return x == c })
}

func (c *slotConn) Close() error {
	err := c.Conn.Close()
	s := c.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.closed {
		return err
	}
	c.closed = true
	s.forget(c)
	if c.admitted {
		s.total--
		if s.users[c.user]--; s.users[c.user] <= 0 {
			delete(s.users, c.user)
		}
		if s.clients[c.client]--; s.clients[c.client] <= 0 {
			delete(s.clients, c.client)
		}
	}
	return err
}

// slotKey is the key of a request's connection in its context.
type slotKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, slotKey{}, c)
}

// admittedAs counts the connection of an authenticated request, as one of a client of
// another host if it has a name. It is true for a request that has no counted connection.
func admittedAs(q *http.Request, client string) bool {
	c := connOf(q)
	return c == nil || c.slots.admitAs(c, client)
}

// withRoom passes on requests of the unix socket, and refuses those whose connections have found
// no room and still find none.
func withRoom(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if !admittedAs(q, "") {
			refuse(w, q)
			return
		}
		next.ServeHTTP(w, q)
	})
}

// refuse answers a request whose connection has no room, and ends the connection.
func refuse(w http.ResponseWriter, q *http.Request) {
	if c := connOf(q); c != nil {
		c.slots.refused()
	}
	w.Header().Set("Connection", "close")
	Fail(w, http.StatusServiceUnavailable, errTooMany)
}

// connOf returns the counted connection of a request, or nil.
func connOf(q *http.Request) *slotConn {
	x := q.Context().Value(slotKey{})
	if t, ok := x.(*tls.Conn); ok {
		x = t.NetConn()
	}
	c, _ := x.(*slotConn)
	return c
}
