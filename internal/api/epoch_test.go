package api

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

func TestEpochAnswers(t *testing.T) {
	q, err := quorum.Majority(timed.SetOf(1))
	require.NoError(t, err)
	n, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Listen: "127.0.0.1:0", Quorum: q, StateDir: t.TempDir(), Timing: failaware.LAN()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = n.Close() })
	_, c := serveNode(t, n)
	ctx := t.Context()
	for path, want := range map[string]string{
		"/v1/epoch/change?system=none":                `system: "none" is not like`,
		"/v1/epoch/change?system=majority:1,2&dead=x": "dead: node id",
		"/v1/epoch/change?system=majority:1,2&dead=2": "are not members",
		"/v1/epoch/change?system=majority:1,2&dead=":  "dead: it is empty",
		"/v1/edict?sha256=12":                         "sha256: 64 hexadecimal digits",
	} {
		require.ErrorContains(t, c.Post(ctx, path), want, path)
	}
	digest := edict.Sum([]byte("x"))
	var e Edict
	for end := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		if e, err = c.Edict(ctx, hex.EncodeToString(digest[:])); err == nil {
			break
		}
		require.Less(t, time.Now(), end)
	}
	made, err := edict.Parse(e.Edict)
	require.NoError(t, err)
	require.Equal(t, digest, made.Digest)
	require.Equal(t, uint64(1), e.Epoch)
	for end := time.Now().Add(time.Minute); c.Post(ctx, "/v1/epoch/change?system=weighted:1=1") != nil; time.Sleep(2 * time.Millisecond) {
		require.Less(t, time.Now(), end)
	}
	var a Epoch
	require.NoError(t, c.Get(ctx, "/v1/epoch", &a))
	require.Equal(t, Epoch{Epoch: 2, Quorum: "weighted:1=1", Phase: "idle", Dead: a.Dead}, a)
}
