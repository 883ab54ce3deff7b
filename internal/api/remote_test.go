package api

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/cli/clitest"
)

// remoteTest is a node that serves other hosts.
type remoteTest struct {
	t    testing.TB
	dir  string // of the certificates
	r    *Remote
	addr string
	now  atomic.Pointer[time.Time] // nil: that of the system
}

// serveRemote serves a node with the certificate node.pem of the authority ca.pem.
// Clients have client.pem of the authority users.pem, and stranger.pem of another one.
func serveRemote(t testing.TB, authority bool, token string) *remoteTest {
	t.Helper()
	x := &remoteTest{t: t, dir: t.TempDir()}
	clitest.NewAuthority(t, x.dir, "ca").Node("node", time.Hour, "node.example")
	users := clitest.NewAuthority(t, x.dir, "users")
	users.Client("client")
	users.Client("second")
	clitest.NewAuthority(t, x.dir, "others").Client("stranger")
	x.r = &Remote{Cert: x.file("node.pem"), Key: x.file("node.key"), now: func() time.Time {
		if at := x.now.Load(); at != nil {
			return *at
		}
		return time.Now()
	}}
	if token != "" {
		x.r.Token = TokenOf(token)
	}
	if authority {
		x.r.ClientCA = x.file("users.pem")
	}
	require.NoError(t, x.r.Load())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	x.addr = l.Addr().String()
	s := NewServer(startNode(t, failaware.Config{ID: 1}))
	served := make(chan error, 1)
	go func() { served <- s.ServeRemote(l, x.r) }()
	t.Cleanup(func() {
		s.Close()
		require.NoError(t, <-served)
	})
	return x
}

func (x *remoteTest) file(name string) string { return filepath.Join(x.dir, name) }

// leaf returns the certificate of a file.
func (x *remoteTest) leaf(name string) *x509.Certificate {
	pair, err := tls.LoadX509KeyPair(x.file(name+".pem"), x.file(name+".key"))
	require.NoError(x.t, err)
	return pair.Leaf
}

// config returns how a client with a certificate, or without one, connects.
func (x *remoteTest) config(name string) *tls.Config {
	x.t.Helper()
	files := ClientTLS{CA: x.file("ca.pem")}
	if name != "" {
		files.Cert, files.Key = x.file(name+".pem"), x.file(name+".key")
	}
	c, err := files.Config()
	require.NoError(x.t, err)
	return c
}

// ask asks for the leader over a new connection.
func (x *remoteTest) ask(certificate, token string) error {
	addr, err := ParseAddress("https://" + x.addr)
	require.NoError(x.t, err)
	c := NewSecureClient(addr, token, x.config(certificate))
	defer c.http.CloseIdleConnections()
	return c.Get(x.t.Context(), "/v1/leader", &Leader{})
}

func TestClientsWithCertificates(t *testing.T) {
	x := serveRemote(t, true, "")
	require.NoError(t, x.ask("client", ""))
	for _, err := range []error{x.ask("", ""), x.ask("", testToken), x.ask("stranger", "")} {
		require.ErrorContains(t, err, "refuses this client: tls: certificate required; --cert and --key")
		require.NotContains(t, err.Error(), "no node answers")
	}
}

func TestClientsWithTheToken(t *testing.T) {
	x := serveRemote(t, false, testToken)
	require.NoError(t, x.ask("", testToken))
	require.ErrorContains(t, x.ask("", testToken+"x"), "missing or wrong")
	require.ErrorContains(t, x.ask("", ""), "missing or wrong")
	require.Error(t, x.ask("client", ""), "the node knows no authority of clients")
}

func TestClientsWithEither(t *testing.T) {
	x := serveRemote(t, true, testToken)
	require.NoError(t, x.ask("client", ""))
	require.NoError(t, x.ask("", testToken))
	require.ErrorContains(t, x.ask("", ""), "missing or wrong")
	require.NoError(t, x.ask("stranger", testToken), "a client keeps to itself a certificate of another authority")
	require.ErrorContains(t, x.ask("stranger", ""), "missing or wrong")
}

