package statedir

import (
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/timed"
)

// Members are found again, a few of them, and only as they were written.
func TestMembersAreKept(t *testing.T) { members(t) }

func members(t testing.TB) {
	dir := t.TempDir()
	d, err := begin(dir, 1, time.Second)
	require.NoError(t, err)
	none, err := d.ReadMembers()
	require.NoError(t, err)
	require.Empty(t, none)
	var list []Member
	for id := timed.NodeID(2); id < 30; id++ {
		list = append(list, Member{id, netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(id)}), 7000)})
	}
	require.NoError(t, d.KeepMembers(list))
	kept, err := d.ReadMembers()
	require.NoError(t, err)
	require.Equal(t, list[:MaxMembers], kept)
	for text, want := range map[string]string{
		"2 192.0.2.1:7000\n300 192.0.2.1:7000\n": "line 2 is no member",
		"2\n":                                    "line 1 is no member", "2 host:7000\n": "line 1 is no member",
		strings.Repeat("2 192.0.2.1:7000\n", MaxMembers+1): "line 17 is no member, or one too many",
	} {
		require.NoError(t, durable.Write(d.membersPath(), membersKind, []byte(text)))
		_, err = d.ReadMembers()
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "node-1.members")
	}
	require.NoError(t, os.WriteFile(d.membersPath(), []byte("nonsense"), 0o600))
	_, err = d.ReadMembers()
	require.Error(t, err)
	require.NoError(t, d.KeepMembers(list[:1]))
	require.NoError(t, d.Close())
	require.NoError(t, d.KeepMembers(nil), "it is another process's now")
	kept, err = d.ReadMembers()
	require.NoError(t, err)
	require.Equal(t, list[:1], kept)
	var nothing *Dir
	require.NoError(t, nothing.KeepMembers(list))
}
