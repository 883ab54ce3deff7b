package replicate_test

import (
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// text is what a log wrote.
type text struct {
	mu sync.Mutex
	b  strings.Builder
}

func (t *text) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(b)
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// unreadable is an application that cannot read the state of the others.
type unreadable struct{}

func (unreadable) Apply(replicate.Operation) any  { return nil }
func (unreadable) Snapshot(w io.Writer) error     { _, err := io.WriteString(w, "state"); return err }
func (unreadable) Restore(io.Reader) error        { return errors.New("of another version") }
func (unreadable) Merge([]replicate.Branch) error { return nil }

// Without OnEvent, the log of the node has the events, and why the replica has stopped.
func TestTheLogHasTheEventsThatNobodyTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 1})
		start := func(id failaware.NodeID, cfg replicate.Config) (*replicate.Replica, *text) {
			var log text
			n, err := failaware.Start(t.Context(), failaware.Config{ID: id, Transport: net.Transport(),
				Broadcast: &failaware.BroadcastConfig{}, LogHandler: slog.NewTextHandler(&log, nil)})
			require.NoError(t, err)
			r, err := replicate.Start(n, unreadable{}, cfg)
			require.NoError(t, err)
			t.Cleanup(func() { _ = r.Close() })
			return r, &log
		}
		one, log := start(1, replicate.Config{})
		_, err := one.Submit(t.Context(), []byte("x"))
		require.NoError(t, err)
		synctest.Wait() // nothing waits for the log
		require.Contains(t, log.String(), "replicated state: view 1@1/")
		two, log := start(2, replicate.Config{})
		<-two.Done()
		synctest.Wait()
		require.ErrorContains(t, two.Err(), "of another version")
		require.Contains(t, log.String(), "level=ERROR msg=\"the replicated state has stopped, and the node with it\"")
		require.Contains(t, log.String(), "of another version")
		three, log := start(3, replicate.Config{OnEvent: func(replicate.Event) {}})
		<-three.Done()
		synctest.Wait()
		require.NotContains(t, log.String(), "replicated state")
		time.Sleep(time.Second)
	})
}

func TestWhatCostsSomethingIsAWarning(t *testing.T) {
	for want, events := range map[hclog.Level][]replicate.Event{
		hclog.Debug: {replicate.Receiving{}},
		hclog.Info:  {replicate.Begun{}, replicate.Disk{}, replicate.Restored{}, replicate.Merged{}},
		hclog.Warn:  {replicate.Begun{Lossy: true}, replicate.Stuck{}, replicate.Diverged{}, replicate.RolledBack{}},
		hclog.Error: {replicate.Disk{Err: errors.New("full")}},
	} {
		for _, e := range events {
			require.Equal(t, want, replicate.Level(e), "%T", e)
		}
	}
}
