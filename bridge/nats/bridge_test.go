package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	client "github.com/failaware/failaware/clients/go"
)

// longEnough ends a test that hangs.
const longEnough = 2 * time.Minute

// startNATS starts a real server with JetStream; port -1 is any.
func startNATS(t *testing.T, dir string, port int) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, NoLog: true, NoSigs: true})
	require.NoError(t, err)
	s.Start()
	require.True(t, s.ReadyForConnections(longEnough))
	t.Cleanup(s.Shutdown)
	return s
}

// group is some nodes, which are processes.
type group struct {
	t       *testing.T
	program string
	sockets []string
	nodes   []*client.ClientWithResponses
}

func startGroup(t *testing.T, count int) *group {
	t.Helper()
	dir, err := os.MkdirTemp("", "fa")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	g := &group{t: t, program: filepath.Join(dir, "failaware")}
	build := exec.Command("go", "build", "-buildvcs=false", "-o", g.program, "./cmd/failaware")
	build.Dir = "../.."
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	peer := ""
	for id := 1; id <= count; id++ {
		socket := filepath.Join(dir, fmt.Sprint(id))
		args := []string{"node", "--id", fmt.Sprint(id), "--group", "a b", "--broadcast", "--api", socket, "--preset", "wan"}
		if peer != "" {
			args = append(args, "--peer", peer)
		}
		node := exec.Command(g.program, args...)
		require.NoError(t, node.Start())
		t.Cleanup(func() {
			_ = node.Process.Kill()
			_ = node.Wait()
		})
		c, err := client.New(client.Unix(socket))
		require.NoError(t, err)
		g.sockets, g.nodes = append(g.sockets, socket), append(g.nodes, c)
		require.Eventually(t, func() bool {
			s, err := c.GetStatusWithResponse(t.Context())
			if err != nil || s.JSON200 == nil {
				return false
			}
			peer = s.JSON200.Address
			return true
		}, longEnough, 10*time.Millisecond)
	}
	for _, socket := range g.sockets {
		out, err := exec.Command(g.program, "--addr", socket, "wait", "view", "--members", fmt.Sprint(count), "--timeout", longEnough.String()).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	return g
}

// send broadcasts messages from a node, and waits until the node delivers them.
func (g *group) send(node int, texts ...string) {
	g.t.Helper()
	wait := true
	for _, text := range texts {
		sent, err := g.nodes[node].BroadcastWithBodyWithResponse(g.t.Context(), &client.BroadcastParams{Wait: &wait}, "text/plain", strings.NewReader(text))
		require.NoError(g.t, err)
		require.NotNil(g.t, sent.JSON200, string(sent.Body))
	}
}

// start starts a bridge of a node, and returns how to end it.
func (g *group) start(node int, url string) (b *bridge, end func()) {
	g.t.Helper()
	conn, err := nats.Connect(url, new(options).natsOptions()...)
	require.NoError(g.t, err)
	js, err := jetstream.New(conn)
	require.NoError(g.t, err)
	b = &bridge{node: g.nodes[node], js: js, stream: "FAILAWARE", what: parts, log: slog.New(slog.DiscardHandler)}
	ctx, cancel := context.WithCancel(g.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		assert.NoError(g.t, b.run(ctx), "the bridge of node %d", node+1)
	}()
	end = func() {
		cancel()
		<-done
		conn.Close()
	}
	return b, end
}

// stored returns the payloads of all messages in the stream, and its subjects.
func stored(t *testing.T, url string) (messages []string, subjects map[string]int) {
	t.Helper()
	conn, err := nats.Connect(url)
	require.NoError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	stream, err := js.Stream(t.Context(), "FAILAWARE")
	if err != nil {
		return nil, nil
	}
	info, err := stream.Info(t.Context())
	require.NoError(t, err)
	subjects = map[string]int{}
	for seq := info.State.FirstSeq; seq <= info.State.LastSeq && seq > 0; seq++ {
		m, err := stream.GetMsg(t.Context(), seq)
		require.NoError(t, err)
		subjects[m.Subject]++
		if strings.HasPrefix(m.Subject, "failaware.a_b.messages.") {
			var d client.Delivery
			require.NoError(t, json.Unmarshal(m.Data, &d))
			messages = append(messages, *d.Message)
		}
	}
	return messages, subjects
}

// delivered returns the messages that a node delivers, in their order.
func (g *group) delivered(node, count int) (messages []string) {
	g.t.Helper()
	for d, err := range g.nodes[node].Deliveries(g.t.Context(), "0") {
		require.NoError(g.t, err)
		if d.Kind == "message" {
			if messages = append(messages, *d.Message); len(messages) == count {
				break
			}
		}
	}
	return messages
}

// Two members have bridges, of which one starts late, one ends and starts again, and NATS
// restarts. All is in the stream once, and the messages are in the order of deliveries.
func TestEverythingIsPublishedOnceAndInOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	store := t.TempDir()
	s := startNATS(t, store, -1)
	url := s.ClientURL()
	g := startGroup(t, 2)
	first, end := g.start(0, url)
	g.send(0, "a1", "a2", "a3")
	require.Eventually(t, func() bool { return first.published.Load() > 0 }, longEnough, time.Millisecond, "the others find something")
	second, endSecond := g.start(1, url)
	g.send(1, "b1", "b2", "b3")
	end()
	g.send(0, "a4", "a5")

	port := s.Addr().String()
	s.Shutdown()
	s.WaitForShutdown()
	g.send(1, "b4")
	var n int
	_, err := fmt.Sscanf(port[strings.LastIndex(port, ":")+1:], "%d", &n)
	require.NoError(t, err)
	startNATS(t, store, n)

	again, endAgain := g.start(0, url)
	g.send(0, "a6")
	const all = 10
	want := g.delivered(0, all)
	require.Equal(t, want, g.delivered(1, all))
	var got []string
	var subjects map[string]int
	for end := time.Now().Add(longEnough); len(got) < all || second.known.Load() == 0 || again.known.Load() == 0 || again.known.Load()+again.published.Load() < all; time.Sleep(50 * time.Millisecond) {
		got, subjects = stored(t, url)
		require.True(t, time.Now().Before(end), "%v of %v, %d known to one bridge and %d to the other", got, want, second.known.Load(), again.known.Load())
	}
	require.Equal(t, want, got)
	views, leaders := 0, 0
	for subject, count := range subjects {
		require.Equal(t, 1, count, subject)
		switch {
		case strings.HasPrefix(subject, "failaware.a_b.views."):
			views++
		case strings.HasPrefix(subject, "failaware.a_b.leader."):
			leaders++
		}
	}
	require.Positive(t, views)
	require.Positive(t, leaders)
	endAgain()
	endSecond()
}

