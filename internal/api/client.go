package api

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/failaware/failaware/internal/trust"
)

// maxAnswer is the limit of an answer, which may have all keys of a store.
const maxAnswer = 96 << 20

// Client sends requests to one node.
type Client struct {
	addr   Address
	token  string
	http   *http.Client
	prefix string

	user atomic.Int64 // who has answered at the socket last, if neither root nor the user of this process has; or 0
}

// errSlow is the cause of an [UnreachableError] after a connection: the node may wait for
// another node, or be stopped.
var errSlow = errors.New("no answer in time")

// UnreachableError says that no node answers at an address.
type UnreachableError struct {
	Addr Address
	Err  error

	elsewhere string // a hint at another address
	connected bool
}

func newUnreachable(addr Address, err error) *UnreachableError {
	return &UnreachableError{Addr: addr, Err: err, elsewhere: elsewhere(addr, systemSocket)}
}

// MayHaveArrived reports whether the node may have had the request.
func (e *UnreachableError) MayHaveArrived() bool { return e.connected && !refusedByTLS(e.Err) }

// Distrusted reports whether node and client do not trust each other, so that no later request
// is better.
func (e *UnreachableError) Distrusted() bool {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](e.Err)
	return untrusted || refusedByTLS(e.Err) || errors.Is(e.Err, http.ErrSchemeMismatch)
}

func (e *UnreachableError) Error() string {
	if v, untrusted := errors.AsType[*tls.CertificateVerificationError](e.Err); untrusted {
		text := fmt.Sprintf("the node at %s is not trusted: %v", e.Addr, plain(e.Err))
		if _, unknown := v.Err.(x509.UnknownAuthorityError); unknown {
			text += "; --ca or FAILAWARE_CA names the file with that authority"
		}
		return text
	}
	if refusedByTLS(e.Err) {
		return fmt.Sprintf("the node at %s refuses this client: %v; --cert and --key name a certificate of its --api-client-ca", e.Addr, plain(e.Err))
	}
	if errors.Is(e.Err, fs.ErrPermission) {
		return fmt.Sprintf("the node at %s answers its own user, its group and root only: %v", e.Addr, plain(e.Err))
	}
	if errors.Is(e.Err, errSlow) {
		return fmt.Sprintf("the node at %s has not answered in time", e.Addr)
	}
	return fmt.Sprintf("no node answers at %s: %v; --addr or FAILAWARE_ADDR names its API%s", e.Addr, plain(e.Err), e.elsewhere)
}

