package failaware

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader/quorum"
)

// A configuration with its defaults can be given a log.
func TestDefaultsAreNoLogger(t *testing.T) {
	c := Config{ID: 1}.WithDefaults()
	c.LogHandler = slog.DiscardHandler
	_, err := c.Validate()
	require.NoError(t, err)
}

func TestZeroConfigIsALAN(t *testing.T) {
	b, err := Config{ID: 1}.Validate()
	require.NoError(t, err)
	want, err := LAN().Validate()
	require.NoError(t, err)
	require.Equal(t, want, b)
}

func TestValidateNamesWhatIsWrong(t *testing.T) { wrongSettings(t) }

func wrongSettings(t testing.TB) {
	bad := LAN()
	bad.LockTime = time.Millisecond
	exact := LAN()
	exact.MaxDrift = 0
	for want, c := range map[string]Config{
		"ID:":                        {},
		"Name:":                      {ID: 1, Name: strings.Repeat("x", 256)},
		"Group:":                     {ID: 1, Group: strings.Repeat("x", 256)},
		`Group: "a\nb" has`:          {ID: 1, Group: "a\nb"},
		`Listen: "nowhere" is not`:   {ID: 1, Listen: "nowhere"},
		`Listen: ":7000" is not a l`: {ID: 1, Listen: ":7000"},
		`Listen: "192.0.2.7:1" is n`: {ID: 1, Listen: "192.0.2.7:1"},
		"Timing.LockTime:":           {ID: 1, Timing: bad},
		"Timing.MaxDrift: no clock":  {ID: 1, Timing: exact},
		"Mode:":                      {ID: 1, Mode: 9},
		"RankBy:":                    {ID: 1, RankBy: 9},
		"MaxPeers:":                  {ID: 1, MaxPeers: 255},
		"MaxPacket:":                 {ID: 1, MaxPacket: 100},
		"CollateAbove:":              {ID: 1, CollateAbove: 4},
		"CollateFanout:":             {ID: 1, CollateAbove: 90, CollateFanout: 65},
		"EventBuffer:":               {ID: 1, EventBuffer: -1},
		"EventBuffer: 1048577 is":    {ID: 1, EventBuffer: 1<<20 + 1},
		"MaxPacket: 65001 is":        {ID: 1, MaxPacket: 65_001},
		"Join: 17 are more than 16":  {ID: 1, Join: make([]string, 17)},
		"Clock.MaxDeviation:":        {ID: 1, Clock: ClockConfig{MaxDeviation: -1}},
		"Clock.MaxSlew:":             {ID: 1, Clock: ClockConfig{MaxSlew: 1_000_001}},
		"Clock.StepThreshold:":       {ID: 1, Clock: ClockConfig{StepThreshold: -1}},
		`Peers[0] (node 2, "example.org:1"): "example.org:1" is not a loopback`:               {ID: 1, Peers: []Peer{{2, "example.org:1"}}},
		`Peers[1] (node 2, "localhost:2"): Peers[0] has the same id`:                          {ID: 1, Peers: []Peer{{2, "localhost:1"}, {2, "localhost:2"}}},
		`Peers[1] ("localhost:1"): Peers[0] has the same address`:                             {ID: 1, Peers: []Peer{{2, "localhost:1"}, {0, "localhost:1"}}},
		`Peers[0] ("localhost:0"): "localhost:0": nobody listens`:                             {ID: 1, Peers: []Peer{{0, "localhost:0"}}},
		`Peers[0] (":1"): ":1": the host is missing`:                                          {ID: 1, Peers: []Peer{{0, ":1"}}},
		`Peers[0] ("notlocalhost:1"): "notlocalhost:1" is not a loopback address`:             {ID: 1, Peers: []Peer{{0, "notlocalhost:1"}}},
		`"localhost:70000": the port is not`:                                                  {ID: 1, Peers: []Peer{{0, "localhost:70000"}}},
		`Peers[0] (node 1, "127.0.0.1:2"): this node has this id, and listens at 127.0.0.1:1`: {ID: 1, Listen: "127.0.0.1:1", Peers: []Peer{{1, "127.0.0.1:2"}}},
		`Peers[0] (node 1, "127.0.0.2:1"): this node has this id, and listens at 127.0.0.1:1`: {ID: 1, Listen: "127.0.0.1:1", Peers: []Peer{{1, "127.0.0.2:1"}}},
		"Peers: 2 are more than MaxPeers = 1":                                                 {ID: 1, MaxPeers: 1, Peers: []Peer{{2, "localhost:1"}, {3, "localhost:2"}}},
	} {
		_, err := c.Validate()
		require.ErrorContains(t, err, want)
		_, err = Start(t.Context(), c)
		require.ErrorContains(t, err, want)
	}
	_, err := Config{Listen: "x", Mode: 7}.Validate()
	for _, want := range []string{"ID:", "Listen:", "Mode:"} {
		require.ErrorContains(t, err, want, "all errors at once")
	}
	_, err = Config{ID: 1, Timing: Timing{MaxDrift: 1}, Broadcast: &BroadcastConfig{Window: 1, MaxPayload: -1}}.Validate()
	for line := range strings.Lines(err.Error()) {
		require.Regexp(t, "^(Timing|Broadcast)[.][A-Z]", line, "each line names the field with its struct")
	}
	_, err = Config{ID: 1, Insecure: true, Listen: ":7000", Peers: []Peer{{2, "example.org:7000"}, {1, "me.example.org:7000"}}}.Validate()
	require.NoError(t, err)
}

