package api

import (
	"bufio"
	"context"
	"io"
	"iter"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

// pipes is a listener in memory, whose connections live in virtual time.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{} }

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.accepted <- server
	return client
}

// serveInMemory serves a handler that wants a body, and one that answers with a lot.
func serveInMemory(t *testing.T) *pipes {
	l := newPipes()
	mux := http.NewServeMux()
	mux.HandleFunc("/take", func(w http.ResponseWriter, q *http.Request) {
		if body, ok := take(w, q, maxBodyBytes); ok {
			Answer(w, http.StatusOK, len(body))
		}
	})
	mux.HandleFunc("/give", func(w http.ResponseWriter, _ *http.Request) {
		for range 1000 {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/think", func(w http.ResponseWriter, q *http.Request) {
		body, ok := take(w, q, maxBodyBytes)
		select {
		case <-q.Context().Done():
			Fail(w, http.StatusServiceUnavailable, q.Context().Err())
		case <-time.After(CommandLimit):
			if ok {
				Answer(w, http.StatusOK, len(body))
			}
		}
	})
	streams := NewStreams(t.Context())
	mux.HandleFunc("/stream", func(w http.ResponseWriter, q *http.Request) {
		streams.Serve(w, q, 0, func(ctx context.Context, _ uint64) iter.Seq[[]byte] {
			return func(yield func([]byte) bool) {
				for n := uint64(1); ctx.Err() == nil && yield(streams.Message(n, "kind", strings.Repeat("x", maxBodyBytes))); n++ {
					time.Sleep(time.Second)
				}
			}
		})
	})
	srv := newHTTPServer(mux)
	go func() { _ = srv.Serve(limit(l)) }()
	t.Cleanup(func() { _ = srv.Close() })
	return l
}

// ended returns after how long the server closes a connection, while drip goes on writing.
func ended(c net.Conn, drip func() bool) time.Duration {
	began := time.Now()
	var both sync.WaitGroup
	both.Go(func() {
		for drip() {
			time.Sleep(100 * time.Millisecond)
		}
	})
	both.Go(func() { _, _ = io.Copy(io.Discard, c) })
	both.Wait()
	return time.Since(began)
}

// slowRequests are beginnings of requests, by what comes slowly.
var slowRequests = map[string]string{
	"all":            "",
	"request line":   "GET /take",
	"headers":        "GET /take HTTP/1.1\r\nHost: localhost\r\nX: ",
	"body":           "POST /take HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000\r\n\r\n",
	"chunks":         "POST /take HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
	"second request": "GET /take HTTP/1.1\r\nHost: localhost\r\n\r\nGET /take HTT",
}

// A client that sends its headers, or its body, byte by byte is cut off in time.
func TestSlowRequestsAreCutOff(t *testing.T) {
	for name, begin := range slowRequests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { require.LessOrEqual(t, dripped(t, begin), headerTimeout+time.Second) })
		})
	}
}

// A client whose body comes too slowly hears how long it has for it.
func TestASlowBodyIsToldTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serveInMemory(t).dial()
		defer c.Close()
		_, err := io.WriteString(c, slowRequests["body"])
		require.NoError(t, err)
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusBadRequest, res.StatusCode)
		b, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.JSONEq(t, `{"error": "the body did not come within 5s"}`, string(b))
	})
}

// The request line and the headers may have as many bytes as the page says.
func TestTheLimitOfHeadersIsKept(t *testing.T) {
	for size, want := range map[int]int{maxHeaderBytes: http.StatusOK, maxHeaderBytes + 1: http.StatusRequestHeaderFieldsTooLarge} {
		synctest.Test(t, func(t *testing.T) {
			c := serveInMemory(t).dial()
			head := "GET /take HTTP/1.1\r\nHost: localhost\r\nX: "
			go func() { _, _ = io.WriteString(c, head+strings.Repeat("x", size-len(head)-4)+"\r\n\r\n") }()
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			require.NoError(t, err)
			require.Equal(t, want, res.StatusCode, size)
			_ = c.Close()
			time.Sleep(time.Second) // net/http lingers
		})
	}
}

