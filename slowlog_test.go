package failaware

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/seal"
)

// oneKey returns the name of a key file.
func oneKey(t *testing.T) string {
	r, err := seal.NewRing(seal.NewKey())
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	path := filepath.Join(dir, "keys")
	require.NoError(t, r.WriteFile(path))
	return path
}

// handlers is a handler as programs write it, of a type that cannot be the key of a map.
type handlers []func(text string)

func (h handlers) Enabled(context.Context, slog.Level) bool { return true }
func (h handlers) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h handlers) WithGroup(string) slog.Handler            { return h }

func (h handlers) Handle(_ context.Context, r slog.Record) error {
	for _, f := range h {
		f(r.Message)
	}
	return nil
}

// A warning of the loop waits for no log, and the end of a node for none either.
func TestALogThatBlocksHoldsUpNothing(t *testing.T) {
	blocked, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	n := startNode(t, Config{ID: 1, LogHandler: handlers{func(text string) {
		if text == "long" {
			once.Do(func() { close(blocked) })
			<-release
		}
	}}})
	defer close(release)
	(*sink)(n).Warn("long")
	<-blocked
	for range 2 * maxMessages { // the loop calls this
		(*sink)(n).Warn("another")
	}
	waitElected(t, n)
	require.NoError(t, n.Close())
}

// A clock that is known to be wrong, keys that are read again, and names that are not found wait for
// no log, however often they come.
func TestABlockedLogHoldsUpNoVerdict(t *testing.T) {
	keys := oneKey(t)
	release := make(chan struct{})
	n := startNode(t, Config{ID: 1, KeyFile: keys, Peers: []Peer{{2, "no..localhost:7002"}}, LogHandler: handlers{func(string) { <-release }}})
	defer close(release)
	waitElected(t, n)
	for range 2 * maxMessages {
		require.NoError(t, n.ReloadKeys(t.Context()))
		(*rateWatcher)(n).JudgeRate(hwclock.RateUnknown, hwclock.Status{})
		(*rateWatcher)(n).WarnUnwatched(syscall.EPERM)
	}
	require.NoError(t, n.SetPeers([]Peer{{2, "localhost:7002"}}))
	eventually(t, "the name", func() bool {
		p := n.Status().Peers
		return len(p) == 1 && p[0].Addr.IsValid()
	})
	(*rateWatcher)(n).JudgeRate(hwclock.RateFaulty, hwclock.Status{RateError: 400_000})
	eventually(t, "the end of the lead", func() bool { return !n.Leads() })
}

// The log says how many messages it has lost.
func TestALogSaysWhatItLost(t *testing.T) {
	blocked, release, lost := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var once, again sync.Once
	n := startNode(t, Config{ID: 1, LogHandler: handlers{func(text string) {
		switch {
		case text == "long":
			once.Do(func() { close(blocked) })
			<-release
		case strings.Contains(text, "lost messages"):
			again.Do(func() { close(lost) })
		}
	}}})
	(*sink)(n).Warn("long")
	<-blocked
	for range maxMessages + 1 {
		(*sink)(n).Warn("another")
	}
	close(release)
	<-lost
}

// A handler may call the node.
func TestALogHandlerMayChangeThePeers(t *testing.T) {
	var n *Node
	ready, changed := make(chan struct{}), make(chan error, 1)
	var once sync.Once
	n = startNode(t, Config{ID: 1, Peers: []Peer{{2, "no..localhost:7002"}}, LogHandler: handlers{func(text string) {
		if strings.Contains(text, "cannot find a peer") {
			once.Do(func() {
				<-ready
				changed <- n.SetPeers(nil)
			})
		}
	}}})
	close(ready)
	require.NoError(t, <-changed)
}

func TestALogHandlerMayReloadTheKeys(t *testing.T) {
	keys := oneKey(t)
	var n *Node
	ready, done := make(chan struct{}), make(chan error, 1)
	var once sync.Once
	n = startNode(t, Config{ID: 1, KeyFile: keys, LogHandler: handlers{func(string) {
		once.Do(func() {
			<-ready
			done <- n.ReloadKeys(context.Background())
		})
	}}})
	close(ready)
	require.NoError(t, <-done)
}