// Nothing of more than 65,000 bytes passes an interface, and only those that packets leave by count.
func TestAPacketLargerThanAnInterfaceTakesIsWarnedOf(t *testing.T) {
	all, err := net.Interfaces()
	require.NoError(t, err)
	narrow := slices.ContainsFunc(all, func(i net.Interface) bool {
		return i.Flags&net.FlagUp != 0 && i.Flags&net.FlagLoopback == 0 && i.MTU < 65_028
	})
	if !narrow {
		t.Skip("no interface besides loopback")
	}
	large := Config{ID: 1, MaxPacket: 65_000, Listen: "127.0.0.1:1"}
	require.Empty(t, large.Warnings())
	large.Listen, large.Insecure = ":1", true
	require.Regexp(t, `^MaxPacket: the interface .*, whose MTU is \d+, takes no packets of more than \d+ bytes: set `, large.Warnings()[0])
}

// many returns peers on this machine.
func many(n int) (peers []Peer) {
	for i := range n {
		peers = append(peers, Peer{NodeID(i + 2), fmt.Sprintf("127.0.0.1:%d", 7002+i)})
	}
	return peers
}

func TestWarnings(t *testing.T) {
	coarse := LAN()
	coarse.MaxDrift = 250_000
	coarser := coarse
	coarser.MaxDrift++
	shared := t.TempDir()
	require.NoError(t, os.Chmod(shared, 0o777))
	open := func(listen, own string) Config {
		return Config{ID: 1, Insecure: true, Listen: listen, Peers: []Peer{{2, "192.0.2.2:1"}, {1, own}}}
	}
	for _, c := range []struct {
		config Config
		want   string // empty: none
	}{
		{Config{ID: 1}, ""},
		{Config{ID: 1, Timing: coarse}, ""},
		{Config{ID: 1, Timing: coarser}, "by 2·MaxDrift = 500002 ppb, and are corrected by 500000 ppb at most"},
		{Config{ID: 1, Timing: coarser, Clock: ClockConfig{MaxSlew: 500_002}}, ""},
		{open("192.0.2.1:1", "192.0.2.1:1"), ""},
		{open(":1", "192.0.2.1:1"), ""},
		{open("0.0.0.0:1", "192.0.2.1:1"), ""},
		{open("192.0.2.1:0", "192.0.2.1:1"), ""},
		{open("192.0.2.1:1", "me.example.org:1"), ""},
		{open("192.0.2.1:1", "192.0.2.3:1"), "Peers[1]: this node, 1, is listed at 192.0.2.3:1 and listens at 192.0.2.1:1"},
		{open(":1", "192.0.2.1:2"), "Peers[1]: this node"},
		{open("192.0.2.1:1", "me.example.org:2"), "Peers[1]: this node"},
		{Config{ID: 1, StateDir: filepath.Join(shared, "none")}, ""},
		{Config{ID: 1, StateDir: shared}, "StateDir: " + shared + ": another user controls it: its mode 0777 lets others write"},
		{Config{ID: 1, Insecure: true, Peers: []Peer{{2, "127.0.0.1:7"}, {3, "there.example.org:1"}}, Join: []string{"[::1]:7"}}, ""},
		{Config{ID: 1, Insecure: true, Listen: ":1", Join: []string{"192.0.2.2:1"}}, ""},
		{Config{ID: 1, Insecure: true, Peers: []Peer{{2, "127.0.0.1:7"}, {3, "192.0.2.3:1"}}}, "Listen: the node listens at 127.0.0.1:0, the loopback interface, from which it cannot reach 192.0.2.3:1 of Peers"},
		{Config{ID: 1, Insecure: true, Join: []string{"there.example.org:1", "[2001:db8::7]:1"}}, "it cannot reach [2001:db8::7]:1 of Join"},
		{Config{ID: 1, Insecure: true, Listen: "[::1]:7", Join: []string{"192.0.2.2:1"}}, "Listen: the node listens at [::1]:7"},
		{Config{ID: 1, Listen: "[::1]:7", Peers: []Peer{{2, "[::1]:8"}, {3, "127.0.0.1:7"}}}, "Listen: the node listens at [::1]:7, from which it cannot reach 127.0.0.1:7 of Peers: both need addresses of IPv4, or both of IPv6"},
		{Config{ID: 1, Insecure: true, Listen: "192.0.2.1:7", Join: []string{"192.0.2.2:1", "[2001:db8::7]:1"}}, ""},
		{Config{ID: 1, Insecure: true, Listen: "[::]:7", Join: []string{"192.0.2.2:1"}}, ""},
		{Config{ID: 1, Peers: many(wire.Usual - 1)}, ""},
		{Config{ID: 1, Peers: many(wire.Usual)}, "MaxPacket: a view of 73 members may need packets of 2990 bytes"},
		{Config{ID: 1, Peers: many(wire.Usual), MaxPacket: 2990}, ""},
		{Config{ID: 1, Quorum: system(t, "majority:1,2,3")}, ""},
		{Config{ID: 1, Quorum: system(t, "majority:1,2,3"), Peers: []Peer{{3, "127.0.0.1:3"}}}, ""},
		{Config{ID: 1, Quorum: system(t, "majority:1,2,3"), Peers: []Peer{{0, "127.0.0.1:3"}}}, ""},
		{Config{ID: 1, Quorum: system(t, "majority:2,3")}, "Quorum: neither this node nor a listed peer is a member"},
		{Config{ID: 1, Quorum: system(t, "majority:1,2,3"), Peers: []Peer{{4, "127.0.0.1:4"}}}, "are no quorum of majority:1,2,3"},
	} {
		_, err := c.config.Validate()
		require.NoError(t, err)
		got := c.config.Warnings()
		if c.want == "" {
			require.Empty(t, got)
			continue
		}
		require.Len(t, got, 1)
		require.Contains(t, got[0], c.want)
	}
}

