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
	"path/filepath"
	"strings"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/internal/trust"
)

// ServeTCP answers on a loopback TCP listener. All users of the machine can connect, and web
// pages can make browsers connect. So every request needs a Host that is a loopback address,
// and every request needs the token, except those for [Server.Pages].
func (s *Server) ServeTCP(l net.Listener, token *Token) error {
	return s.serve(l, Loopback(s.pages(guard(s.Handler(), token))), nil)
}

// Loopback passes on requests that no page of another site can have made. Their Host is
// a loopback address, which keeps out pages whose name resolves to this machine; and a
// request that may change something comes from the same site, or from no browser.
func Loopback(next http.Handler) http.Handler {
	return sameSite(next, "the Host is not this machine", loopback)
}

// sameSite passes on requests whose Host is the server's own. Requests that may change
// something must also come from the same site, or from no browser. wrong is the error for
// another Host.
func sameSite(next http.Handler, wrong string, own func(host string) bool) http.Handler {
	same := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		host := q.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if !own(strings.Trim(host, "[]")) {
			Fail(w, http.StatusForbidden, errors.New(wrong))
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
func guard(next http.Handler, token *Token) http.Handler {
	return admit(next, "the token is missing or wrong", &token.underWay, func(q *http.Request) (client, bool) { return client{}, token.shown(q) })
}

// shown reports whether a request shows the token. The comparison takes the same time for
// every wrong token.
func (t *Token) shown(q *http.Request) bool {
	scheme, token, _ := strings.Cut(q.Header.Get("Authorization"), " ")
	want := sha256.Sum256([]byte(*t.value.Load()))
	got := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1 && strings.EqualFold(scheme, "Bearer")
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

// CheckToken says why [MakeToken] would refuse a file, or could not make it.
func CheckToken(path string) error {
	_, err := OwnToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	return durable.CheckDir(dir)
}

// NewToken returns a random token.
func NewToken() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// MakeToken reads the token from a file, which it creates if there is none. The file must
// belong to the user of this process or to root, and no other user may read or write it.
func MakeToken(path string) (string, error) {
	if err := durable.Create(path, []byte(NewToken()+"\n")); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("cannot create the API token: %w", err)
	}
	return OwnToken(path)
}

// OwnToken reads the token as [MakeToken] does, from a file that exists.
func OwnToken(path string) (string, error) {
	return readToken(path, trust.Private)
}