// elsewhere returns a hint at the socket of the system's service, if that exists and is not
// the one that was asked. The client does not use it by itself: a command such as leave must
// not reach another node.
func elsewhere(asked Address, service string) string {
	info, err := os.Stat(service)
	if asked.Socket == "" || asked.Socket == service || err != nil || info.Mode().Type() != fs.ModeSocket {
		return ""
	}
	return ": there is " + service
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// ForgedError says that another user may have created the socket at which a process
// answers.
type ForgedError struct {
	Addr Address
	Err  error
}

func (e *ForgedError) Error() string { return fmt.Sprintf("the socket %s: %v", e.Addr, e.Err) }

func (e *ForgedError) Unwrap() error { return e.Err }

// StatusError is an answer with an error status.
type StatusError struct {
	Code    int
	Text    string
	Foreign bool // it is not in a node's form, so a proxy on the way may have given it
	body    []byte
}

func (e *StatusError) Error() string { return e.Text }

// noPath is the prefix of the answer to a request for a path that a node does not have.
const noPath = "no such path"

// NoPath reports whether the node does not have the path, because it is of an older build.
func (e *StatusError) NoPath() bool {
	return e.Code == http.StatusNotFound && strings.HasPrefix(e.Text, noPath)
}

// OfStore reports whether the store of a node has answered with the outcome of a write.
func (e *StatusError) OfStore() bool {
	var answer KVWrite
	return json.Unmarshal(e.body, &answer) == nil && answer.Status != ""
}

// NewClient returns a client for an address. The token is for URLs.
func NewClient(addr Address, token string) *Client { return NewSecureClient(addr, token, nil) }

// NewSecureClient is like [NewClient]; secure is for addresses with https.
func NewSecureClient(addr Address, token string, secure *tls.Config) *Client {
	transport := &http.Transport{MaxIdleConns: 2, IdleConnTimeout: 30 * time.Second, TLSClientConfig: secure}
	c := &Client{addr: addr, token: token, prefix: addr.URL, http: &http.Client{Transport: reconnecting{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if addr.Socket != "" {
		c.prefix = "http://node"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			conn, err := d.DialContext(ctx, "unix", addr.Socket)
			if err != nil {
				return nil, err
			}
			if err := trust.Peer(conn, addr.Socket); err != nil {
				return nil, errors.Join(&ForgedError{addr, err}, conn.Close())
			}
			c.user.Store(0)
			if user, known, _ := trust.User(conn.(*net.UnixConn)); known && user != os.Geteuid() {
				c.user.Store(int64(user))
			}
			return conn, nil
		}
	}
	return c
}

// Addr returns the address of the node.
func (c *Client) Addr() Address { return c.addr }

// Other returns the user of the node that has answered at a unix socket, or 0 if that is root or
// the user of this process, or is not known. What such a node says of files is no reason to
// touch them: it may name those of others, which it could not change itself.
func (c *Client) Other() (user int) { return int(c.user.Load()) }

// Get asks for a path, and decodes the answer into v.
func (c *Client) Get(ctx context.Context, path string, v any) error {
	return c.do(ctx, http.MethodGet, path, v)
}

// Post performs a command without an answer.
func (c *Client) Post(ctx context.Context, path string) error {
	return c.do(ctx, http.MethodPost, path, &Done{})
}

// Edict asks the node to create an edict for the SHA-256, in hexadecimal digits, of a
// payload.
func (c *Client) Edict(ctx context.Context, sha256 string) (e Edict, err error) {
	return e, c.do(ctx, http.MethodPost, "/v1/edict?sha256="+sha256, &e)
}

func (c *Client) do(ctx context.Context, method, path string, v any) error {
	return c.exchange(ctx, method, path, nil, v)
}

// Broadcast asks the node to send a payload to the members of its view.
func (c *Client) Broadcast(ctx context.Context, payload []byte, query url.Values) (s Sent, err error) {
	return s, c.exchange(ctx, http.MethodPost, broadcastPath+"?"+query.Encode(), payload, &s)
}

// exchange sends a request with a body, and decodes the answer into v.
func (c *Client) exchange(ctx context.Context, method, path string, body []byte, v any) error {
	res, err := c.send(ctx, method, path, "", body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return c.unreachable(ctx, true, err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return foreign(c.addr, err)
	}
	return nil
}

// ForeignError is an answer that no node of this build gives. Whoever gave it, such as a proxy, may
// have passed the request on.
type ForeignError struct {
	Addr Address
	what string
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("the server at %s is not a node of failaware: %s", e.Addr, e.what)
}

// foreign returns the error of an answer; err is that of its decoding.
func foreign(addr Address, err error) error {
	what := "its answer is not JSON"
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		what = fmt.Sprintf("its answer has a JSON %s at %q", wrong.Value, wrong.Field)
	} else if ok {
		what = "its answer is a JSON " + wrong.Value
	}
	return &ForeignError{addr, what}
}

// send sends a request, and returns a successful answer.
func (c *Client) send(ctx context.Context, method, path, last string, body []byte) (*http.Response, error) {
	var connected atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	q, err := http.NewRequestWithContext(traced, method, c.prefix+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if c.token != "" {
		q.Header.Set("Authorization", "Bearer "+c.token)
	}
	if last != "" {
		q.Header.Set("Last-Event-ID", last)
	}
	res, err := c.http.Do(q)
	if err != nil {
		return nil, c.unreachable(ctx, connected.Load(), err)
	}
	if res.StatusCode < 300 {
		return res, nil
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(io.LimitReader(res.Body, maxBodyBytes))
	f := Failure{}
	foreign := json.Unmarshal(b, &f) != nil || f.Error == ""
	if foreign {
		f.Error = fmt.Sprintf("the server at %s answers %s", c.addr, res.Status)
	} else if res.StatusCode == http.StatusUnauthorized {
		f.Error += "; " + credentialsOf(c.addr)
	}
	return nil, &StatusError{res.StatusCode, f.Error, foreign, b}
}

// credentialsOf says how commands name what a node at an address wants to see.
func credentialsOf(addr Address) string {
	if addr.Secure() {
		return "--cert with --key, or --token-file, names its file"
	}
	return "--token-file or FAILAWARE_TOKEN_FILE names its file"
}

// unreachable returns the error of a request that has no answer.
func (c *Client) unreachable(ctx context.Context, connected bool, err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if forged, ok := errors.AsType[*ForgedError](err); ok {
		return forged
	}
	if late := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errSlow); late && connected {
		err = errSlow
	} else if late {
		err = errors.New("no connection in time")
	} else if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e := newUnreachable(c.addr, err)
	e.connected = connected
	return e
}
