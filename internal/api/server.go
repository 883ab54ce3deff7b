package api

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/internal/why"
)

// Limits of the data that a server keeps for clients.
const (
	maxHeaderBytes = 8 << 10 // and the request line
	maxBodyBytes   = 16 << 10
	// MaxStreams is how many of the connections may be streams of events.
	MaxStreams = 64

	headerTimeout = 5 * time.Second
	writeTimeout  = 10 * time.Second // an answer, or one event of a stream
	idleTimeout   = time.Minute
	closeTimeout  = time.Second
	heartbeat     = 15 * time.Second // of silent streams
)

// Server answers requests to one node.
type Server struct {
	// Version is the version in /v1/status.
	Version string
	// Leave is called by POST /v1/leave; forGood if the node will not come back. It returns
	// what begins, which is called after the answer, or why the node cannot leave so. If
	// nil, the request is refused.
	Leave func(forGood bool) (begin func(), err error)
	// Pages, if not nil, answers requests for / and for paths below /dashboard/ over
	// TCP. Its answers are the same for everybody, and need no token.
	Pages http.Handler
	// Metrics, if not nil, answers GET /metrics.
	Metrics http.Handler
	// Debug, if not nil, answers requests for paths below [DebugPath].
	Debug http.Handler
	// SetLevel changes the level of the log to one of Levels. If nil, the request is
	// refused.
	SetLevel func(level string)
	// InFlags, if not nil, returns a text about settings with the names that users of the program
	// know: flags instead of fields.
	InFlags func(text string) string

	node    *failaware.Node
	cfg     failaware.Config // of the node
	streams *Streams
	last    atomic.Uint64 // the sequence number of the last event before the server started
	kept    *deliveryLog  // nil unless the node has deliveries
	past    clockHistory
	causes  *why.Record
	store   Store    // nil unless the node has one
	watches *Streams // of the store
	ctx     context.Context
	cancel  context.CancelFunc

	sent, sentBytes atomic.Uint64 // messages for clients
	refusals        refusals

	mu      sync.Mutex
	running []*http.Server
}

// NewServer returns a server for a node. It must be closed. It consumes the node's
// deliveries, if there are any.
func NewServer(n *failaware.Node) *Server { return NewServerWithStore(n, nil) }

// NewServerWithStore returns a server for a node whose deliveries belong to a key-value
// store, unless that is nil.
func NewServerWithStore(n *failaware.Node, store Store) *Server {
	s := &Server{node: n, cfg: n.Config(), store: store}
	s.causes = why.NewRecord(s.cfg.Timing, n.Bounds())
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.streams, s.watches = NewStreams(s.ctx), NewStreams(s.ctx)
	s.watches.most = MaxWatchers
	go s.recordCauses()
	go s.past.fill(s.ctx, n)
	if store != nil {
		s.kept = store.Log().log
		go s.endLog()
	} else if b := s.cfg.Broadcast; b != nil && !b.SendOnly {
		s.kept = newDeliveryLog()
		go s.kept.fill(s.ctx, n)
	}
	return s
}

// endLog ends the log of the store's deliveries when the store has stopped.
func (s *Server) endLog() {
	select {
	case <-s.store.Done():
		s.kept.end()
	case <-s.ctx.Done():
	}
}

// Run returns the name of this run of the program, which the ids of events begin with.
func (s *Server) Run() string { return s.streams.run }

const broadcastPath = "/v1/broadcast"

// route is one of the paths.
type route struct {
	method, path string
	parameters   parameters
	handle       func(*Server, http.ResponseWriter, *http.Request)
}

