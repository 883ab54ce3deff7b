package loop

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

// Another MaxPacket than that of the peers shows in the log, once for each look.
func TestAnotherMaxPacketIsMentioned(t *testing.T) {
	requireMentioned(t, "received_truncated", 7, "MaxPacket must be the same")
}

// Packets that are longer than an interface takes do not leave, and nothing else says so: short
// ones do, and make leaders and views.
func TestAnInterfaceThatTakesNoLongPacketsIsMentioned(t *testing.T) {
	requireMentioned(t, "send_emsgsize", 9, "too long for the network: MaxPacket")
}

// requireMentioned requires that the log mentions the packets of a counter of the transport
// once, although the loop looks at the counter three times.
func requireMentioned(t *testing.T, counter string, packets uint64, text string) {
	t.Helper()
	l, c := newLoop(nil)
	for range 3 {
		c.stats = udp.Stats{{Name: counter, Value: packets}}
		for range 100 {
			step(l, c)
		}
		c.advance(2 * cleanEvery)
	}
	warnings := l.cfg.Sink.(*recorder).warnings
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], text)
	require.Contains(t, warnings[0], fmt.Sprintf("packets %d", packets))
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
