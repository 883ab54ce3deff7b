package failaware

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

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
	for range 2 * maxWarnings { // the loop calls this
		(*sink)(n).Warn("another")
	}
	waitElected(t, n)
	require.NoError(t, n.Close())
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