// A start that fails rules no later one, whatever it was configured with.
func TestAStartThatFailsLeavesNothing(t *testing.T) {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer c.Close()
	taken := c.LocalAddr().String()
	all, err := quorum.Parse("majority:1,2,3")
	require.NoError(t, err)
	one, err := quorum.Parse("majority:1")
	require.NoError(t, err)
	dir := t.TempDir()
	long := LAN()
	long.MaxLockTime = time.Hour
	for want, fail := range map[error]func(*Config){
		syscall.EADDRINUSE: func(c *Config) { c.Listen = taken },
		ErrServeTime:       func(c *Config) { c.NTP = &NTPConfig{Listen: taken} },
		fs.ErrNotExist:     func(c *Config) { c.KeyFile = filepath.Join(dir, "none") },
	} {
		cfg := Config{ID: 1, StateDir: dir, Timing: long, Quorum: all}
		fail(&cfg)
		_, err = Start(t.Context(), cfg)
		require.ErrorIs(t, err, want)
	}
	n, err := Start(t.Context(), Config{ID: 1, StateDir: dir, Quorum: one})
	require.NoError(t, err)
	defer n.Close()
	require.Equal(t, one.String(), n.Epoch().System)
	require.EqualValues(t, 1, n.state.Incarnation())
	require.Equal(t, LAN().MaxLockTime, n.state.Earlier())
}

