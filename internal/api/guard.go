package api

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/failaware/failaware/internal/trust"
)

// ServeTCP answers on a loopback TCP listener. All users of the machine can connect,
// and web pages can make browsers connect. So every request needs a Host that is a
// loopback address, and every request but those for [Server.Pages] needs the token.
func (s *Server) ServeTCP(l net.Listener, token string) error {
	return s.serve(l, Loopback(s.pages(guard(s.Handler(), token))), nil)
}

// Loopback passes on requests that no page of another site can have made. Their Host is
// a loopback address, so that a foreign name that leads to this machine is of no avail;
// and a request that may change something comes from the same site, or from no browser.
func Loopback(next http.Handler) http.Handler {
	same := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		host := q.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if !loopback(strings.Trim(host, "[]")) {
			Fail(w, http.StatusForbidden, errors.New("the Host is not this machine"))
			return
		}
		if err := same.Check(q); err != nil {
			Fail(w, http.StatusForbidden, errors.New("the request comes from another site"))
			return
		}
		next.ServeHTTP(w, q)
	})
}

// pages answers requests for the pages, and passes on the others.
func (s *Server) pages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if s.Pages != nil && (q.URL.Path == "/" || strings.HasPrefix(q.URL.Path, PagesPath)) {
			s.Pages.ServeHTTP(w, q)
			return
		}
		next.ServeHTTP(w, q)
	})
}

// PagesPath is the path below which [Server.Pages] answers.
const PagesPath = "/dashboard/"

// guard passes on requests with the token.
func guard(next http.Handler, token string) http.Handler {
	want := sha256.Sum256([]byte("Bearer " + token))
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		got := sha256.Sum256([]byte(q.Header.Get("Authorization")))
		switch {
		case subtle.ConstantTimeCompare(got[:], want[:]) != 1:
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.Header().Set("Connection", "close")
			Fail(w, http.StatusUnauthorized, errors.New("the token is missing or wrong"))
		case !admitted(q):
			w.Header().Set("Connection", "close")
			Fail(w, http.StatusServiceUnavailable, errTooMany)
		default:
			next.ServeHTTP(w, q)
		}
	})
}

const (
	leastToken = 16
	mostToken  = 256
)

// ReadToken reads the token of a node from a file, which may be another user's.
func ReadToken(path string) (string, error) { return readToken(path, trust.Foreign) }

func readToken(path string, p trust.Privacy) (string, error) {
	f, err := trust.Open(path, os.O_RDONLY, 0, p)
	if err != nil {
		return "", fmt.Errorf("the API token: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostToken+2))
	if err != nil {
		return "", fmt.Errorf("cannot read the API token: %w", err)
	}
	token := strings.TrimSpace(string(b))
	if len(token) < leastToken || len(token) > mostToken || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("the API token: %s does not contain one word of %d to %d bytes", path, leastToken, mostToken)
	}
	return token, nil
}

// NewToken returns a random token.
func NewToken() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// MakeToken reads the token from a file, which it makes first if there is none. The
// file must be of the user of this process or of root, and no other user may read or
// write it.
func MakeToken(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return readToken(path, trust.Private)
	}
	if err != nil {
		return "", fmt.Errorf("cannot create the API token: %w", err)
	}
	_, err = fmt.Fprintln(f, NewToken())
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("cannot create the API token: %w", err)
	}
	return readToken(path, trust.Private)
}
