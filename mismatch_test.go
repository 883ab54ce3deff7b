package failaware

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/event"
)

// Nodes with different settings ignore each other, go on, and name the difference on
// both sides.
func TestNodesNameTheirDifferences(t *testing.T) {
	timing := Local()
	timing.FastThreshold += time.Microsecond
	majority := majorityOf(t, 1, 2)
	on := func(b BroadcastConfig) *BroadcastConfig { return &b }
	for name, c := range map[string]struct {
		one, two    Config
		here, there string // at node 1, at node 2
	}{
		"timing": {Config{}, Config{Timing: timing},
			"FastThreshold is 2ms here and 2.001ms there", "FastThreshold is 2.001ms here and 2ms there"},
		"group": {Config{}, Config{Group: "b"},
			`Group is "default" here and "b" there`, `Group is "b" here and "default" there`},
		"broadcast": {Config{}, Config{Broadcast: on(BroadcastConfig{})},
			"Broadcast is off here and on there", "Broadcast is on here and off there"},
		"window": {Config{Broadcast: on(BroadcastConfig{})}, Config{Broadcast: on(BroadcastConfig{Window: 1 << 16})},
			"Broadcast.Window is 4194304 here and 65536 there", "Broadcast.Window is 65536 here and 4194304 there"},
		"odd window": {Config{Broadcast: on(BroadcastConfig{})}, Config{Broadcast: on(BroadcastConfig{Window: 77777})},
			"Broadcast.Window is 4194304 here and 77777 there", "Broadcast.Window is 77777 here and 4194304 there"},
		"limits": {Config{Broadcast: on(BroadcastConfig{MaxPayload: 4096})}, Config{Broadcast: on(BroadcastConfig{MaxPayload: 4096, MaxMessages: 8})},
			"Broadcast.MaxMessages is 16384 here and 8 there", "Broadcast.MaxMessages is 8 here and 16384 there"},
		"quorum": {Config{Quorum: majority, Broadcast: on(BroadcastConfig{})}, Config{Quorum: majority, Broadcast: on(BroadcastConfig{RequireQuorum: true})},
			"Broadcast.RequireQuorum is off here and on there", "Broadcast.RequireQuorum is on here and off there"},
		"state dir": {Config{Quorum: majority, Broadcast: on(BroadcastConfig{RequireQuorum: true})},
			Config{JoinQuorum: true, Broadcast: on(BroadcastConfig{RequireQuorum: true}), StateDir: t.TempDir()},
			"StateDir is not set here and set there", "StateDir is set here and not set there"},
	} {
		t.Run(name, func(t *testing.T) {
			c.one.ID, c.two.ID = 1, 2
			one := startNode(t, c.one)
			c.two.Peers = []Peer{{1, one.Addr().String()}}
			two := startNode(t, c.two)
			require.NoError(t, one.SetPeers([]Peer{{2, two.Addr().String()}}))
			requireMismatch(t, one, two, c.here)
			requireMismatch(t, two, one, c.there)
			eventually(t, "both lead", func() bool { return one.Leads() && two.Leads() })
			require.NoError(t, one.Err())
			require.NoError(t, two.Err())
		})
	}
}

// A node that has yet to learn the quorum system of its group does not differ in it.
func TestANodeThatJoinsTheQuorumDoesNotDifferInIt(t *testing.T) {
	one := startNode(t, Config{ID: 1, Quorum: majorityOf(t, 1), StateDir: t.TempDir()})
	two := startNode(t, Config{ID: 2, JoinQuorum: true, StateDir: t.TempDir(), Broadcast: &BroadcastConfig{}, Peers: []Peer{{1, one.Addr().String()}}})
	eventually(t, "the difference", func() bool {
		p := two.Status().Peers
		return len(p) == 1 && p[0].Mismatch.String() == "Broadcast is on here and off there"
	})
}

// A node that finds others by Join alone names the differences as one that lists them does, on
// both sides: a newcomer with another quorum system under the same number of the epoch, too.
func TestANewcomerAndTheGroupNameTheirDifferences(t *testing.T) {
	system := func(members ...NodeID) Config {
		return Config{Quorum: majorityOf(t, members...), Broadcast: &BroadcastConfig{RequireQuorum: true}, StateDir: t.TempDir()}
	}
	for name, c := range map[string]struct {
		one, two    Config
		here, there string // at node 1, at node 2
	}{
		"group": {Config{}, Config{Group: "b"},
			`Group is "default" here and "b" there`, `Group is "b" here and "default" there`},
		"quorum": {system(1), system(1, 2),
			"Quorum is majority:1 here and majority:1,2 there", "Quorum is majority:1,2 here and majority:1 there"},
	} {
		t.Run(name, func(t *testing.T) {
			c.one.ID, c.two.ID = 1, 2
			one := startNode(t, c.one)
			c.two.Join = []string{one.Addr().String()}
			two := startNode(t, c.two)
			shows := func(n *Node, text string) func() bool {
				return func() bool {
					s := n.Status()
					return len(s.Peers) == 1 && strings.Contains(s.Peers[0].String(), text)
				}
			}
			eventually(t, "the group names it", shows(one, c.here))
			eventually(t, "the newcomer names it", shows(two, c.there))
		})
	}
}

// requireMismatch checks that a node says how a peer differs: in an event, and in the
// peer's status. On a busy machine, an event comes before that is known.
func requireMismatch(t *testing.T, n, peer *Node, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	found := false
	for e := range n.EventsSince(ctx, 0) {
		if m, ok := e.(event.Mismatch); ok {
			require.Equal(t, peer.ID(), m.Peer)
			require.Equal(t, peer.Addr().String(), m.Addr)
			if found = strings.Contains(m.String(), text); found {
				break
			}
		}
	}
	require.True(t, found, "no event says %q", text)
	eventually(t, "it shows in the peer's status", func() bool {
		s := n.Status()
		return len(s.Peers) == 1 && strings.Contains(s.Peers[0].String(), text)
	})
}