// A message that is larger than the server takes does not keep back those after it: it is
// counted, and nothing else is left out.
func TestWhatIsTooLargeIsLeftOut(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	s := startNATS(t, t.TempDir(), -1)
	url := s.ClientURL()
	g := startGroup(t, 1)
	b, end := g.start(0, url)
	defer end()
	g.send(0, "before", strings.Repeat("x", 1<<20), "after")
	want := g.delivered(0, 3)
	var got []string
	for end := time.Now().Add(longEnough); len(got) < 2; time.Sleep(50 * time.Millisecond) {
		got, _ = stored(t, url)
		require.True(t, time.Now().Before(end), "%v of %v", got, want)
	}
	require.Equal(t, []string{want[0], want[2]}, got)
	require.Equal(t, uint64(1), b.tooLarge.Load())

	// So does a stream that its operator has given a smaller limit.
	b = &bridge{js: refusing{err: &jetstream.APIError{ErrorCode: tooLargeForStream}}, log: slog.New(slog.DiscardHandler)}
	require.True(t, b.publish(t.Context(), "subject", "value"))
	require.Equal(t, uint64(1), b.tooLarge.Load())
}

// refusing is a server that stores nothing.
type refusing struct {
	jetstream.JetStream
	err error
}

func (r refusing) Publish(context.Context, string, []byte, ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	return nil, r.err
}

// A node that refuses is asked again and again, and the log says once why it refuses. An item
// between two refusals makes the next one news.
func TestARefusalIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		b := &bridge{log: slog.New(slog.NewTextHandler(&log, nil))}
		ctx, cancel := context.WithCancel(t.Context())
		asked := 0
		_ = follow(ctx, b, func(string) iter.Seq2[client.Event, error] {
			return func(yield func(client.Event, error) bool) {
				if asked++; asked == 5 && !yield(client.Event{}, nil) {
					return
				}
				if asked == 9 {
					cancel()
				}
				yield(client.Event{}, errors.New("broadcast is off"))
			}
		}, func(client.Event) item { return item{} })
		require.Equal(t, 9, asked)
		require.Equal(t, 2, strings.Count(log.String(), "broadcast is off"), log.String())
	})
}

// A bridge whose node refuses its token, as after another one was made, ends with all its streams:
// no later attempt is better, and a new bridge reads the new token.
func TestABridgeEndsWhenItsNodeDeniesIt(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), longEnough)
	defer cancel()
	events := make(chan struct{})
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/v1/events" {
			close(events)
			<-q.Context().Done() // it is of no use to the other stream that this one lasts
			return
		}
		<-events
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error": "the token is missing or wrong"}`)
	}))
	defer node.Close()
	c, err := client.New(client.URL(node.URL, "token", nil))
	require.NoError(t, err)
	b := &bridge{node: c, what: parts, log: slog.New(slog.DiscardHandler)}
	require.EqualError(t, b.follow(ctx), "the node: failaware: the token is missing or wrong")
}

// A stream goes on after its last item, also if that is not published.
func TestAStreamGoesOnAfterItsLastItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bridge{log: slog.New(slog.DiscardHandler)}
		ctx, cancel := context.WithCancel(t.Context())
		var asked []string
		_ = follow(ctx, b, func(since string) iter.Seq2[client.Event, error] {
			asked = append(asked, since)
			return func(yield func(client.Event, error) bool) {
				if len(asked) == 3 {
					cancel()
				}
				if yield(client.Event{Id: fmt.Sprint(len(asked))}, nil) {
					yield(client.Event{}, errors.New("the stream has ended"))
				}
			}
		}, func(e client.Event) item { return item{id: e.Id} })
		require.Equal(t, []string{"0", "1", "2"}, asked)
	})
}

