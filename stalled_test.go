package failaware

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/pause"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// leadsAlone starts a node that leads globally, and a gate for its loop.
func leadsAlone(t testing.TB, cfg Config) (*Node, *pause.Gate) {
	q, err := quorum.Majority(timed.SetOf(1))
	require.NoError(t, err)
	gate := pause.New()
	cfg.ID, cfg.Quorum = 1, q
	if cfg.Timing == (Timing{}) {
		cfg.Timing = LAN()
	}
	n, err := Start(pause.With(t.Context(), gate), cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		gate.Open()
		_ = n.Close()
	})
	eventually(t, "it leads, and its view is up to date", func() bool { return n.LeadsGlobally() && n.View().UpToDate })
	return n, gate
}

// leads returns contexts that last as long as a node leads, and as it leads globally.
func leads(t testing.TB, n *Node) (local, global context.Context) {
	local, cancel, err := n.Lead(bounded(t))
	require.NoError(t, err)
	t.Cleanup(cancel)
	global, cancel, err = n.LeadGlobally(bounded(t))
	require.NoError(t, err)
	t.Cleanup(cancel)
	return local, global
}

// readersOutlastTheLoop stops the loop of a node that leads. Nothing is published any more, and
// all that the node says of itself ends by the clock alone, no answer after another one of the
// same lease.
func readersOutlastTheLoop(t testing.TB) {
	n, gate := leadsAlone(t, Config{})
	local, global := leads(t, n)
	gate.Shut(n.Done())

	for n.LeadsGlobally() {
	}
	_, err := n.Edict([]byte("an order"))
	require.ErrorIs(t, err, ErrNotLeader, "an edict after the lead")
	require.Error(t, global.Err())
	for n.Leads() {
	}
	require.Error(t, local.Err())
	require.False(t, n.Leader().UpToDate)
	for n.View().UpToDate {
	}
	require.Zero(t, n.View().AtMost)
	require.False(t, n.LeadsGlobally() || n.Leads(), "nothing comes back")
	<-local.Done()
	<-global.Done()
}

func TestReadersOutlastTheLoop(t *testing.T) { readersOutlastTheLoop(t) }

// edictsAreTheirCallers changes an edict. What the node knows of its lease stays as it is.
func edictsAreTheirCallers(t testing.TB) {
	n, _ := leadsAlone(t, Config{})
	for {
		s := n.loop.Snapshot()
		e, err := n.Edict([]byte("an order"))
		if err != nil || n.loop.Snapshot() != s {
			continue // a busy machine, or another round
		}
		e.Stamps[0].Counter++
		require.NotEqual(t, e.Stamps[0].Counter, s.Stamps.Stamps[0].Counter)
		return
	}
}

func TestEdictsAreTheirCallers(t *testing.T) { edictsAreTheirCallers(t) }

// distrustIsHeardByAll takes away the trust in the clock of a node that leads, while its loop
// stands. Nothing that the node says of itself counts any more, whoever asks, and no promise.
func distrustIsHeardByAll(t testing.TB) {
	n, gate := leadsAlone(t, Config{})
	local, global := leads(t, n)
	hold, err := n.Hold(bounded(t))
	if err != nil {
		require.ErrorIs(t, err, ErrNotLeader) // a busy machine: lost again
	}
	gate.Shut(n.Done())
	n.loop.Snapshot().Trust.Lose()
	require.False(t, n.Leads() || n.LeadsGlobally() || n.Leader().UpToDate || n.View().UpToDate)
	_, err = n.Edict([]byte("an order"))
	require.ErrorIs(t, err, ErrNotLeader)
	_, err = n.Timestamp()
	require.ErrorIs(t, err, ErrNotLeader)
	require.Zero(t, hold.ValidFor())
	require.Error(t, local.Err())
	require.Error(t, global.Err())
	require.Zero(t, n.Clock().Status)
}

func TestDistrustIsHeardByAll(t *testing.T) { distrustIsHeardByAll(t) }

// keysAreReadWhileTheLoopStands stops the loop of a node when it has adopted its keys. The node
// then knows neither the keys of its peers nor, as [Node.Status] tells them, its own.
func keysAreReadWhileTheLoopStands(t testing.TB) {
	ring, err := seal.NewRing(seal.NewKey())
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, ring.WriteFile(file))
	var out lines
	n, gate := leadsAlone(t, Config{KeyFile: file, Logger: hclog.New(&hclog.LoggerOptions{Output: &out})})
	keys, err := n.reread(t.Context())
	require.NoError(t, err)
	require.Equal(t, ring.IDs(), keys)
	gate.Shut(n.Done())
	n.logKeys(keys)
	eventually(t, "what the node does not know is in the log", func() bool {
		return strings.Contains(out.String(), "which peers do not have the key that now seals is not known")
	})
}

func TestKeysAreReadWhileTheLoopStands(t *testing.T) { keysAreReadWhileTheLoopStands(t) }

// eachHearsOfItsOwn has a caller give up its wait for a message, while the loop stands, and another
// one wait after it. The outcome that the second one gets is of its own message.
func eachHearsOfItsOwn(t testing.TB) {
	n, gate := leadsAlone(t, Config{Broadcast: &BroadcastConfig{}})
	gate.Shut(n.Done())
	ctx, cancel := context.WithCancel(bounded(t))
	go func() {
		for !n.loop.Sends().Awaited(broadcast.ClassOrdered) {
			runtime.Gosched()
		}
		cancel()
	}()
	_, err := n.BroadcastAndWait(ctx, []byte("given up"), BroadcastOptions{})
	var unknown *UnknownOutcomeError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, NotAwaited, unknown.Reason)
	gate.Open()
	o, err := n.BroadcastAndWait(bounded(t), []byte("awaited"), BroadcastOptions{})
	require.NoError(t, err)
	_ = n.Status() // the turn is over
	require.False(t, n.loop.Sends().Awaited(broadcast.ClassOrdered), "a wait goes on that nobody waits for")
	for d, err := range n.Deliveries(bounded(t)) {
		require.NoError(t, err)
		if string(d.Payload) == "awaited" {
			require.Equal(t, d.ID, o.ID)
			require.NotEqual(t, unknown.ID, o.ID)
			return
		}
	}
}

func TestEachHearsOfItsOwnMessage(t *testing.T) { eachHearsOfItsOwn(t) }

// A node leaves in the time of its caller, though its loop waits for a disk. It stops when the loop
// goes on.
func TestLeaveEndsInTime(t *testing.T) {
	n, gate := leadsAlone(t, Config{})
	gate.Shut(n.Done())
	late := errors.New("late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, late)
	defer cancel()
	left := make(chan error, 1)
	go func() { left <- n.Leave(ctx) }()
	select {
	case err := <-left:
		require.ErrorIs(t, err, late)
	case <-time.After(time.Minute):
		require.FailNow(t, "Leave waits for the loop")
	}
	require.NoError(t, n.Err())
	gate.Open()
	<-n.Done()
}
