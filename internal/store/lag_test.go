package store

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/internal/pause"
	"github.com/failaware/failaware/internal/transport"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// narrow is a transport that loses large packets to and from node 3, as a path does whose MTU is
// smaller than the nodes think.
type narrow struct {
	transport.Transport
	on atomic.Bool
}

func (n *narrow) Open(r transport.Request) (transport.Endpoint, error) {
	end, err := n.Transport.Open(r)
	if err == nil {
		end.Conn = &narrowConn{end.Conn, n, r.ID}
	}
	return end, err
}

type narrowConn struct {
	transport.Conn
	of *narrow
	id failaware.NodeID
}

func (c *narrowConn) WriteBatch(pkts []udp.Packet) (int, error) {
	third := c.of.Address(3)
	passes := slices.DeleteFunc(slices.Clone(pkts), func(p udp.Packet) bool {
		return c.of.on.Load() && p.N+len(p.Tail) > 600 && (c.id == 3 || p.Addr == third)
	})
	if _, err := c.Conn.WriteBatch(passes); err != nil {
		return 0, err
	}
	return len(pkts), nil
}

// holdTheStoreUp has a node send a large command, which does not pass between node 3 and the
// others, and returns what is wrong with what the nodes say: whom the store waits for, and that it
// takes no commands.
func holdTheStoreUp(t *testing.T, from int) (wrong string) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, Config{Kind: kv.Linearizable}, 3, 1)
		path := &narrow{Transport: g.via}
		g.via = path
		defer g.startAll().close()
		g.put(from, "before", "small", 0)
		path.on.Store(true)
		_, err := g.stores[from].Submit(within(t, 4*time.Second), kv.Command{Op: kv.Put, Key: "large", Value: make([]byte, 700)}, api.Attempt{})
		require.ErrorIs(t, err, failaware.ErrOutcomeUnknown)
		want := "node 3, without an acknowledgement for "
		if from == 2 {
			want = "nodes? "
		}
		if !regexp.MustCompile("; it waits for " + want + ".*--max-packet").MatchString(err.Error()) {
			wrong += err.Error() + "; "
		}
		time.Sleep(3 * time.Second)
		for i, s := range g.stores {
			var a api.KVStatus
			if s.Describe(&a); a.Lag == "" || i < 2 && !strings.Contains(a.Lag, "node 3") || a.Accepting || s.Counts().Accepting {
				wrong += fmt.Sprintf("node %d: %q, %v, %v; ", i+1, a.Lag, a.Accepting, s.Counts().Accepting)
			}
		}
		path.on.Store(false)
		time.Sleep(3 * time.Second)
		g.put(from, "after", "small", 0)
		for i, s := range g.stores {
			var a api.KVStatus
			if s.Describe(&a); a.Lag != "" || !a.Accepting {
				wrong += fmt.Sprintf("node %d is free: %q, %v; ", i+1, a.Lag, a.Accepting)
			}
		}
	})
	return wrong
}

// Wherever a command comes from that does not get through, all nodes say whom the store waits for.
func TestMembersThatHoldTheStoreUpAreNamed(t *testing.T) {
	for from := range 3 {
		require.Empty(t, holdTheStoreUp(t, from), "from node %d", from+1)
	}
}

// staleIsTold stops the loop of a node alone, and returns what is wrong with what its store says: that
// it takes no commands, and why, from when its view is not up to date.
func staleIsTold(t testing.TB) (wrong string) {
	gate := pause.New()
	cfg := failaware.Config{ID: 1, Timing: failaware.LAN(), Transport: memory.New(memory.Options{}).Transport(), Broadcast: &failaware.BroadcastConfig{}}
	p, err := Prepare(cfg, Config{Kind: kv.Partitionable})
	require.NoError(t, err)
	n, err := failaware.Start(pause.With(t.Context(), gate), cfg)
	require.NoError(t, err)
	s, err := p.Start(n)
	require.NoError(t, err)
	defer func() {
		gate.Open()
		require.NoError(t, s.Close())
	}()
	for !s.Counts().Accepting {
		time.Sleep(time.Millisecond)
	}
	gate.Shut(n.Done())
	for n.View().UpToDate {
		time.Sleep(time.Millisecond)
	}
	var a api.KVStatus
	if s.Describe(&a); a.Accepting || s.Counts().Accepting {
		wrong += fmt.Sprintf("takes commands: %v, %v; ", a.Accepting, s.Counts().Accepting)
	}
	if !strings.Contains(a.Lag, "waits for a disk or a processor") {
		wrong += "says " + a.Lag
	}
	return wrong
}

// A node whose loop takes no turns answers nothing, and says so of its store.
func TestAStaleStoreTakesNoCommands(t *testing.T) { require.Empty(t, staleIsTold(t)) }

// A store that takes no commands waits for what its situation says, whatever its view is.
func TestAStoreThatTakesNothingDoesNotWaitForItsView(t *testing.T) {
	var a api.KVStatus
	describe(replicate.Progress{Situation: replicate.Recovering}, lags{stale: true}, 1, &a)
	require.False(t, a.Accepting)
	require.Empty(t, a.Lag)
	describe(replicate.Progress{Situation: replicate.Working, Accepting: true}, lags{stale: true}, 1, &a)
	require.Equal(t, stale, a.Lag)
}
