package api

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

// abuses are requests that nobody sends who means well. Each returns what to write, with the
// token or without, and whether the answer may be 200.
var abuses = map[string]func(token string) (text string, fair bool){
	"no host": func(string) (string, bool) { return "GET /v1/status HTTP/1.1\r\n\r\n", false },
	"two hosts": func(k string) (string, bool) {
		return with(k, "GET /v1/status HTTP/1.1\r\nHost: localhost\r\nHost: evil.example"), false
	},
	"foreign host": func(k string) (string, bool) { return with(k, "GET /v1/status HTTP/1.1\r\nHost: evil.example"), false },
	"foreign target": func(k string) (string, bool) {
		return with(k, "GET http://evil.example/v1/status HTTP/1.1\r\nHost: localhost"), false
	},
	"old, without a host": func(k string) (string, bool) { return with(k, "GET /v1/status HTTP/1.0"), false },
	"rebinding": func(k string) (string, bool) {
		return with(k, "POST /v1/resign HTTP/1.1\r\nHost: 127.0.0.1.evil.example:80\r\nContent-Length: 0"), false
	},
	"from a page": func(k string) (string, bool) {
		return with(k, "POST /v1/leave HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nContent-Length: 0"), false
	},
	"no token": func(string) (string, bool) { return "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n", false },
	"wrong token": func(string) (string, bool) {
		return with(strings.Repeat("y", 40), "GET /v1/status HTTP/1.1\r\nHost: localhost"), false
	},
	"huge token": func(string) (string, bool) {
		return with(strings.Repeat("y", 3*maxHeaderBytes), "GET /v1/status HTTP/1.1\r\nHost: localhost"), false
	},
	"long path": func(k string) (string, bool) {
		return with(k, "GET /"+strings.Repeat("a/", maxHeaderBytes)+" HTTP/1.1\r\nHost: localhost"), false
	},
	"many headers": func(k string) (string, bool) {
		return with(k, "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n"+strings.Repeat("X: y\r\n", maxHeaderBytes)+"Z: z"), false
	},
	"dots": func(k string) (string, bool) {
		return with(k, "GET /dashboard/../../etc/passwd HTTP/1.1\r\nHost: localhost"), false
	},
	"smuggling": func(k string) (string, bool) {
		return with(k, "POST /v1/status HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked") + "0\r\n\r\nGET /v1/status", false
	},
	"junk":   func(string) (string, bool) { return "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", false },
	"http/2": func(string) (string, bool) { return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", false },
	"negative body": func(k string) (string, bool) {
		return with(k, "POST /v1/resign HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1"), false
	},
	"huge body": func(k string) (string, bool) {
		return with(k, "POST /v1/resign HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999999") + strings.Repeat("x", 2*maxBodyBytes), false
	},
	"many at once": func(k string) (string, bool) {
		return strings.Repeat(with(k, "GET /v1/leader HTTP/1.1\r\nHost: localhost"), 50), true
	},
}

// with ends a head of a request with the token.
func with(token, head string) string { return head + "\r\nAuthorization: Bearer " + token + "\r\n\r\n" }

// attack sends an abuse, reads a part of the answer, and returns its status, or 0.
func attack(addr, text string) int {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return 0
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(longEnough))
	_, _ = io.WriteString(c, text) // the server may have closed the connection
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	return res.StatusCode
}

// No abuse gets an answer, changes anything, or keeps out a client with the token.
func TestAbuseOfTheAPI(t *testing.T) {
	const token = "0123456789abcdef0123456789abcdef"
	n := startNode(t, failaware.Config{ID: 1})
	s := NewServer(n)
	defer s.Close()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := inner.Addr().String()
	served := make(chan error, 1)
	go func() { served <- s.ServeTCP(inner, TokenOf(token)) }()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var work sync.WaitGroup
	for range 100 { // who never end their headers
		work.Go(func() { drip(ctx, addr) })
	}
	for name, make := range abuses {
		text, fair := make(token)
		if fair { // its connection may be the oldest of too many before it is read
			require.Eventually(t, func() bool { return attack(addr, text) == http.StatusOK }, longEnough, time.Millisecond, name)
			continue
		}
		code := attack(addr, text)
		require.True(t, code == 0 || code >= 300 && code < 500, "%s: status %d", name, code)
	}
	var sent, won atomic.Int64
	for i := range 4 {
		rnd := rand.New(rand.NewPCG(1, uint64(i)))
		work.Go(func() { mangle(ctx, addr, token, rnd, &sent, &won) })
	}
	client := NewClient(Address{URL: "http://" + addr}, token)
	for range 200 {
		var answer Leader
		require.NoError(t, client.Get(t.Context(), "/v1/leader", &answer))
	}
	require.Eventually(t, func() bool { return sent.Load() > 200 }, longEnough, time.Millisecond)
	require.Zero(t, won.Load(), "mangled requests were answered")
	require.NoError(t, n.Err())
	require.Equal(t, 1, n.Status().Incarnations)
	stop()
	work.Wait()
	s.Close()
	require.NoError(t, <-served)
}

// drip sends headers byte by byte, on a new connection whenever it is cut off.
func drip(ctx context.Context, addr string) {
	for ctx.Err() == nil {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			continue
		}
		for err == nil && ctx.Err() == nil {
			_, err = io.WriteString(c, "x")
			time.Sleep(time.Millisecond)
		}
		_ = c.Close()
	}
}

// mangle sends requests whose token is wrong in one byte, and other bytes before it, and
// counts them and those that were answered as if it were right.
func mangle(ctx context.Context, addr, token string, rnd *rand.Rand, sent, won *atomic.Int64) {
	for ctx.Err() == nil {
		b := []byte(with(token, "GET /v1/status HTTP/1.1\r\nHost: localhost"))
		at := bytes.Index(b, []byte(token)) + rnd.IntN(len(token))
		b[at] ^= byte(1 + rnd.IntN(127))
		for range rnd.IntN(4) {
			b[rnd.IntN(at)] = byte(rnd.IntN(256))
		}
		if code := attack(addr, string(b)); code >= 200 && code < 300 {
			won.Add(1)
		}
		sent.Add(1)
	}
}