func TestOtherHostsNeedTheRightTLS(t *testing.T) {
	x := serveRemote(t, true, "")
	old := x.config("client")
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	_, err := tls.Dial("tcp", x.addr, old)
	require.ErrorContains(t, err, "protocol version")
	res, err := http.Get("http://" + x.addr + "/v1/leader")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusBadRequest, res.StatusCode)

	// A client trusts no node but those of its authority, by its name.
	addr, err := ParseAddress("https://" + x.addr)
	require.NoError(t, err)
	distrustful := x.config("client")
	distrustful.RootCAs = nil
	require.ErrorContains(t, NewSecureClient(addr, "", distrustful).Get(t.Context(), "/v1/leader", &Leader{}), "certificate signed by unknown authority")
	elsewhere := x.config("client")
	elsewhere.ServerName = "other.example"
	err = NewSecureClient(addr, "", elsewhere).Get(t.Context(), "/v1/leader", &Leader{})
	require.ErrorContains(t, err, "other.example")
	require.ErrorContains(t, err, "is not trusted")
}

// Pages of other sites, in whose name a browser shows the certificate of its user, have
// another Host or another origin.
func TestRequestsOfOtherSitesAreRefused(t *testing.T) {
	x := serveRemote(t, true, "")
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: x.config("client")}}
	defer client.CloseIdleConnections()
	for _, c := range []struct {
		method, host, site string
		want               int
	}{
		{http.MethodGet, "", "", http.StatusOK},
		{http.MethodGet, "node.example:7443", "", http.StatusOK},
		{http.MethodGet, "evil.example", "", http.StatusForbidden},
		{http.MethodPost, "", "cross-site", http.StatusForbidden},
		{http.MethodPost, "", "same-origin", http.StatusMethodNotAllowed},
	} {
		q, err := http.NewRequestWithContext(t.Context(), c.method, "https://"+x.addr+"/v1/leader", nil)
		require.NoError(t, err)
		if c.host != "" {
			q.Host = c.host
		}
		if c.site != "" {
			q.Header.Set("Sec-Fetch-Site", c.site)
		}
		res, err := client.Do(q)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, c.want, res.StatusCode, "%+v", c)
	}
}

// One client cannot take all connections.
func TestOneCertificateHasSomeConnections(t *testing.T) {
	x := serveRemote(t, true, testToken)
	hold := func(config *tls.Config, token string) int {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
		t.Cleanup(client.CloseIdleConnections)
		q, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "https://"+x.addr+"/v1/leader", nil)
		require.NoError(t, err)
		if token != "" {
			q.Header.Set("Authorization", "Bearer "+token)
		}
		res, err := client.Do(q)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, res.Body) // so that the connection stays
		require.NoError(t, errors.Join(err, res.Body.Close()))
		require.Equal(t, res.StatusCode != http.StatusOK, res.Close, "a refused connection does not stay")
		return res.StatusCode
	}
	for range MaxPerUser {
		require.Equal(t, http.StatusOK, hold(x.config("client"), ""))
	}
	require.Equal(t, http.StatusServiceUnavailable, hold(x.config("client"), ""))
	require.Equal(t, http.StatusServiceUnavailable, hold(x.config("client"), testToken), "the certificate counts first")
	require.Equal(t, http.StatusOK, hold(x.config("second"), ""))
	require.Equal(t, http.StatusOK, hold(x.config(""), testToken))
}

// All connections of one address that shows the token count together, whatever its ports.
func TestClientsWithTheTokenAreToldApartByTheirAddresses(t *testing.T) {
	r := &Remote{Token: TokenOf(testToken)}
	name := func(from, token string) (string, bool) {
		c, ok := r.client(&http.Request{RemoteAddr: from, Header: http.Header{"Authorization": {"Bearer " + token}}})
		return c.name, ok
	}
	first, ok := name("192.0.2.1:1025", testToken)
	require.True(t, ok)
	again, _ := name("192.0.2.1:1026", testToken)
	require.Equal(t, first, again)
	for _, other := range []string{"192.0.2.2:1025", "[2001:db8::1]:1025"} {
		x, ok := name(other, testToken)
		require.True(t, ok)
		require.NotEqual(t, first, x)
	}
	_, ok = name("192.0.2.1:1025", testToken+"x")
	require.False(t, ok)
	r.ClientCA, r.Token = "users.pem", nil
	_, ok = name("192.0.2.1:1025", "")
	require.False(t, ok, "no token is none that anybody can show")
}

