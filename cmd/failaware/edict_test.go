package main

import (
	"os"
	"path/filepath"
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

// A fence file is for one process at a time.
func TestEdictVerifyWaitsForTheFence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fence")
	f, err := fence.Open(path)
	require.NoError(t, err)
	code, _, text := invoke("edict", "verify", testEdict(1, 8).String(), "--state", path, "--name", "n", "--timeout", "20ms")
	require.Equal(t, 1, code)
	require.Contains(t, text, "in use")
	require.NoError(t, f.Close())
	code, _, text = invoke("edict", "verify", testEdict(1, 8).String(), "--state", path, "--name", "n", "--timeout", clitest.LongEnough.String())
	require.Zero(t, code, text)
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

// Who cannot write the file has refused nothing.
func TestEdictVerifyTellsAFaultFromARefusal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fence")
	require.NoError(t, os.Mkdir(path+".new", 0o700)) // where the file is written first
	code, out, text := invoke("edict", "verify", testEdict(1, 8).String(), "--state", path, "--name", "n")
	require.Equal(t, 2, code)
	require.Contains(t, text, path)
	require.Empty(t, out)
}
