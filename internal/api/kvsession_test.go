package api

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

// appliedAgain has a client send commands of a session again, and returns the value of a
// key that another one has written meanwhile.
func appliedAgain(t *testing.T) string {
	s, c := serveStore(t)
	in := func(id, number string, query ...string) []string {
		return append(query, "session", id, "number", number)
	}
	id := ask[KVSession](t, c, 200, "POST", "session/open", "").Session
	first := ask[KVWrite](t, c, 200, "POST", "put", "blue", in(id, "1", "key", "colour")...)
	require.False(t, first.Repeated)
	miss := ask[KVWrite](t, c, 409, "POST", "cas", "red", in(id, "2", "key", "colour", "version", "0")...)
	l := ask[KVWrite](t, c, 200, "POST", "lease/grant", "", in(id, "3", "ttl", "10s")...).Lease
	require.NotEmpty(t, l)
	ask[KVWrite](t, c, 200, "POST", "put", "other", "key", "colour")
	s.later(time.Second)

	again := ask[KVWrite](t, c, 200, "POST", "put", "blue", in(id, "1", "key", "colour")...)
	value := ask[KVGet](t, c, 200, "GET", "get", "", "key", "colour").Value
	if !again.Repeated {
		return value
	}
	first.Repeated = true
	require.Equal(t, first, again, "the first result")
	miss.Repeated = true
	require.Equal(t, miss, ask[KVWrite](t, c, 409, "POST", "cas", "red", in(id, "2", "key", "colour", "version", "0")...), "and not that of now")
	require.Equal(t, l, ask[KVWrite](t, c, 200, "POST", "lease/grant", "", in(id, "3", "ttl", "10s")...).Lease)
	require.Equal(t, 1, ask[KVStatus](t, c, 200, "GET", "status", "").Leases)
	ask[KVWrite](t, c, 410, "POST", "put", "other", in(id, "1", "key", "colour")...)
	return value
}

func TestAttemptsOverTheAPIAreCarriedOutOnce(t *testing.T) {
	require.Equal(t, base64Of([]byte("other")), appliedAgain(t))
}

// Each way to write takes a session.
func TestSessionsOverTheAPI(t *testing.T) {
	s, c := serveStore(t)
	id := ask[KVSession](t, c, 200, "POST", "session/open", "").Session
	l := ask[KVWrite](t, c, 200, "POST", "lease/grant", "", "ttl", "10s").Lease
	for _, r := range []struct {
		path  string
		query []string
	}{{"put", []string{"key", "a"}}, {"delete", []string{"key", "a"}}, {"lease/renew", []string{"lease", l}}, {"lease/revoke", []string{"lease", l}}} {
		query := append(r.query, "session", id, "number", "7")
		require.False(t, ask[KVWrite](t, c, 200, "POST", r.path, "", query...).Repeated, r.path)
		require.True(t, ask[KVWrite](t, c, 200, "POST", r.path, "", query...).Repeated, r.path)
		ask[Done](t, c, 200, "POST", "session/close", "", "session", id)
		ask[KVWrite](t, c, 410, "POST", r.path, "", query...)
		id = ask[KVSession](t, c, 200, "POST", "session/open", "").Session
	}
	ask[KVWrite](t, c, 404, "POST", "resolve", "", "key", "a", "id", l, "session", id, "number", "1")
	require.True(t, ask[KVWrite](t, c, 404, "POST", "resolve", "", "key", "a", "id", l, "session", id, "number", "1").Repeated)

	s.fail(failaware.ErrNoQuorum)
	ask[KVSession](t, c, 503, "POST", "session/open", "")
	ask[Done](t, c, 503, "POST", "session/close", "", "session", id)
}
