package api

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/cli/clitest"
)

// kept is a client that keeps its connections.
type kept struct {
	t      testing.TB
	http   *http.Client
	url    string
	token  string
	dialed int
}

func keep(t testing.TB, url, token string, secure *tls.Config) *kept {
	k := &kept{t: t, url: url, token: token}
	transport := &http.Transport{TLSClientConfig: secure, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		k.dialed++
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}}
	k.http = &http.Client{Transport: transport}
	t.Cleanup(transport.CloseIdleConnections)
	return k
}

func (k *kept) get(path string) *http.Response {
	q, err := http.NewRequestWithContext(k.t.Context(), http.MethodGet, k.url+path, nil)
	require.NoError(k.t, err)
	if k.token != "" {
		q.Header.Set("Authorization", "Bearer "+k.token)
	}
	res, err := k.http.Do(q)
	require.NoError(k.t, err)
	return res
}

// asks returns the status of an answer, whose connection it keeps.
func (k *kept) asks() int {
	res := k.get("/v1/leader")
	_, err := io.Copy(io.Discard, res.Body)
	require.NoError(k.t, err)
	require.NoError(k.t, res.Body.Close())
	return res.StatusCode
}

// follows opens a stream. The channel is closed when it ends.
func (k *kept) follows() <-chan struct{} {
	res := k.get("/v1/events")
	require.Equal(k.t, http.StatusOK, res.StatusCode)
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		close(ended)
	}()
	return ended
}

// replacedAuthoritiesAreNone replaces the authority of clients that have connections and streams:
// neither outlasts it, whether there is a token too. Those of an authority that stays do.
func replacedAuthoritiesAreNone(t *testing.T) {
	for _, token := range []string{"", testToken} {
		replacedAuthorityIsNone(t, token)
	}
}

func replacedAuthorityIsNone(t *testing.T, token string) {
	x := serveRemote(t, true, token)
	old, stays := keep(t, "https://"+x.addr, "", x.config("client")), x.config("stranger")
	before, err := os.ReadFile(x.file("users.pem"))
	require.NoError(t, err)
	others, err := os.ReadFile(x.file("others.pem"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(x.file("users.pem"), append(append([]byte{}, before...), others...), 0o600))
	require.NoError(t, x.r.Load())
	kept := keep(t, "https://"+x.addr, "", stays)

	require.Equal(t, http.StatusOK, old.asks())
	require.Equal(t, http.StatusOK, kept.asks())
	ended, goesOn := old.follows(), kept.follows()
	require.Equal(t, http.StatusOK, old.asks())
	require.Equal(t, http.StatusOK, kept.asks())
	dialed, dialedByKept := old.dialed, kept.dialed

	require.NoError(t, os.WriteFile(x.file("users.pem"), others, 0o600))
	require.NoError(t, x.r.Load())
	<-ended
	require.Equal(t, http.StatusUnauthorized, old.asks())
	require.Equal(t, dialed, old.dialed, "it was the old connection")
	require.Equal(t, http.StatusOK, kept.asks())
	require.Equal(t, dialedByKept, kept.dialed)
	select {
	case <-goesOn:
		require.Fail(t, "a stream of a client that is still known has ended")
	default:
	}
	clitest.NewAuthority(t, x.dir, "users") // of the name that the stranger's does not have
	require.NoError(t, x.r.Load())
	<-goesOn
}

func TestClientsOfAReplacedAuthorityAreCutOff(t *testing.T) { replacedAuthoritiesAreNone(t) }

// expires has a client whose certificate expires. It returns whether its stream ends, before
// patience if that is not nil, and the status of an answer over the connection that it had.
func expires(t *testing.T, patience <-chan time.Time) (ended bool, status int) {
	x := serveRemote(t, true, "")
	c, end := keep(t, "https://"+x.addr, "", x.config("client")), x.leaf("client").NotAfter
	before := end.Add(-100 * time.Millisecond)
	x.now.Store(&before)
	select {
	case <-c.follows():
		ended = true
	case <-patience:
	}
	require.Equal(t, http.StatusOK, c.asks())
	dialed := c.dialed
	x.now.Store(&end)
	status = c.asks()
	require.Equal(t, dialed, c.dialed, "it was the old connection")
	return ended, status
}

func TestClientsWithAnExpiredCertificateAreCutOff(t *testing.T) {
	ended, status := expires(t, nil)
	require.True(t, ended)
	require.Equal(t, http.StatusUnauthorized, status)
}

// A chain of certificates is over when the first of them expires, and a client has the chain
// that lasts longest.
func TestACertificateExpiresWithItsChain(t *testing.T) {
	at := func(hours ...time.Duration) (chain []*x509.Certificate) {
		for _, h := range hours {
			chain = append(chain, &x509.Certificate{NotAfter: time.Unix(0, 0).Add(h * time.Hour)})
		}
		return chain
	}
	hour := func(h time.Duration) time.Time { return time.Unix(0, 0).Add(h * time.Hour) }
	require.Equal(t, hour(5), expiry([][]*x509.Certificate{at(5)}))
	require.Equal(t, hour(3), expiry([][]*x509.Certificate{at(5, 3, 9)}))
	require.Equal(t, hour(4), expiry([][]*x509.Certificate{at(5, 3), at(4, 9), at(2, 7)}))
}

// A token that is replaced admits nobody, not even over connections and to streams that it has opened.
func TestClientsWithAReplacedTokenAreCutOff(t *testing.T) {
	s := NewServer(startNode(t, failaware.Config{ID: 1}))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	token, served := TokenOf(testToken), make(chan error, 1)
	go func() { served <- s.ServeTCP(l, token) }()
	t.Cleanup(func() {
		s.Close()
		require.NoError(t, <-served)
	})
	local := keep(t, "http://"+l.Addr().String(), testToken, nil)
	x := serveRemote(t, false, testToken)
	remote := keep(t, "https://"+x.addr, testToken, x.config(""))
	for _, c := range []struct {
		*kept
		replace func(to string)
	}{{local, token.Replace}, {remote, x.r.Token.Replace}} {
		ended := c.follows()
		c.replace(testToken)
		require.Equal(t, http.StatusOK, c.asks(), "it is the same")
		select {
		case <-ended:
			require.Fail(t, "a stream of a client that is still known has ended")
		default:
		}
		c.replace(testToken + "x")
		<-ended
		require.Equal(t, http.StatusUnauthorized, c.asks())
		c.token = testToken + "x"
		require.Equal(t, http.StatusOK, c.asks())
	}
}

// TestAReplacementJustAfterAdmissionIsNotMissed has a token be replaced as soon as a client has
// been found to have the right one, before its request is answered.
func TestAReplacementJustAfterAdmissionIsNotMissed(t *testing.T) {
	var u underWay
	secret := "old"
	known := func(q *http.Request) (client, bool) {
		ok := q.Header.Get("Authorization") == secret
		if ok {
			secret = "new"
			u.review()
		}
		return client{}, ok
	}
	answered := false
	handler := admit(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		answered = true
		require.Error(t, q.Context().Err(), "it has ended")
	}), "no token", &u, known)

	q := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/events", nil)
	q.Header.Set("Authorization", "old")
	handler.ServeHTTP(httptest.NewRecorder(), q)
	require.True(t, answered)
	require.Empty(t, u.all)
}