// routes are all paths of the server, the same as in docs/openapi.yaml.
var routes = []route{
	{http.MethodGet, "/v1/status", "", (*Server).status},
	{http.MethodGet, "/v1/leader", "", (*Server).leader},
	{http.MethodPost, holdPath, "global token", (*Server).hold},
	{http.MethodGet, "/v1/leader/find", "global", (*Server).find},
	{http.MethodGet, "/v1/global", "", (*Server).global},
	{http.MethodGet, "/v1/verify", "node!", (*Server).verify},
	{http.MethodGet, "/v1/view", "", (*Server).view},
	{http.MethodGet, "/v1/clock", "", (*Server).clock},
	{http.MethodGet, "/v1/clock/sources", "", (*Server).sources},
	{http.MethodGet, "/v1/clock/history", "", (*Server).history},
	{http.MethodGet, "/v1/members", "", (*Server).members},
	{http.MethodGet, "/v1/why", "about!", (*Server).why},
	{http.MethodGet, "/v1/events", "topic since", (*Server).events},
	{http.MethodPost, broadcastPath, "order atomicity wait", (*Server).broadcast},
	{http.MethodGet, "/v1/deliveries", "follow since", (*Server).deliveries},
	{http.MethodPost, "/v1/resign", "to", (*Server).resign},
	{http.MethodGet, "/v1/epoch", "", (*Server).epoch},
	{http.MethodPost, "/v1/epoch/change", "system! dead unheard", (*Server).changeQuorum},
	{http.MethodPost, "/v1/edict", "sha256!", (*Server).edict},
	{http.MethodGet, keysPath, "", (*Server).keys},
	{http.MethodPost, keysPath + "/reload", "", (*Server).reloadKeys},
	{http.MethodPost, "/v1/leave", "forget force", (*Server).leave},
	{http.MethodPost, "/v1/log-level", "level!", (*Server).logLevel},
	{http.MethodGet, kvPath + "get", "key! local wait", kvRoute((*Server).kvGet)},
	{http.MethodGet, kvPath + "list", "prefix= after= limit local wait", kvRoute((*Server).kvList)},
	{http.MethodPost, kvPutPath, "key! version ttl lease session number wait", kvRoute((*Server).kvPut)},
	{http.MethodPost, kvCasPath, "key! version! ttl lease session number wait", kvRoute((*Server).kvPut)},
	{http.MethodPost, kvBatchPath, "wait", kvRoute((*Server).kvBatch)},
	{http.MethodPost, kvPath + "delete", "key! version session number wait", kvRoute((*Server).kvDelete)},
	{http.MethodGet, kvPath + "watch", "prefix= since current wait", kvRoute((*Server).kvWatch)},
	{http.MethodGet, kvPath + "lease", "lease! local wait", kvRoute((*Server).kvLease)},
	{http.MethodPost, kvPath + "lease/grant", "ttl! session number wait", kvRoute((*Server).kvGrant)},
	{http.MethodPost, kvPath + "lease/renew", "lease! session number wait", kvRoute((*Server).kvRenew)},
	{http.MethodPost, kvPath + "lease/revoke", "lease! session number wait", kvRoute((*Server).kvRevoke)},
	{http.MethodPost, kvPath + "session/open", "wait", kvRoute((*Server).kvOpenSession)},
	{http.MethodPost, kvPath + "session/close", "session! wait", kvRoute((*Server).kvCloseSession)},
	{http.MethodGet, kvPath + "conflicts", "prefix= local wait", kvRoute((*Server).kvConflicts)},
	{http.MethodPost, kvPath + "resolve", "key! id! session number wait", kvRoute((*Server).kvResolve)},
	{http.MethodGet, kvPath + "status", "wait", kvRoute((*Server).kvStatus)},
	{http.MethodPost, kvPath + "bootstrap", "wait", kvRoute((*Server).kvBootstrap)},
	{http.MethodGet, "/metrics", "", (*Server).metrics},
	{http.MethodGet, "/healthz", "", (*Server).healthz},
	{http.MethodGet, "/readyz", "", (*Server).readyz},
	{http.MethodGet, "/readyz/store", "", (*Server).readyStore},
}

// Handler returns the handler of all paths.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.HandleFunc(r.path, func(w http.ResponseWriter, q *http.Request) {
			if !isFor(w, q, r.method, r.path) {
				return
			}
			if err := r.check(q.URL.RawQuery); err != nil {
				Fail(w, http.StatusBadRequest, err)
				return
			}
			if body, ok := take(w, q, s.mostBytes(r.path)); ok {
				q.Body = io.NopCloser(bytes.NewReader(body))
				r.handle(s, w, q)
			}
		})
	}
	if s.Debug != nil {
		mux.HandleFunc(DebugPath, func(w http.ResponseWriter, q *http.Request) {
			if isFor(w, q, http.MethodGet, DebugPath) {
				s.Debug.ServeHTTP(w, q)
			}
		})
	}
	mux.HandleFunc("/", noSuchPath)
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if p := q.URL.Path; path.Clean(p) != p && path.Clean(p)+"/" != p || p == "//" {
			noSuchPath(w, q) // the mux would redirect, in HTML
			return
		}
		mux.ServeHTTP(w, q)
	})
}

