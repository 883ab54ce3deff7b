package api

import (
	"fmt"
	"net"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// idle is a connection of which nobody reads.
type idle struct{ net.Conn }

func (idle) Close() error { return nil }

// slotsAreCounted has connections come, show who they are, again or after they were closed,
// and end, in any order. The counts are those of the connections that are open, within their
// limits, and nobody is refused for whom there is room.
func slotsAreCounted(t testing.TB) {
	rapid.Check(t, func(t *rapid.T) {
		l := limit(nil)
		l.most, l.perUser = 4, 2
		var all []*slotConn
		in := func(open func(*slotConn) bool) (n int) {
			for _, c := range all {
				if c.admitted && !c.closed && open(c) {
					n++
				}
			}
			return n
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(all) == 0 || rapid.IntRange(0, 3).Draw(t, "comes") == 0 {
				c := &slotConn{Conn: idle{}, slots: l, user: rapid.SampledFrom([]int{noUser, 0, 12345}).Draw(t, "user")}
				if all = append(all, c); c.user == noUser || !l.admit(c) {
					l.addStranger(c)
				}
				continue
			}
			c := rapid.SampledFrom(all).Draw(t, "which")
			if rapid.IntRange(0, 2).Draw(t, "ends") == 0 {
				require.NoError(t, c.Close())
				continue
			}
			client := ""
			if c.user == noUser {
				client = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "client")
			}
			room := in(func(*slotConn) bool { return true }) < l.most &&
				(c.user <= 0 || in(func(o *slotConn) bool { return o.user == c.user }) < l.perUser) &&
				(client == "" || in(func(o *slotConn) bool { return o.client == client }) < l.perUser)
			want := !c.closed && (c.admitted || room)
			require.Equal(t, want, l.admitAs(c, client), "%v of %d", client, c.user)
			require.Equal(t, in(func(*slotConn) bool { return true }), l.total, "connections")
			for _, user := range []int{0, 12345} {
				require.Equal(t, in(func(o *slotConn) bool { return o.user == user }), l.users[user], "of user %d", user)
			}
			for _, name := range []string{"a", "b"} {
				require.Equal(t, in(func(o *slotConn) bool { return o.client == name }), l.clients[name], fmt.Sprint("of ", name))
			}
			for _, s := range l.strangers {
				require.False(t, s.closed || s.admitted, "a stranger that is none")
			}
			require.LessOrEqual(t, len(slices.Compact(l.strangers)), MaxStrangers)
		}
	})
}

func TestConnectionsAreCounted(t *testing.T) { slotsAreCounted(t) }
