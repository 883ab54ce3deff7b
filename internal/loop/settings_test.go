package loop

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

// Packets that are too long are counted. Anybody can send such ones, so they are worth no line in the
// log: peers with a larger MaxPacket are told of by what they say of their settings.
func TestLongPacketsOfAnybodyAreNotMentioned(t *testing.T) {
	for name, ring := range rings(t) {
		l, c := newLoop(func(cfg *Config) { cfg.Ring = ring })
		for n := range 3 {
			c.stats = udp.Stats{{Name: "received_truncated", Value: uint64(n + 1)}}
			for range 100 {
				step(l, c)
			}
			c.advance(2 * cleanEvery)
		}
		require.Empty(t, l.cfg.Sink.(*recorder).warnings, name)
	}
}

// Packets that are longer than an interface takes do not leave, and nothing else says so: short
// ones do, and make leaders and views.
func TestAnInterfaceThatTakesNoLongPacketsIsMentioned(t *testing.T) {
	l, c := newLoop(nil)
	for range 3 { // looks at the counter
		c.stats = udp.Stats{{Name: "send_emsgsize", Value: 9}}
		for range 100 {
			step(l, c)
		}
		c.advance(2 * cleanEvery)
	}
	warnings := l.cfg.Sink.(*recorder).warnings
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "too long for the network: MaxPacket")
	require.Contains(t, warnings[0], "packets 9")
}

// A quorum system of which no member runs could never be replaced again.
func changeToNobody(t testing.TB) {
	state := stateOf(t, t.TempDir(), timed.LAN().MaxLockTime)
	l, c := newLoop(func(cfg *Config) {
		cfg.State, cfg.Stack.Epochs = state, &epoch.State{Epoch: 1, System: "majority:1"}
	})
	d := l.driver
	for !l.Snapshot().Global {
		step(l, c)
	}
	require.ErrorIs(t, d.proposeQuorum(1, "majority:8,9"), epoch.ErrSystem)
	d.forceQuorum("majority:8,9", timed.SetOf(1), func(err error) { require.ErrorIs(t, err, epoch.ErrSystem) })
	require.ErrorIs(t, d.proposeQuorum(2, "majority:1,9"), ErrNotLeader, "in that epoch")
	require.ErrorIs(t, d.proposeQuorum(0, "majority:1,9"), ErrNotLeader, "in the epoch before")
	require.NoError(t, d.proposeQuorum(1, "majority:1,9"), "node 9 may come")
}

func TestAChangeToNobodyIsRefused(t *testing.T) { changeToNobody(t) }
