package api

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/failaware/failaware/internal/trust"
)

// Remote is how the API serves other hosts: over TLS 1.3, and to clients that show a
// certificate of a certain authority, or the token.
type Remote struct {
	Cert, Key string // files of the node's certificate and key, in PEM
	ClientCA  string // file with the authorities of the clients' certificates; or empty
	Token     *Token // or nil

	current  atomic.Pointer[credentials]
	underWay underWay
	now      func() time.Time // nil: time.Now
}

// credentials are what was read from the files.
type credentials struct {
	config *tls.Config
	leaf   *x509.Certificate
}

// requests has the requests under way: with a token those of all its clients, so that they are
// looked at when it is replaced.
func (r *Remote) requests() *underWay {
	if r.Token != nil {
		return &r.Token.underWay
	}
	return &r.underWay
}

// maxPEM bounds the size of a file with certificates.
const maxPEM = 1 << 20

// Load reads the files, again if it was called before: requests from then on need them, and
// streams end whose clients they do not admit. After an error, the files read before stay in
// use. The token may have been replaced before.
func (r *Remote) Load() error {
	defer r.requests().review()
	if r.ClientCA == "" && r.Token == nil {
		return errors.New("clients can show neither a certificate nor a token")
	}
	certificate, err := loadCertificate(r.Cert, r.Key)
	if err != nil {
		return err
	}
	if now := time.Now(); now.After(certificate.Leaf.NotAfter) {
		return fmt.Errorf("the certificate %s has expired at %v", r.Cert, certificate.Leaf.NotAfter)
	}
	c := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{certificate}, NextProtos: []string{"http/1.1"}}
	if r.ClientCA != "" {
		if c.ClientCAs, err = loadAuthorities(r.ClientCA); err != nil {
			return err
		}
		c.ClientAuth = tls.RequireAndVerifyClientCert
		if r.Token != nil {
			c.ClientAuth = tls.VerifyClientCertIfGiven
		}
	}
	r.current.Store(&credentials{c, certificate.Leaf})
	return nil
}

// loadCertificate reads a certificate and its key, which nobody else may read.
func loadCertificate(cert, key string) (tls.Certificate, error) {
	chain, err := readPEM("certificate", cert, trust.Public)
	if err != nil {
		return tls.Certificate{}, err
	}
	secret, err := readPEM("key", key, trust.Private)
	if err != nil {
		return tls.Certificate{}, err
	}
	c, err := tls.X509KeyPair(chain, secret)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("the certificate %s and the key %s: %s", cert, key, strings.TrimPrefix(err.Error(), "tls: "))
	}
	return c, nil
}

func loadAuthorities(path string) (*x509.CertPool, error) {
	b, err := readPEM("authority", path, trust.Public)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(b) {
		return nil, fmt.Errorf("the authority: %s has no certificate", path)
	}
	return pool, nil
}

func readPEM(what, path string, p trust.Privacy) ([]byte, error) {
	f, err := trust.Open(path, os.O_RDONLY, 0, p)
	if err != nil {
		return nil, fmt.Errorf("the %s: %w", what, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxPEM+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the %s: %w", what, err)
	case len(b) > maxPEM: // a part would lack authorities
		return nil, fmt.Errorf("the %s: %s has more than %d bytes", what, path, maxPEM)
	}
	return b, nil
}

// ServeRemote answers on a TCP listener that other hosts can reach. r was loaded.
func (s *Server) ServeRemote(l net.Listener, r *Remote) error {
	secure := &tls.Config{MinVersion: tls.VersionTLS13, GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return r.current.Load().config, nil
	}}
	return s.serve(l, r.named(s.pages(r.guard(s.Handler()))), secure)
}

// named passes on requests that no page of another site can have made: their Host is one
// that the certificate is for, and requests that may change something do not come from
// another site. A browser shows the user's certificate to pages of all sites.
func (r *Remote) named(next http.Handler) http.Handler {
	return sameSite(next, "the Host is none that the certificate is for",
		func(host string) bool { return r.current.Load().leaf.VerifyHostname(host) == nil })
}

// guard passes on requests of clients with a certificate or with the token.
func (r *Remote) guard(next http.Handler) http.Handler {
	return admit(next, "a certificate or the token is missing or wrong", r.requests(), r.client)
}

// client returns who has sent a request; ok is false for a stranger. Clients with the token are
// told apart by their addresses.
func (r *Remote) client(q *http.Request) (c client, ok bool) {
	if r.ClientCA != "" && q.TLS != nil && len(q.TLS.PeerCertificates) > 0 {
		if lasts := r.verify(q); lasts > 0 {
			return client{nameOf(q.TLS.PeerCertificates[0]), lasts}, true
		}
	}
	if r.Token == nil || !r.Token.shown(q) {
		return client{}, false
	}
	host, _, err := net.SplitHostPort(q.RemoteAddr)
	if err != nil {
		host = q.RemoteAddr
	}
	return client{name: "address " + host}, true
}

// verified is a verification of a client's certificate.
type verified struct {
	under *credentials
	until time.Time // when a certificate of the chain expires
}

// verify returns how long the certificate of a request will be one of a present authority. TLS
// has verified it when the connection began, perhaps under authorities that were replaced since,
// or with a ticket of a connection before. It is verified again once for each connection and
// each reading of the files.
func (r *Remote) verify(q *http.Request) (lasts time.Duration) {
	now := time.Now()
	if r.now != nil {
		now = r.now()
	}
	c, conn := r.current.Load(), connOf(q)
	if conn != nil {
		if v := conn.verified.Load(); v != nil && v.under == c {
			return v.until.Sub(now)
		}
	}
	o := x509.VerifyOptions{Roots: c.config.ClientCAs, Intermediates: x509.NewCertPool(), CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	for _, other := range q.TLS.PeerCertificates[1:] {
		o.Intermediates.AddCert(other)
	}
	chains, err := q.TLS.PeerCertificates[0].Verify(o)
	if err != nil {
		return 0
	}
	v := &verified{c, expiry(chains)}
	if conn != nil {
		conn.verified.Store(v)
	}
	return v.until.Sub(now)
}

// expiry returns when the last of the chains ends, each of which ends with its first certificate
// that expires.
func expiry(chains [][]*x509.Certificate) (last time.Time) {
	for _, chain := range chains {
		end := chain[0].NotAfter
		for _, c := range chain[1:] {
			if c.NotAfter.Before(end) {
				end = c.NotAfter
			}
		}
		if end.After(last) {
			last = end
		}
	}
	return last
}

// nameOf returns the name of the client with a certificate, which stays the same when the
// certificate is renewed.
func nameOf(leaf *x509.Certificate) string {
	sum := sha256.Sum256(append(append([]byte{}, leaf.RawIssuer...), leaf.RawSubject...))
	return "certificate " + hex.EncodeToString(sum[:])
}

// ClientTLS is how a client trusts and authenticates: files in PEM, each of which may be
// empty. Without CA, the authorities of the system are trusted.
type ClientTLS struct{ CA, Cert, Key string }

// Config reads the files.
func (c ClientTLS) Config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS13}
	if (c.Cert == "") != (c.Key == "") {
		return nil, errors.New("a certificate needs its key, and a key its certificate")
	}
	if c.Cert != "" {
		certificate, err := loadCertificate(c.Cert, c.Key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{certificate}
	}
	if c.CA != "" {
		var err error
		if config.RootCAs, err = loadAuthorities(c.CA); err != nil {
			return nil, err
		}
	}
	return config, nil
}