// busy is a NATS that stores an item only after some attempts.
type busy struct {
	jetstream.JetStream
	attempts int
}

func (b *busy) Publish(context.Context, string, []byte, ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	if b.attempts--; b.attempts > 0 {
		return nil, nats.ErrTimeout
	}
	return &jetstream.PubAck{}, nil
}

func TestAnItemIsSentUntilItIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		js := &busy{attempts: 3}
		b := &bridge{js: js, log: slog.New(slog.DiscardHandler)}
		require.True(t, b.publish(t.Context(), "subject", "value"))
		require.Zero(t, js.attempts)
		require.Equal(t, uint64(1), b.published.Load())
	})
}

// starting is a server whose JetStream answers with an error a number of times.
type starting struct {
	jetstream.JetStream
	times int
	err   error
}

func (s *starting) Stream(context.Context, string) (jetstream.Stream, error) {
	if s.times--; s.times < 0 {
		return nil, nil
	}
	return nil, s.err
}

// A server that has just started says for a while that it has no JetStream. One that says so
// for long has none, and what it refuses is refused at once.
func TestABridgeWaitsForAServerThatStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for times, want := range map[int]error{0: nil, 10: nil, 1000: jetstream.ErrJetStreamNotEnabled} {
			b := &bridge{js: &starting{times: times, err: jetstream.ErrJetStreamNotEnabled}, log: slog.New(slog.DiscardHandler)}
			require.ErrorIs(t, b.makeStream(t.Context()), want)
		}
		b := &bridge{js: &starting{times: 1, err: &jetstream.APIError{Code: 403}}, log: slog.New(slog.DiscardHandler)}
		require.Error(t, b.makeStream(t.Context()))
	})
}

func TestBadOptionsAreNamed(t *testing.T) {
	for want, o := range map[string]options{
		`-what: "news" is none of views, leader, messages`:                                {what: "views,news"},
		"-node and -token-file: failaware: the URL of a node needs the file of its token": {what: "views", node: "http://127.0.0.1:1"},
		"-node and -token-file: failaware: the node's token: open /nonexistent":           {what: "views", node: "http://127.0.0.1:1", token: "/nonexistent"},
		"-nats nats://127.0.0.1:1: nats: no servers":                                      {what: "views", node: "/nonexistent", server: "nats://127.0.0.1:1"},
	} {
		require.ErrorContains(t, o.main(t.Context()), want)
	}
	require.Equal(t, "a_b_c__", token("a.b c*>"))
}

// What is published is what was asked for, and the beginnings and ends of both kinds of leads
// are told by the node that has them.
func TestWhatIsPublished(t *testing.T) {
	view, message, count := "9@1/00", "00c0ffee.1", int64(4)
	leads := []string{"elected", "lead-lost", "global-elected", "global-lost"}
	for _, what := range [][]string{{"views"}, {"leader"}, {"views", "leader"}} {
		b := &bridge{what: what}
		for _, kind := range append(leads, "view-installed", "following", "ready", "missed") {
			want := item{id: "r.7"}
			switch {
			case kind == "missed":
				want.missed = 4
			case kind == "view-installed" && b.wants("views"):
				want.subject = "views.9@1/00"
			case slices.Contains(leads, kind) && b.wants("leader"):
				want.subject = "leader.3.r_7"
			}
			require.Equal(t, want, b.event(client.Event{Kind: kind, Id: "r.7", Node: 3, View: &view, Count: &count}), "%s with %v", kind, what)
		}
	}
	for kind, want := range map[string]item{"message": {id: "5", subject: "messages.00c0ffee_1"}, "missed": {id: "5", missed: 4}, "view": {id: "5"}, "settled": {id: "5"}} {
		require.Equal(t, want, new(bridge).delivery(client.Delivery{Kind: kind, Id: "5", Message: &message, Count: &count}), kind)
	}
}

// Each flag about NATS reaches its client, which reads the files at once.
func TestOptionsOfNATS(t *testing.T) {
	apply := func(o options) (n nats.Options, err error) {
		for _, f := range o.natsOptions() {
			err = errors.Join(err, f(&n))
		}
		return n, err
	}
	n, err := apply(options{})
	require.NoError(t, err)
	require.Equal(t, nats.Options{Name: "failaware-nats", MaxReconnect: -1, ReconnectWait: retryAfter, IgnoreAuthErrorAbort: true}, n)
	_, err = apply(options{creds: "/nonexistent/creds", natsCA: "/nonexistent/ca", natsCert: "/nonexistent/cert", natsKey: "/nonexistent/key"})
	for _, file := range []string{"creds", "ca", "cert"} {
		require.ErrorContains(t, err, "/nonexistent/"+file+":")
	}
}
