package failaware_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/sim/memory"
)

// notEqual are settings of which each node may have its own.
var notEqual = []string{"ID", "Name", "Tags", "Listen", "Peers", "Join", "Transport", "MaxPeers", "Mode", "RankBy", "Weight",
	"CollateAbove", "CollateFanout", "JoinQuorum", "References", "NTP", "ClockBound", "StateDir", "FormerGroup", "Logger", "LogHandler", "EventBuffer",
	"Insecure", "RaiseProcs", "Awake", "OnPublish",
	"Clock.MaxDeviation", "Clock.MaxSlew", "Clock.StepThreshold", "Clock.MaxUTCError", "Clock.MinReferences",
	"Timing.OneWayTimeout", "Timing.MinDelay", "Timing.SchedulingDelay", "Timing.ElectionPeriod", "Timing.KeepalivePeriod",
	"Timing.Expires", "Timing.LockTime", "Timing.MaxLockTime",
	"Broadcast.PacketBytes", "Broadcast.Backlog", "Broadcast.SlowAfter", "Broadcast.CheckLent", "Broadcast.SendOnly"}

// equalSetting gives one of two nodes another value of a setting, and says what each of
// the two nodes calls the difference.
type equalSetting struct {
	change      func(c *failaware.Config)
	here, there string
}

// differs returns the texts of a setting whose values differ.
func differs(change func(c *failaware.Config), name, one, two string) equalSetting {
	return equalSetting{change, name + " is " + one + " here and " + two + " there", name + " is " + two + " here and " + one + " there"}
}

var equalSettings = map[string]equalSetting{
	"Group":                   differs(func(c *failaware.Config) { c.Group = "b" }, "Group", `"default"`, `"b"`),
	"MaxPacket":               differs(func(c *failaware.Config) { c.MaxPacket = 9001 }, "MaxPacket", "1200", "9001"),
	"Timing.MaxDrift":         differs(func(c *failaware.Config) { c.Timing.MaxDrift++ }, "MaxDrift", "100000 ppb", "100001 ppb"),
	"Timing.FastThreshold":    differs(func(c *failaware.Config) { c.Timing.FastThreshold += time.Microsecond }, "FastThreshold", "10ms", "10.001ms"),
	"Broadcast":               differs(func(c *failaware.Config) { c.Broadcast = nil }, "Broadcast", "on", "off"),
	"Broadcast.Window":        differs(func(c *failaware.Config) { c.Broadcast.Window = 77777 }, "Broadcast.Window", "4194304", "77777"),
	"Broadcast.MaxMessages":   differs(func(c *failaware.Config) { c.Broadcast.MaxMessages = 7777 }, "Broadcast.MaxMessages", "16384", "7777"),
	"Broadcast.MaxPayload":    differs(func(c *failaware.Config) { c.Broadcast.MaxPayload = 4097 }, "Broadcast.MaxPayload", "1048576", "4097"),
	"Broadcast.RequireQuorum": differs(func(c *failaware.Config) { c.Broadcast.RequireQuorum = true }, "Broadcast.RequireQuorum", "off", "on"),
	"Quorum":                  differs(func(c *failaware.Config) { c.Quorum = systemOf("majority:2,7,9") }, "Quorum", "majority:1,2", "majority:2,7,9"),
	"QuorumEpoch":             differs(func(c *failaware.Config) { c.QuorumEpoch = 3 }, "QuorumEpoch", "1", "3"),
}

// systemOf returns the quorum system of a text.
func systemOf(text string) quorum.System {
	s, err := quorum.Parse(text)
	if err != nil {
		panic(err)
	}
	return s
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
	require.ElementsMatch(t, all, append(slices.Concat(notEqual, slices.Collect(maps.Keys(equalSettings))), "KeyFile"))
}

// Both nodes name a setting that must be equal, with both values, within two keepalive
// periods, even if only one of them knows where the other is. Quorum systems differ when nodes
// vote, which they do when they are ready.
func TestBothSidesNameADifferenceSoon(t *testing.T) {
	for name, s := range equalSettings {
		for _, listed := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					one, two := differentNodes(t, listed, nil, s.change)
					if strings.HasPrefix(name, "Quorum") {
						time.Sleep(one.Bounds().Ready)
					}
					time.Sleep(2 * one.Config().Timing.KeepalivePeriod)
					requireNamed(t, one, two, s.here)
					requireNamed(t, two, one, s.there)
				})
			})
		}
	}
}