// renewedIsTheSame compares the names by which limits count: a renewed certificate is that of the
// same client, and another authority may give its name to somebody else.
func renewedIsTheSame(t testing.TB) {
	name := func(issuer, subject string, serial int64) string {
		return nameOf(&x509.Certificate{RawIssuer: []byte(issuer), RawSubject: []byte(subject), SerialNumber: big.NewInt(serial)})
	}
	client := name("users", "client", 1)
	require.Equal(t, client, name("users", "client", 2))
	require.NotEqual(t, client, name("users", "second", 1))
	require.NotEqual(t, client, name("others", "client", 1))
}

func TestARenewedCertificateIsOfTheSameClient(t *testing.T) { renewedIsTheSame(t) }

func TestCertificatesAreReadAgain(t *testing.T) {
	x := serveRemote(t, true, "")
	clitest.NewAuthority(t, x.dir, "ca").Node("node", time.Hour)
	require.Error(t, x.ask("client", ""), "the node shows the certificate that it has read")
	require.NoError(t, x.r.Load())
	require.NoError(t, x.ask("client", ""))
}

func mistakesChangeNothing(t testing.TB) {
	x := serveRemote(t, true, "")
	for _, name := range []string{"users.pem", "node.key"} {
		require.NoError(t, os.WriteFile(x.file(name), []byte("nonsense"), 0o600))
		require.ErrorContains(t, x.r.Load(), x.file(name))
		require.NoError(t, x.ask("client", ""))
		require.Error(t, x.ask("stranger", ""))
	}
}

// After a mistake in any of the files, all stays the same.
func TestMistakesInCertificatesChangeNothing(t *testing.T) { mistakesChangeNothing(t) }

func TestBadCertificatesAreNamed(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	ca := clitest.NewAuthority(t, dir, "ca")
	ca.Node("node", time.Hour)
	ca.Node("old", -time.Hour)
	require.NoError(t, os.WriteFile(file("empty.pem"), nil, 0o600))
	ca.Node("open", time.Hour)
	require.NoError(t, os.Chmod(file("open.key"), 0o644))
	bundle, err := os.ReadFile(file("ca.pem"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file("long.pem"), append(bundle, make([]byte, maxPEM)...), 0o600))
	for want, r := range map[string]*Remote{
		"neither a certificate nor a token":                     {Cert: file("node.pem"), Key: file("node.key")},
		"the certificate: open " + file("none.pem"):             {Cert: file("none.pem"), Key: file("node.key"), Token: TokenOf(testToken)},
		"the key: open " + file("none.key"):                     {Cert: file("node.pem"), Key: file("none.key"), Token: TokenOf(testToken)},
		"private key does not match public key":                 {Cert: file("node.pem"), Key: file("old.key"), Token: TokenOf(testToken)},
		"the certificate " + file("old.pem"):                    {Cert: file("old.pem"), Key: file("old.key"), Token: TokenOf(testToken)},
		"the authority: " + file("empty.pem"):                   {Cert: file("node.pem"), Key: file("node.key"), ClientCA: file("empty.pem")},
		"the authority: " + file("long.pem") + " has more than": {Cert: file("node.pem"), Key: file("node.key"), ClientCA: file("long.pem")},
		"the key: open " + file("open.key") + ": another user":  {Cert: file("open.pem"), Key: file("open.key"), Token: TokenOf(testToken)},
	} {
		require.ErrorContains(t, r.Load(), want)
	}
	_, err = ClientTLS{Cert: file("node.pem")}.Config()
	require.ErrorContains(t, err, "a certificate needs its key")
}

// Whom a node does not answer is told why, and not to look elsewhere.
func TestForbiddenSocketsAreNotTakenForAbsentNodes(t *testing.T) {
	err := newUnreachable(Address{Socket: "/run/x.sock"}, &net.OpError{Op: "dial", Err: syscall.EACCES})
	require.EqualError(t, err, "the node at /run/x.sock answers its own user, its group and root only: permission denied")
}
