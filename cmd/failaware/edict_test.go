package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/edict/fence"
	"github.com/failaware/failaware/timed"
)

func testEdict(node timed.NodeID, at int) *edict.Edict {
	return &edict.Edict{Epoch: 4, Counter: 2, Digest: edict.Sum([]byte("payload")),
		Stamps: []edict.Stamp{{Node: node, Counter: 3, Boot: 9, At: timed.Instant(at)}}}
}

func TestEdictShow(t *testing.T) {
	code, out, _ := invoke("edict", "show", testEdict(1, 1500).String())
	require.Zero(t, code)
	for _, want := range []string{"epoch    4", "sha256:", "0000000000000009", "1.5µs"} {
		require.Contains(t, out, want)
	}
	code, out, _ = invoke("edict", "show", "-o", "json", testEdict(1, 1500).String())
	require.Zero(t, code)
	var s shownEdict
	require.NoError(t, json.Unmarshal([]byte(out), &s))
	require.Equal(t, showEdict(testEdict(1, 1500)), s)
	uncounted := testEdict(1, 1)
	uncounted.Stamps[0].Counter = 0
	_, out, _ = invoke("edict", "show", uncounted.String())
	require.Contains(t, out, "uncounted")
}

func TestEdictVerifyOrdersTwo(t *testing.T) {
	for _, c := range []struct {
		a, b *edict.Edict
		code int
		want string
	}{
		{testEdict(1, 1), testEdict(1, 2), 0, "before"},
		{testEdict(1, 2), testEdict(1, 1), 0, "after"},
		{testEdict(1, 1), testEdict(1, 1), 0, "same"},
		{testEdict(1, 1), testEdict(2, 1), 1, "incomparable: no node voted for both"},
	} {
		code, out, err := invoke("edict", "verify", c.a.String(), c.b.String())
		require.Equal(t, c.code, code)
		require.Equal(t, c.want+"\n", out)
		require.Empty(t, err)
		code, out, _ = invoke("edict", "verify", "-o", "ndjson", c.a.String(), c.b.String())
		require.Equal(t, c.code, code)
		require.Contains(t, out, `{"order":"`+strings.Split(c.want, ":")[0]+`"`)
	}
}

func TestEdictVerifyFences(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fence")
	verify := func(e *edict.Edict, more ...string) (int, string) {
		code, out, err := invoke(append([]string{"edict", "verify", e.String(), "--state", path, "--name", "n"}, more...)...)
		require.Empty(t, err)
		return code, out
	}
	payload := filepath.Join(t.TempDir(), "payload")
	require.NoError(t, os.WriteFile(payload, []byte("payload"), 0o600))
	for _, c := range []struct {
		e    *edict.Edict
		code int
		want string
	}{
		{testEdict(1, 5), 0, "accepted\n"},
		{testEdict(1, 5), 0, "repeated\n"},
		{testEdict(1, 4), 1, `refused: edict: refused for "n": a later edict`},
		{testEdict(2, 9), 1, "incomparable: no node voted for both"},
		{testEdict(1, 6), 0, "accepted\n"},
	} {
		code, out := verify(c.e, "--payload", payload)
		require.Equal(t, c.code, code)
		require.Contains(t, out, c.want)
	}
	require.NoError(t, os.WriteFile(payload, []byte("another"), 0o600))
	code, out := verify(testEdict(1, 7), "--payload", payload)
	require.Equal(t, 1, code)
	require.Contains(t, out, "another payload")
	code, out = verify(testEdict(1, 4), "-o", "ndjson")
	require.Equal(t, 1, code)
	require.Contains(t, out, `"verdict":"refused"`)
	require.Contains(t, out, `"order":"before"`)
	code, out = verify(testEdict(1, 7))
	require.Equal(t, 0, code, out)

	f, err := fence.Open(path)
	require.NoError(t, err)
	code, _, text := invoke("edict", "verify", testEdict(1, 8).String(), "--state", path, "--name", "n", "--timeout", "20ms")
	require.Equal(t, 1, code)
	require.Contains(t, text, "in use")
	require.NoError(t, f.Close())
	require.NoError(t, os.WriteFile(path, []byte("junk"), 0o600))
	code, _, text = invoke("edict", "verify", testEdict(1, 8).String(), "--state", path, "--name", "n")
	require.Equal(t, 2, code)
	require.Contains(t, text, path)
}

// Of several commands at once, each edict is accepted by one.
func TestEdictVerifyTakesTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fence")
	var accepted atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			code, out, _ := invoke("edict", "verify", testEdict(1, 1).String(), "--state", path, "--name", "n", "--timeout", clitest.LongEnough.String())
			if code == 0 && out == "accepted\n" {
				accepted.Add(1)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, accepted.Load())
}

func TestEdictUsage(t *testing.T) {
	good := testEdict(1, 1).String()
	for _, c := range []struct{ args, want string }{
		{"show", "accepts 1 arg"},
		{"show nonsense", "edict: malformed"},
		{"verify " + good, "--state is needed"},
		{"verify " + good + " --state f", "--name is needed"},
		{"verify " + good + " " + good + " --name n", "are for one edict"},
		{"verify " + good + " " + good[:20], "edict: malformed"},
		{"verify " + good + " --state /nonexistent/f --name n", "--state: "},
		{"verify " + good + " --state f --name n --payload /nonexistent/p", "--payload: "},
		{"verify " + good + " --state " + filepath.Join(t.TempDir(), "f") + " --name " + strings.Repeat("x", 256), "more than 255"},
	} {
		code, out, err := invoke(append([]string{"edict"}, strings.Fields(c.args)...)...)
		require.Equal(t, 2, code, c.args)
		require.Empty(t, out)
		require.Contains(t, err, c.want)
	}
}