// dripped returns after how long the server cuts off a client that begins so, and goes on
// slowly.
func dripped(t *testing.T, begin string) time.Duration {
	c := serveInMemory(t).dial()
	defer c.Close()
	drop := "x"
	if strings.Contains(begin, "chunked") {
		drop = "1\r\nx\r\n"
	}
	text := begin + drop
	return ended(c, func() bool {
		_, err := io.WriteString(c, text)
		text = drop
		return err == nil
	})
}

// A client that does not read its answer is cut off, and an idle one too.
func TestClientsThatDoNotReadAreCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serveInMemory(t).dial()
		_, err := io.WriteString(c, "GET /give HTTP/1.1\r\nHost: localhost\r\n\r\n")
		require.NoError(t, err)
		time.Sleep(CommandLimit + writeTimeout + time.Second)
		n, err := io.Copy(io.Discard, c)
		require.NoError(t, err)
		require.Less(t, n, int64(1<<20), "the rest was not sent")
	})
	synctest.Test(t, func(t *testing.T) {
		c := serveInMemory(t).dial()
		_, err := io.WriteString(c, "GET /take HTTP/1.1\r\nHost: localhost\r\n\r\n")
		require.NoError(t, err)
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, res.StatusCode)
		require.LessOrEqual(t, ended(c, func() bool { return false }), idleTimeout+time.Second)
	})
}

// A command may take longer than its body may.
func TestCommandsMayTakeTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serveInMemory(t).dial()
		defer c.Close()
		_, err := io.WriteString(c, "POST /think HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi")
		require.NoError(t, err)
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, res.StatusCode)
	})
}

// A stream lasts while its client reads, however long that is, and no longer than one item may
// take if it does not.
func TestStreamsLastWhileTheyAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serveInMemory(t).dial()
		defer c.Close()
		begin := time.Now()
		_, err := io.WriteString(c, "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
		require.NoError(t, err)
		lines := bufio.NewReader(c)
		for time.Since(begin) < 3*(CommandLimit+writeTimeout) {
			_, err := lines.ReadString('\n')
			require.NoError(t, err, "after %v", time.Since(begin))
		}
		time.Sleep(2 * writeTimeout)
		_, err = io.Copy(io.Discard, lines)
		require.NoError(t, err)
		require.LessOrEqual(t, time.Since(begin), 3*(CommandLimit+writeTimeout)+2*writeTimeout+time.Second)
	})
}

// Bodies that are too large, or never end, are refused without being read.
func TestHugeBodiesAreRefused(t *testing.T) {
	for name, head := range map[string]string{
		"announced": "POST /take HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999\r\n\r\n",
		"endless":   "POST /take HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := serveInMemory(t).dial()
				chunk, sent := "1000\r\n"+strings.Repeat("x", 0x1000)+"\r\n", 0
				go func() {
					_, err := io.WriteString(c, head)
					for err == nil {
						_, err = io.WriteString(c, chunk)
						sent++
					}
				}()
				res, err := http.ReadResponse(bufio.NewReader(c), nil)
				require.NoError(t, err)
				require.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode)
				_, _ = io.Copy(io.Discard, c)
				_ = c.Close()
				synctest.Wait()
				require.Less(t, sent*len(chunk), 1<<20)
			})
		})
	}
}

// lastEventsAreWaitedFor closes the server of a node that runs, and that of one that has stopped,
// while an answer is under way. Streams of the second still get its last events.
func lastEventsAreWaitedFor(t *testing.T, n *failaware.Node, stopped bool) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{node: n, streams: NewStreams(t.Context())}
		s.ctx, s.cancel = context.WithCancel(t.Context())
		var ended error
		s.Metrics = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			time.Sleep(closeTimeout / 2)
			ended = s.ctx.Err()
		})
		l := newPipes()
		go func() { _ = s.Serve(l) }()
		c := l.dial()
		go func() { _, _ = io.Copy(io.Discard, c) }()
		_, err := io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: node\r\n\r\n")
		require.NoError(t, err)
		synctest.Wait()
		s.Close()
		require.Equal(t, stopped, ended == nil)
		require.Error(t, s.ctx.Err())
		require.NoError(t, c.Close())
	})
}

func TestLastEventsAreWaitedFor(t *testing.T) {
	n := startNode(t, failaware.Config{ID: 1})
	lastEventsAreWaitedFor(t, n, false)
	require.NoError(t, n.Close())
	lastEventsAreWaitedFor(t, n, true)
}