// isFor refuses a request with another method than that of its path, and returns false.
func isFor(w http.ResponseWriter, q *http.Request, method, path string) bool {
	if q.Method == method || method == http.MethodGet && q.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", method)
	Fail(w, http.StatusMethodNotAllowed, fmt.Errorf("%s is for %s only", path, method))
	return false
}

// mostBytes returns the limit of the body of requests for a path.
func (s *Server) mostBytes(path string) int64 {
	switch path {
	case broadcastPath:
		if b := s.cfg.Broadcast; b != nil && s.store != nil {
			return int64(b.MaxPayload - 1) // see [replicate.Replica.Broadcast]
		} else if b != nil {
			return int64(b.MaxPayload)
		}
	case kvPutPath, kvCasPath:
		return kv.MaxValueBytes
	case kvBatchPath:
		return MaxBatchBytes
	}
	return maxBodyBytes
}

func noSuchPath(w http.ResponseWriter, q *http.Request) {
	Fail(w, http.StatusNotFound, fmt.Errorf(noPath+": %.100q", q.URL.Path))
}

// take reads the body of a request. The body must come in time, while the answer may
// take longer.
func take(w http.ResponseWriter, q *http.Request, most int64) (body []byte, ok bool) {
	if q.Body == nil || q.Body == http.NoBody {
		return nil, true
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(headerTimeout)) // in tests there may be no connection
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, most))
	if err == nil { // net/http ends the deadline with the body
		return body, true
	}
	// The deadline stays: net/http reads the rest of a refused body before it closes the
	// connection, however slowly that comes.
	code, err := http.StatusBadRequest, fmt.Errorf("cannot read the body: %w", err)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("the body did not come within %v", headerTimeout)
	} else if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		code, err = http.StatusRequestEntityTooLarge, fmt.Errorf("the body is too large: %d bytes are the most", large.Limit)
	}
	w.Header().Set("Connection", "close")
	Fail(w, code, err)
	return nil, false
}

// Serve answers on a listener until Close. Further calls may serve further listeners.
func (s *Server) Serve(l net.Listener) error { return s.serve(l, withRoom(s.Handler()), nil) }

