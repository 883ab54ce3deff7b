package api

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// client is who has sent a request.
type client struct {
	name  string        // for limits; empty without
	lasts time.Duration // how long it may still have answers; 0 without an end
}

// Token is the secret that clients show over TCP. It may be replaced while a server serves.
type Token struct {
	value    atomic.Pointer[string]
	underWay underWay
}

// TokenOf returns a token with a value.
func TokenOf(value string) *Token {
	t := &Token{}
	t.value.Store(&value)
	return t
}

// Replace gives the token another value, and ends what clients have under way that have shown
// the one before.
func (t *Token) Replace(value string) {
	t.value.Store(&value)
	t.underWay.review()
}

// underWay has the requests that are being answered, such as streams, so that those end whose
// clients would not be admitted any more.
type underWay struct {
	mu  sync.Mutex
	all map[*http.Request]func() // ends the request if its client is not known any more
}

// begin adds a request. It returns the request to answer, and a function that removes it.
func (u *underWay) begin(q *http.Request, known func(*http.Request) (client, bool)) (*http.Request, func()) {
	ctx, cancel := context.WithCancel(q.Context())
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.all == nil {
		u.all = map[*http.Request]func(){}
	}
	u.all[q] = func() {
		if _, ok := known(q); !ok {
			cancel()
		}
	}
	return q.WithContext(ctx), func() {
		cancel()
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.all, q)
	}
}

// review ends requests after what clients must show has changed.
func (u *underWay) review() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, check := range u.all {
		check()
	}
}

// admit passes on requests of clients that known accepts, and limits the connections of each
// name. missing is the error for all other clients. A request is under way before its client
// is known, so that a change in between is not missed. A stream ends when its client may have
// no more answers.
func admit(next http.Handler, missing string, u *underWay, known func(*http.Request) (client, bool)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		admitted, end := u.begin(q, known)
		defer end()
		who, ok := known(q)
		switch {
		case !ok:
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.Header().Set("Connection", "close")
			Fail(w, http.StatusUnauthorized, errors.New(missing))
		case !admittedAs(q, who.name):
			refuse(w, q)
		case who.lasts > 0:
			ctx, cancel := context.WithTimeout(admitted.Context(), who.lasts)
			defer cancel()
			next.ServeHTTP(w, admitted.WithContext(ctx))
		default:
			next.ServeHTTP(w, admitted)
		}
	})
}