func TestStateDirectory(t *testing.T) {
	dir := t.TempDir()
	long := Local()
	long.MaxLockTime = 200 * time.Millisecond
	n := startNode(t, Config{ID: 1, StateDir: dir, Timing: long})
	_, err := Start(t.Context(), Config{ID: 1, StateDir: dir})
	require.ErrorIs(t, err, ErrInUse)
	other := startNode(t, Config{ID: 2, StateDir: dir})
	require.NoError(t, other.Close())
	require.NoError(t, n.Close())

	path := filepath.Join(dir, "node-1.state")
	read := func() string {
		b, err := durable.Read(path, durable.Kind{Name: "node-state", Version: 5})
		require.NoError(t, err)
		votes, _, _ := strings.Cut(string(b), " views ")
		return votes
	}
	text := func(incarnations int, maxLock time.Duration) string {
		return fmt.Sprintf("node 1 incarnations %d maxlock %d epoch false", incarnations, maxLock.Nanoseconds())
	}
	require.Equal(t, text(1, long.MaxLockTime), read())

	// The next run waits for the longer votes of this one, and forgets them then.
	begin := time.Now()
	n = startNode(t, Config{ID: 1, StateDir: dir})
	waitElected(t, n)
	require.GreaterOrEqual(t, time.Since(begin), 199*time.Millisecond)
	eventually(t, "forgotten", func() bool { return read() == text(2, Local().MaxLockTime) })
	require.NoError(t, n.Close())

	require.NoError(t, os.WriteFile(path, []byte("junk"), 0o600))
	_, err = Start(t.Context(), Config{ID: 1, StateDir: dir})
	require.ErrorIs(t, err, ErrDamaged)
	require.ErrorContains(t, err, path)
}

// digestOf returns the digest of a group.
func digestOf(name string, b *BroadcastConfig, q quorum.System) uint64 {
	c := Config{Group: name, Broadcast: b, Quorum: q}
	return c.groupDigest()
}

// Nodes that could not commit a view together are in different groups.
func TestBroadcastSettingsTellGroupsApart(t *testing.T) { groupsApart(t) }

func groupsApart(t testing.TB) {
	base := (&BroadcastConfig{}).withDefaults(1200)
	two, three := majorityOf(t, 1, 2), majorityOf(t, 1, 2, 3)
	of := func(change func(*BroadcastConfig)) uint64 {
		c := *base
		change(&c)
		return digestOf("g", &c, three)
	}
	same := of(func(c *BroadcastConfig) { c.Backlog, c.PacketBytes, c.SendOnly = 1<<20, 500, true })
	require.Equal(t, digestOf("g", base, nil), same, "these are each node's own")
	seen := map[uint64]bool{digestOf("g", nil, nil): true, digestOf("h", base, nil): true, same: true}
	quorate := *base
	quorate.RequireQuorum = true
	seen[digestOf("g", &quorate, two)] = true
	dir := Config{Group: "g", MaxPacket: 1200, Broadcast: &quorate, StateDir: "a", Quorum: two}
	seen[dir.groupDigest()] = true
	dir.Quorum, dir.StateDir = three, "b"
	require.True(t, seen[dir.groupDigest()], "they tell each other which quorums count")
	for _, change := range []func(*BroadcastConfig){
		func(c *BroadcastConfig) { c.Window *= 2 }, func(c *BroadcastConfig) { c.MaxMessages *= 2 },
		func(c *BroadcastConfig) { c.MaxPayload *= 2 }, func(c *BroadcastConfig) { c.RequireQuorum = true },
	} {
		d := of(change)
		require.False(t, seen[d])
		seen[d] = true
	}
}

// An address of IPv4 in the form of IPv6 is that address.
func TestAddressesInTheFormOfIPv6(t *testing.T) {
	for _, c := range []Config{
		{ID: 1, Listen: "127.0.0.1:7001", Peers: []Peer{{1, "[::ffff:127.0.0.1]:7001"}}},
		{ID: 1, Listen: "[::ffff:192.0.2.1]:7001", Insecure: true, Join: []string{"multicast"}},
	} {
		_, err := c.Validate()
		require.NoError(t, err)
	}
}

// An error about one field, which joins no others, is an error of the configuration too.
func TestOneFaultIsAFault(t *testing.T) {
	var all faults
	one, two := errors.New("broadcast: One: wrong"), errors.New("Two: wrong")
	for _, err := range []error{nil, one, errors.Join(one, errors.Join(two))} {
		all.addFields("Struct.", err)
	}
	require.EqualError(t, errors.Join(all...), "Struct.One: wrong\nStruct.One: wrong\nStruct.Two: wrong")
}