// serve answers with a handler, over TLS if there is a configuration.
func (s *Server) serve(l net.Listener, h http.Handler, secure *tls.Config) error {
	srv := newHTTPServer(h)
	s.mu.Lock()
	s.running = append(s.running, srv)
	s.mu.Unlock()
	if s.ctx.Err() != nil {
		return l.Close() // Close came first
	}
	counted := limit(l)
	counted.refused = s.refusals.note
	limited := net.Listener(counted)
	if secure != nil {
		limited = tls.NewListener(limited, secure)
	}
	err := srv.Serve(limited)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// ServeUntil answers on a listener with another handler, with the limits of this
// package, until ctx is done.
func ServeUntil(ctx context.Context, l net.Listener, h http.Handler) error {
	srv := newHTTPServer(h)
	defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
	err := srv.Serve(limit(l))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// newHTTPServer returns a server with the limits of this package.
func newHTTPServer(h http.Handler) *http.Server {
	const more = 4 << 10 // than MaxHeaderBytes is what net/http takes
	return &http.Server{Handler: h, MaxHeaderBytes: maxHeaderBytes - more, ReadHeaderTimeout: headerTimeout,
		IdleTimeout: idleTimeout, WriteTimeout: CommandLimit + writeTimeout, ConnContext: withConn, ErrorLog: log.New(silence{}, "", 0)}
}

// Close ends all streams, and stops answering. Streams of a node that has
// stopped get its last events first.
func (s *Server) Close() {
	if !isDone(s.node.Done()) {
		s.cancel()
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, srv := range s.running {
		if srv.Shutdown(ctx) != nil {
			s.cancel()
			_ = srv.Close()
		}
	}
	s.cancel()
}

// silence discards the log of net/http about clients.
type silence struct{}

func (silence) Write(b []byte) (int, error) { return len(b), nil }

// Answer writes a value as JSON.
func Answer(w http.ResponseWriter, code int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		code, b = http.StatusInternalServerError, []byte(`{"error":"cannot encode the answer"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = w.Write(append(b, '\n'))
}

// Fail writes an error.
func Fail(w http.ResponseWriter, code int, err error) {
	Answer(w, code, Failure{strings.TrimPrefix(err.Error(), "failaware: ")})
}

func (s *Server) status(w http.ResponseWriter, _ *http.Request) {
	status := s.node.Status()
	a := StatusOf(&status, &s.cfg, s.Version)
	a.Global = globalOf(s.node.Epoch(), s.node.GlobalLeader())
	a.Store = s.store != nil
	s.nameFlags(a.Members)
	Answer(w, http.StatusOK, a)
}

func (s *Server) leader(w http.ResponseWriter, _ *http.Request) {
	a := s.node.Leader()
	Answer(w, http.StatusOK, leaderOf(a, s.node.NameOf(a.Leader)))
}

func (s *Server) view(w http.ResponseWriter, _ *http.Request) {
	Answer(w, http.StatusOK, viewOf(s.node.View()))
}

func (s *Server) clock(w http.ResponseWriter, _ *http.Request) {
	r := s.node.Clock()
	a := clockOf(r, &s.cfg)
	if r.Status == clocksync.Internal {
		_, k := s.node.ReferencesOfUTC()
		a = a.withUTC(k)
	}
	Answer(w, http.StatusOK, a)
}

func (s *Server) members(w http.ResponseWriter, _ *http.Request) {
	a := membersAnswer(s.node)
	s.nameFlags(a.Members)
	Answer(w, http.StatusOK, a)
}

// inFlags is InFlags, if there is one.
func (s *Server) inFlags(text string) string {
	if s.InFlags == nil {
		return text
	}
	return s.InFlags(text)
}

// nameFlags has the reasons why nodes are ignored name flags.
func (s *Server) nameFlags(list []MemberInfo) {
	for i := range list {
		m := &list[i]
		m.Mismatch, m.Refused, m.Foreign = s.inFlags(m.Mismatch), s.inFlags(m.Refused), s.inFlags(m.Foreign)
	}
}

// eventOf returns the wire form of an event, whose text names flags.
func (s *Server) eventOf(e event.Event) Event {
	w := EventOf(e, s.node.ID(), s.streams.run)
	w.Text = s.inFlags(w.Text)
	return w
}

func (s *Server) resign(w http.ResponseWriter, q *http.Request) {
	ctx, cancel := context.WithTimeout(q.Context(), CommandLimit)
	defer cancel()
	to, err := successor(q)
	if err != nil {
		Fail(w, http.StatusBadRequest, err)
		return
	}
	if to == failaware.NoNode {
		err = s.node.Resign(ctx)
	} else {
		err = s.node.HandOver(ctx, to)
	}
	switch {
	case err == nil:
		Answer(w, http.StatusOK, Done{true})
	case errors.Is(err, failaware.ErrNotLeader), errors.Is(err, failaware.ErrSuccessor):
		Fail(w, http.StatusConflict, err)
	default:
		Fail(w, http.StatusServiceUnavailable, err)
	}
}

func (s *Server) leave(w http.ResponseWriter, r *http.Request) {
	if s.Leave == nil {
		Fail(w, http.StatusForbidden, errors.New("this node does not accept the command to leave"))
		return
	}
	forGood, err := flagOf(r, "forget", false)
	if err != nil {
		Fail(w, http.StatusBadRequest, err)
		return
	}
	force, err := flagOf(r, "force", false)
	if err != nil {
		Fail(w, http.StatusBadRequest, err)
		return
	}
	if e := s.node.Epoch(); forGood && !force && e.Voters.Has(s.node.ID()) {
		Fail(w, http.StatusConflict, fmt.Errorf("this node has a vote in %s, which nobody else would have: "+
			"replace the quorum system by one without it first, or insist by force", e.System))
		return
	}
	begin, err := s.Leave(forGood)
	if err != nil {
		Fail(w, http.StatusConflict, err)
		return
	}
	Answer(w, http.StatusAccepted, Done{true})
	begin()
}

func isDone(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
