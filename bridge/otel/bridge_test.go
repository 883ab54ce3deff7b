package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	proto "go.opentelemetry.io/proto/otlp/trace/v1"
	pb "google.golang.org/protobuf/proto"

	client "github.com/failaware/failaware/clients/go"
)

// longEnough ends a test that hangs.
const longEnough = 2 * time.Minute

// receiver is a collector that keeps the spans.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	spans map[string][]*proto.Span // by trace
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{spans: map[string][]*proto.Span{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		var body collector.ExportTraceServiceRequest
		b, err := io.ReadAll(q.Body)
		if err != nil || q.URL.Path != "/v1/traces" || q.Header.Get("Content-Type") != "application/x-protobuf" || pb.Unmarshal(b, &body) != nil {
			http.Error(w, "not OTLP", http.StatusBadRequest)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, rs := range body.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					id := hex.EncodeToString(s.TraceId)
					r.spans[id] = append(r.spans[id], s)
				}
			}
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// of returns the spans of a trace.
func (r *receiver) of(id string) []*proto.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*proto.Span(nil), r.spans[id]...)
}

// build builds a program of the module in a directory.
func build(t *testing.T, in, what, to string) string {
	t.Helper()
	c := exec.Command("go", "build", "-buildvcs=false", "-o", to, what)
	c.Dir = in
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	return to
}

// start starts a process, which ends with the test.
func start(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(program, args...)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		if t.Failed() {
			t.Logf("%v: %s", args, said.String())
		}
	})
	return c
}

// startNodes starts nodes with a broadcast, and waits until they are one view.
func startNodes(t *testing.T, dir, program string, count int, more ...string) (sockets []string, nodes []*client.ClientWithResponses) {
	t.Helper()
	seed := ""
	for id := 1; id <= count; id++ {
		socket := filepath.Join(dir, fmt.Sprint(id))
		args := []string{"node", "--id", fmt.Sprint(id), "--group", "traced", "--broadcast", "--api", socket, "--preset", "wan"}
		args = append(args, more...)
		if seed != "" {
			args = append(args, "--join", seed)
		}
		start(t, program, args...)
		c, err := client.New(client.Unix(socket))
		require.NoError(t, err)
		sockets, nodes = append(sockets, socket), append(nodes, c)
		require.Eventually(t, func() bool {
			s, err := c.GetStatusWithResponse(t.Context())
			if err == nil && s.JSON200 != nil {
				seed = s.JSON200.Address
			}
			return err == nil && s.JSON200 != nil
		}, longEnough, 10*time.Millisecond)
	}
	for _, socket := range sockets {
		out, err := exec.Command(program, "--addr", socket, "wait", "view", "--members", fmt.Sprint(count), "--timeout", longEnough.String()).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	return sockets, nodes
}

// A message that one of three nodes broadcasts is one trace in a collector, though each node
// has a bridge of its own: sent, and delivered at each node, within the bounds of the clock.
func TestOneMessageIsOneTrace(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	const count = 3
	dir, err := os.MkdirTemp("", "fa")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	bridge := build(t, ".", ".", filepath.Join(dir, "failaware-otel"))
	sockets, nodes := startNodes(t, dir, build(t, "../..", "./cmd/failaware", filepath.Join(dir, "failaware")), count)
	r := newReceiver(t)
	for _, socket := range sockets {
		start(t, bridge, "-node", socket, "-otlp", r.URL)
	}

	// Bridges tell new deliveries only, so messages are sent until one is told by all.
	wait := true
	sent := map[string]*client.Sent{}
	whole := func() string {
		for id := range sent {
			if len(r.of(id)) == 1+count {
				return id
			}
		}
		return ""
	}
	for end := time.Now().Add(longEnough); whole() == ""; time.Sleep(100 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "no message is told by all bridges")
		a, err := nodes[1].BroadcastWithBodyWithResponse(t.Context(), &client.BroadcastParams{Wait: &wait}, "text/plain", strings.NewReader("hello"))
		require.NoError(t, err)
		if a.JSON200 != nil && a.JSON200.Delivered {
			sent[digest("traced", a.JSON200.Id).trace.String()] = a.JSON200
		}
	}
	id := whole()
	checkTrace(t, r.of(id), digest("traced", sent[id].Id), *sent[id].StampNs)
}

