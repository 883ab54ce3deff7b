package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const testToken = "0123456789abcdef"

// at answers with a status.
func at(code int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
}

// guarded returns what answers over TCP: the pages with 418, and all else with 200.
func guarded() http.Handler {
	return Loopback((&Server{Pages: at(http.StatusTeapot)}).pages(guard(at(http.StatusOK), TokenOf(testToken))))
}

// status returns the status of the answer to a request with the token and some headers.
func status(h http.Handler, method, host, path string, header ...string) int {
	q := httptest.NewRequest(method, path, nil)
	q.Host = host
	q.Header.Set("Authorization", "Bearer "+testToken)
	for i := 0; i < len(header); i += 2 {
		q.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, q)
	return w.Code
}

func TestGuard(t *testing.T) {
	for _, c := range []struct {
		host, auth string
		want       int
	}{
		{"127.0.0.1:80", "Bearer " + testToken, 200},
		{"localhost:80", "Bearer " + testToken, 200},
		{"[::1]:80", "Bearer " + testToken, 200},
		{"LocalHost:80", "bearer " + testToken, 200},
		{"localhost.:80", "Bearer " + testToken, 200},
		{"localhost.", "Bearer " + testToken, 200},
		{"127.0.0.1:80", "BEARER " + testToken, 200},
		{"127.0.0.1:80", "Basic " + testToken, 401},
		{"127.0.0.1:80", "Bearer", 401},
		{"127.0.0.1:80", "Bearer " + strings.ToUpper(testToken), 401},
		{"127.0.0.1:80", "", 401},
		{"127.0.0.1:80", "Bearer 0123456789abcdeg", 401},
		{"127.0.0.1:80", testToken, 401},
	} {
		require.Equal(t, c.want, status(guarded(), http.MethodGet, c.host, "/v1/status", "Authorization", c.auth), fmt.Sprint(c))
	}
}

// unknownTakeNoPlace has connections ask that have shown nothing: they are refused, whether there
// is a place or not, and take none.
func unknownTakeNoPlace(t testing.TB) {
	for _, h := range []http.Handler{guard(at(http.StatusOK), TokenOf(testToken)), (&Remote{Token: TokenOf(testToken)}).guard(at(http.StatusOK))} {
		l := limit(nil)
		l.most = 1
		asks := func(c *slotConn, token string) int {
			q := httptest.NewRequest(http.MethodGet, "/v1/status", nil)
			q.Header.Set("Authorization", "Bearer "+token)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, q.WithContext(withConn(q.Context(), c)))
			return w.Code
		}
		unknown, first, second := &slotConn{slots: l, user: noUser}, &slotConn{slots: l, user: noUser}, &slotConn{slots: l, user: noUser}
		require.Equal(t, http.StatusUnauthorized, asks(unknown, "wrong"))
		require.Zero(t, l.total)
		require.Equal(t, http.StatusOK, asks(first, testToken))
		require.Equal(t, 1, l.total)
		require.Equal(t, http.StatusUnauthorized, asks(unknown, "wrong"), "it hears nothing of the others")
		require.Equal(t, http.StatusServiceUnavailable, asks(second, testToken))
		require.Equal(t, http.StatusOK, asks(first, testToken), "it has its place")
		require.Equal(t, 1, l.total)
	}
}

func TestUnknownConnectionsTakeNoPlace(t *testing.T) { unknownTakeNoPlace(t) }

func TestForeignHostsAreRefused(t *testing.T) { foreignHostsAreRefused(t) }

func foreignHostsAreRefused(t testing.TB) {
	for _, host := range []string{"evil.example:80", "192.0.2.1", "127.0.0.1.evil.example", "localhost.evil.example", "localhost..", ".", ""} {
		for _, path := range []string{"/v1/status", "/"} {
			require.Equal(t, http.StatusForbidden, status(guarded(), http.MethodGet, host, path), host+path)
		}
	}
}

func TestOtherSitesAreRefused(t *testing.T) { otherSitesAreRefused(t) }

func otherSitesAreRefused(t testing.TB) {
	for _, header := range [][]string{{"Origin", "http://evil.example"}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}} {
		require.Equal(t, http.StatusForbidden, status(guarded(), http.MethodPost, "localhost", "/v1/leave", header...), header)
	}
	require.Equal(t, http.StatusOK, status(guarded(), http.MethodPost, "localhost", "/v1/leave"), "no browser")
	require.Equal(t, http.StatusOK, status(guarded(), http.MethodPost, "localhost", "/v1/leave", "Sec-Fetch-Site", "same-origin"))
}

func TestOnlyPagesNeedNoToken(t *testing.T) { onlyPagesNeedNoToken(t) }

func onlyPagesNeedNoToken(t testing.TB) {
	for path, want := range map[string]int{"/": 418, "/dashboard/main.js": 418, "/v1/status": 401, "/dashboard": 401, "/healthz": 401, "/metrics": 401} {
		require.Equal(t, want, status(guarded(), http.MethodGet, "localhost", path, "Authorization", ""), path)
	}
}