// All that differs is named, also a quorum system that views must hold.
func TestAllDifferencesAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quorate := func(c *failaware.Config) { c.Broadcast.RequireQuorum = true }
		one, two := differentNodes(t, false, quorate, func(c *failaware.Config) {
			quorate(c)
			c.Group, c.Quorum, c.QuorumEpoch, c.Broadcast.Window, c.Timing.MaxDrift = "b", systemOf("majority:1,2,5"), 3, 99999, 77
		})
		time.Sleep(2 * one.Config().Timing.KeepalivePeriod)
		requireNamed(t, one, two, `Group is "default" here and "b" there; MaxDrift is 100000 ppb here and 77 ppb there; `+
			"Broadcast.Window is 4194304 here and 99999 there; QuorumEpoch is 1 here and 3 there; Quorum is majority:1,2 here and majority:1,2,5 there")
		requireNamed(t, two, one, `Group is "b" here and "default" there; MaxDrift is 77 ppb here and 100000 ppb there; `+
			"Broadcast.Window is 99999 here and 4194304 there; QuorumEpoch is 3 here and 1 there; Quorum is majority:1,2,5 here and majority:1,2 there")
	})
}

// Keys are named by their ids. Nodes with other keys hear nothing of each other unless each
// knows where the other is: what cannot be opened is not answered.
func TestBothSidesNameOtherKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys := []seal.Key{seal.NewKey(), seal.NewKey()}
		with := func(k seal.Key) func(c *failaware.Config) {
			return func(c *failaware.Config) { c.KeyFile = keyFile(t, k) }
		}
		one, two := differentNodes(t, true, with(keys[0]), with(keys[1]))
		time.Sleep(2 * one.Config().Timing.KeepalivePeriod)
		for i, n := range []*failaware.Node{one, two} {
			require.Contains(t, n.Status().Peers[0].String(), fmt.Sprintf("KeyFile has [%v] here and [%v] there", keys[i].ID(), keys[1-i].ID()))
		}
	})
}

// differentNodes starts two nodes that differ. The second one knows where the first one is,
// and the first one where the second is if it is listed.
func differentNodes(t *testing.T, listed bool, first, second func(c *failaware.Config)) (one, two *failaware.Node) {
	net := memory.New(memory.Options{})
	begin := func(id failaware.NodeID, change func(c *failaware.Config), peers ...failaware.Peer) *failaware.Node {
		c := failaware.Config{ID: id, Transport: net.Transport(), Timing: failaware.LAN(), Quorum: systemOf("majority:1,2"), Broadcast: &failaware.BroadcastConfig{}, Peers: peers}
		if change != nil {
			change(&c)
		}
		n, err := failaware.Start(t.Context(), c)
		require.NoError(t, err)
		t.Cleanup(func() { _ = n.Close() })
		return n
	}
	one = begin(1, first)
	two = begin(2, second, failaware.Peer{ID: 1, Addr: one.Addr().String()})
	if listed {
		require.NoError(t, one.SetPeers([]failaware.Peer{{ID: 2, Addr: two.Addr().String()}}))
	}
	return one, two
}

// requireNamed checks that a node says how a peer differs, once: in an event and, if it ignores
// the peer, in its status.
func requireNamed(t *testing.T, n, peer *failaware.Node, text string) {
	t.Helper()
	var said []string
	soFar, cancel := context.WithTimeout(t.Context(), 1)
	defer cancel()
	for e := range n.EventsSince(soFar, 0) {
		switch e := e.(type) {
		case event.Mismatch:
			require.Equal(t, peer.ID(), e.Peer)
			peers := n.Status().Peers
			require.Len(t, peers, 1)
			require.Equal(t, peer.ID(), peers[0].ID)
			require.Equal(t, e.Differences, peers[0].Mismatch)
			said = append(said, e.Differences.String())
		case event.OtherQuorum:
			require.Equal(t, peer.ID(), e.Peer)
			said = append(said, e.Differences.String())
		}
	}
	require.Equal(t, []string{text}, said)
}
