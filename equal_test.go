package failaware_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/sim/memory"
	"github.com/failaware/failaware/timed"
)

// notEqual are settings of which each node may have its own.
var notEqual = []string{"ID", "Name", "Tags", "Listen", "Peers", "Join", "Transport", "MaxPeers", "Mode", "RankBy", "Weight",
	"CollateAbove", "CollateFanout", "JoinQuorum", "References", "NTP", "ClockBound", "StateDir", "Logger", "LogHandler", "EventBuffer",
	"Insecure", "RaiseProcs", "Awake", "OnPublish",
	"Clock.MaxDeviation", "Clock.MaxSlew", "Clock.StepThreshold", "Clock.MaxUTCError", "Clock.MinReferences",
	"Timing.OneWayTimeout", "Timing.MinDelay", "Timing.SchedulingDelay", "Timing.ElectionPeriod", "Timing.KeepalivePeriod",
	"Timing.Expires", "Timing.LockTime", "Timing.MaxLockTime",
	"Broadcast.PacketBytes", "Broadcast.Backlog", "Broadcast.SlowAfter", "Broadcast.CheckLent", "Broadcast.SendOnly"}

// separate are settings that must be equal, and whose difference other tests look at: that
// of keys cannot be told by name, since nothing can be read.
var separate = []string{"KeyFile", "Quorum", "QuorumEpoch"}

// equalSetting gives one of two nodes another value of a setting, and says what each of
// the two nodes calls the difference.
type equalSetting struct {
	change      func(c *failaware.Config)
	here, there string
}

var equalSettings = map[string]equalSetting{
	"Group":     {func(c *failaware.Config) { c.Group = "b" }, `Group "default"`, `Group is "b" here and "default" there`},
	"MaxPacket": {func(c *failaware.Config) { c.MaxPacket = 9000 }, "MaxPacket is 1200 here and 9000 there", "MaxPacket is 9000 here and 1200 there"},
	"Timing.MaxDrift": {func(c *failaware.Config) { c.Timing.MaxDrift++ },
		"MaxDrift is 100000 ppb here and 100001 ppb there", "MaxDrift is 100001 ppb here and 100000 ppb there"},
	"Timing.FastThreshold": {func(c *failaware.Config) { c.Timing.FastThreshold += time.Microsecond },
		"FastThreshold is 10ms here and 10.001ms there", "FastThreshold is 10.001ms here and 10ms there"},
	"Broadcast": {func(c *failaware.Config) { c.Broadcast = nil }, "Broadcast is on here and off there", "Broadcast is off here and on there"},
	"Broadcast.Window": {func(c *failaware.Config) { c.Broadcast.Window = 1 << 16 },
		"Broadcast.Window is 4194304 here and 65536 there", "Broadcast.Window is 65536 here and 4194304 there"},
	"Broadcast.MaxMessages": {func(c *failaware.Config) { c.Broadcast.MaxMessages = 8192 },
		"Broadcast.MaxMessages is 16384 here and 8192 there", "Broadcast.MaxMessages is 8192 here and 16384 there"},
	"Broadcast.MaxPayload": {func(c *failaware.Config) { c.Broadcast.MaxPayload = 4096 },
		"Broadcast.MaxPayload is 1048576 here and 4096 there", "Broadcast.MaxPayload is 4096 here and 1048576 there"},
	"Broadcast.RequireQuorum": {func(c *failaware.Config) { c.Broadcast.RequireQuorum = true },
		"Broadcast.RequireQuorum is off here and on there", "Broadcast.RequireQuorum is on here and off there"},
}

// fieldsOf returns the names of the settings of a structure, those of its parts included.
func fieldsOf(x any, prefix string) (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeOf(x)) {
		names = append(names, prefix+f.Name)
	}
	return names
}

// Every setting is known to be a node's own, or to be the same at all nodes.
func TestEverySettingIsEqualOrNot(t *testing.T) {
	all := slices.Concat(fieldsOf(failaware.Config{}, ""), fieldsOf(failaware.Timing{}, "Timing."),
		fieldsOf(failaware.ClockConfig{}, "Clock."), fieldsOf(failaware.BroadcastConfig{}, "Broadcast."))
	all = slices.DeleteFunc(all, func(name string) bool { return name == "Timing" || name == "Clock" })
	require.ElementsMatch(t, all, slices.Concat(notEqual, separate, slices.Collect(maps.Keys(equalSettings))))
}

// Both nodes name a setting that must be equal, with both values, within two keepalive
// periods, even if only one of them knows where the other is.
func TestBothSidesNameADifferenceSoon(t *testing.T) {
	majority, err := quorum.Majority(timed.SetOf(1, 2))
	require.NoError(t, err)
	for name, s := range equalSettings {
		for _, listed := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					net := memory.New(memory.Options{})
					config := func(id failaware.NodeID) failaware.Config {
						return failaware.Config{ID: id, Transport: net.Transport(), Timing: failaware.LAN(), Quorum: majority, Broadcast: &failaware.BroadcastConfig{}}
					}
					one, err := failaware.Start(t.Context(), config(1))
					require.NoError(t, err)
					defer one.Close()
					c := config(2)
					s.change(&c)
					c.Peers = []failaware.Peer{{ID: 1, Addr: one.Addr().String()}}
					two, err := failaware.Start(t.Context(), c)
					require.NoError(t, err)
					defer two.Close()
					if listed {
						require.NoError(t, one.SetPeers([]failaware.Peer{{ID: 2, Addr: two.Addr().String()}}))
					}
					time.Sleep(2 * c.Timing.KeepalivePeriod)
					requireNamed(t, one, two, s.here)
					requireNamed(t, two, one, s.there)
				})
			})
		}
	}
}

// requireNamed checks that a node says how a peer differs: in an event, and in its status.
func requireNamed(t *testing.T, n, peer *failaware.Node, text string) {
	t.Helper()
	peers := n.Status().Peers
	require.Len(t, peers, 1)
	require.Equal(t, peer.ID(), peers[0].ID)
	require.Contains(t, peers[0].String(), text)
	for e := range n.EventsSince(t.Context(), 0) {
		if m, ok := e.(event.Mismatch); ok {
			require.Contains(t, m.String(), text)
			return
		}
	}
}