// checkTrace checks the spans of a message that node 2 has sent.
func checkTrace(t *testing.T, spans []*proto.Span, root ids, stamp int64) {
	at := map[int64]bool{}
	for _, s := range spans {
		require.Equal(t, root.trace[:], s.TraceId)
		require.Equal(t, uint64(stamp), s.StartTimeUnixNano, "it begins when the message was sent, by the group's clock")
		require.GreaterOrEqual(t, s.EndTimeUnixNano, s.StartTimeUnixNano)
		has := map[string]int64{}
		for _, a := range s.Attributes {
			has[a.Key] = a.Value.GetIntValue()
		}
		require.Equal(t, int64(2), has["failaware.sender"])
		require.Positive(t, has["failaware.position"])
		for _, bound := range []string{"failaware.sent.deviation_ns", "failaware.delivered.deviation_ns"} {
			require.Contains(t, has, bound)
		}
		switch s.Name {
		case "broadcast":
			require.Equal(t, root.span[:], s.SpanId)
			require.Empty(t, s.ParentSpanId)
		case "deliver":
			require.Equal(t, root.span[:], s.ParentSpanId)
			at[has["failaware.node"]] = true
		default:
			require.Fail(t, s.Name)
		}
	}
	require.Equal(t, map[int64]bool{1: true, 2: true, 3: true}, at)
}

// All bridges choose the same messages, about as many as they shall.
func TestAShareOfTheMessages(t *testing.T) {
	chosen := 0
	for i := range 10_000 {
		x := digest("traced", fmt.Sprint(i))
		require.True(t, share(1).has(x))
		if share(0.1).has(x) {
			chosen++
			require.True(t, share(0.2).has(x))
		}
	}
	require.InDelta(t, 1000, chosen, 200)
}

func TestBadOptionsAreNamed(t *testing.T) {
	for want, o := range map[string]options{
		"-share: 2 is not above 0 and up to 1":                                            {share: 2},
		"-node and -token-file: failaware: the URL of a node needs the file of its token": {share: 1, node: "http://127.0.0.1:1"},
		"-node and -token-file: failaware: the node's token: open /nonexistent":           {share: 1, node: "http://127.0.0.1:1", token: "/nonexistent"},
		`-otlp: "localhost" begins neither with http://`:                                  {share: 1, node: "/nonexistent", collector: "localhost"},
		"the node: Get \"http://node/v1/status\": dial unix":                              {share: 1, node: "/nonexistent", collector: "http://127.0.0.1:1"},
	} {
		require.ErrorContains(t, o.main(context.Background()), want)
	}
}

// A node without a broadcast is asked again and again, and the log says once what it lacks.
func TestARefusalIsSaidOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 3 {
			cancel()
		}
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"error": "broadcast is off"}`)
	}))
	defer node.Close()
	c, err := client.New(client.URL(node.URL, "token", nil))
	require.NoError(t, err)
	var log bytes.Buffer
	require.NoError(t, (&bridge{node: c, log: slog.New(slog.NewTextHandler(&log, nil))}).run(ctx))
	require.Equal(t, 1, strings.Count(log.String(), "broadcast is off"), log.String())
}

// A bridge whose node refuses its token, as after another one was made, ends: no later attempt is
// better, and a new bridge reads the new token.
func TestABridgeEndsWhenItsNodeDeniesIt(t *testing.T) {
	ctx, again := context.WithCancel(t.Context())
	asked := 0
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked > 1 {
			again()
		}
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error": "the token is missing or wrong"}`)
	}))
	defer node.Close()
	c, err := client.New(client.URL(node.URL, "token", nil))
	require.NoError(t, err)
	err = (&bridge{node: c, log: slog.New(slog.DiscardHandler)}).run(ctx)
	require.EqualError(t, err, "the node: failaware: the token is missing or wrong")
}

// A node that does not tell its time is told once, and that it does again.
func TestUntoldTimesAreSaidOnce(t *testing.T) {
	asked := 0
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked <= 3 {
			w.WriteHeader(http.StatusGatewayTimeout)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	}))
	defer node.Close()
	c, err := client.New(client.URL(node.URL, "token", nil))
	require.NoError(t, err)
	var log bytes.Buffer
	clock := trouble{log: slog.New(slog.NewTextHandler(&log, nil))}
	told(func(to trace.Tracer) {
		b := &bridge{node: c, tracer: to, share: 1}
		for range 5 {
			d := message()
			d.Kind = "message"
			b.tell(t.Context(), d, &clock)
		}
		require.EqualValues(t, 2, b.told.Load())
	})
	require.Equal(t, 1, strings.Count(log.String(), "error=\"the node answers 504"), log.String())
	require.Equal(t, 2, strings.Count(log.String(), "\n"), log.String())
}
