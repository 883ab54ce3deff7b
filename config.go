package failaware

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// Config says what a node is to be. Only ID is needed; every other zero value
// is sensible.
type Config struct {
	// ID is this node's id, 1 to 255. Everything rests on ids being unique in
	// the group; [Config.StateDir] guards against the commonest mistake.
	ID NodeID
	// Name is a label for people; empty means "node-ID".
	Name string
	// Group is the name of the group; packets of other groups are dropped.
	// Empty means "default".
	Group string
	// Listen is the local UDP address, as in "192.0.2.7:7000" or ":7000". Port 0
	// lets the system choose. Empty means "127.0.0.1:0".
	Listen string
	// Peers are the nodes that this one looks for. An entry with this node's
	// own id is ignored, so all nodes can have the same list. Nodes that are not
	// listed, but list this one, are learnt from their packets.
	Peers []Peer
	// Transport carries the packets in place of UDP sockets; nil means sockets.
	// It is for tests in memory: see [Transport].
	Transport Transport
	// MaxPeers limits how many peers there can be, learnt ones included. Zero
	// means 254, as many as there are ids.
	MaxPeers int

	// Timing holds the constants of the model; zero means [LAN]. MaxDrift and
	// FastThreshold must be the same at every node. Without a StateDir,
	// MaxLockTime must never be lowered between runs.
	Timing Timing
	// Mode chooses between [Available] and [Strict] elections.
	Mode Mode
	// RankBy chooses which candidate wins: [Stable] or [ByID].
	RankBy RankBy
	// Weight makes this node preferred as leader over those of lower weight.
	Weight uint16
	// CollateAbove is the size of the alive group, this node included, above which
	// replies to this node's requests are collated along a tree, which spares a
	// leader of a large group most of the packets that it would receive: from
	// CollateFanout + 1 to 254. Zero means never. Only the settings of the node
	// that leads matter, so nodes may differ.
	CollateAbove int
	// CollateFanout is how many nodes each node of that tree answers for
	// directly, 2 to 64. Zero means 4.
	CollateFanout int
	// Quorum, if not nil, says whose votes make a leader a global one: at most one
	// in the group leads globally ([Node.LeadsGlobally]), and other parts of a split
	// group keep their local leaders. It must be the same at every node; nodes that
	// differ do not vote for each other, and say so ([OtherQuorum]). Mode [Strict]
	// does not keep BI then. With a StateDir, [Node.Timestamp] tells the starts of
	// this node apart, and quorum systems can be replaced ([Node.ChangeQuorum]): from
	// the first start on the state directory says which is in use, and Quorum is not
	// looked at ([QuorumChange] tells if it differs).
	Quorum quorum.System
	// JoinQuorum tells that this node is new in a group that has a quorum system: it
	// begins without one, and learns that in use from the others. It needs a
	// StateDir, and no Quorum. Once the state directory knows an epoch it has no
	// effect.
	JoinQuorum bool
	// QuorumEpoch numbers the quorum systems that the group has had; zero means 1.
	// It must be the same at every node.
	QuorumEpoch uint64
	// Clock configures the synchronized clock.
	Clock ClockConfig
	// References are the external references of UTC that this node asks, at most
	// [reference.MaxConfigs]. One node with references brings all of its partition to
	// UTC. A node with a Transport can have none.
	References []Reference

	// NTP has the node answer NTP clients, and ClockBound has it keep a shared-memory
	// segment up to date; nil leaves them off. They tell other programs the node's
	// UTC while its readings are External, and else that it does not know.
	NTP        *NTPConfig
	ClockBound *ClockBoundConfig

	// StateDir is a directory for what must outlive the process: the longest
	// time for which this node may have voted, how many incarnations it has had,
	// and a lock against a second process with the same id. Several nodes may
	// share a directory. Empty means
	// that nothing is kept.
	StateDir string
	// Logger gets what people may want to read; nil means no log.
	Logger hclog.Logger
	// EventBuffer is how many events are kept for [Node.Events] and
	// [Node.EventsSince]; zero means 1024.
	EventBuffer int
	// MaxPacket is the size in bytes of the largest packet, 1200 to 65,000. Zero
	// means 1200, enough for views of some 50 members at least. It must be the
	// same everywhere, and the network must carry such packets unfragmented.
	MaxPacket int
	// Broadcast turns the atomic broadcast on; nil leaves it off. It must be on in
	// all nodes of a group, or in none.
	Broadcast *BroadcastConfig
	// Insecure allows addresses other than loopback although packets are
	// neither authenticated nor secret: everybody who can send to this node can
	// then pretend to be any node of the group.
	Insecure bool
	// RaiseProcs sets GOMAXPROCS to twice the number of cores, for the whole
	// process, unless it is already that high: goroutines that compute all the
	// time then delay this node by 0.1 to 0.2 ms instead of 10 to 20 ms.
	RaiseProcs bool
	// Awake keeps all idle processors of this machine from sleeping while the node
	// runs, so that what a packet wakes up runs sooner: in half the time on a virtual
	// machine. They use power all the time then, and on a shared host the time of
	// others. It needs Linux, and write access to /dev/cpu_dma_latency, which root has
	// and a udev rule can give; without, [Start] fails ([ErrAwake]).
	Awake bool
	// OnPublish is for tests and audits. It is called with every state that
	// answers are given from, when that has replaced the previous one and before
	// any other node can hear of it. It is called by the node's loop, or a caller of
	// Broadcast in its place, which it holds up, and must not call the node, nor
	// wait for anything that such a caller may hold. There is one call at a time.
	OnPublish func(Published)
}

// Peer is another node of the group.
type Peer struct {
	// ID is the node's id; zero when it is to be learnt from the node.
	ID NodeID
	// Addr is "host:port", where host is an address or a name. Names are
	// resolved again from time to time, and when the peer is silent. It may be
	// empty where a [Transport] finds nodes by their ids.
	Addr string
}

// ClockConfig configures the synchronized clock.
type ClockConfig struct {
	// MaxDeviation is the deviation from group time up to which a reading
	// counts as synchronized. Zero means 1 ms.
	MaxDeviation time.Duration
	// MaxSlew is how fast the clock is corrected, in parts per billion. Zero
	// means 500,000 and the most is 1,000,000. It should be the same everywhere:
	// a node does not follow a leader whose clock runs off faster than its own
	// MaxSlew.
	MaxSlew int64
	// StepThreshold is the difference above which a change of leader steps the
	// clock instead of slewing it. Zero means 10 ms.
	StepThreshold time.Duration
	// MaxUTCError is the proven distance from UTC up to which a reading is
	// [External]. Zero means 50 ms.
	MaxUTCError time.Duration
	// MinReferences is how many references, at all nodes of a partition together, are
	// needed before any is believed. With 2f+1, f that lie change nothing in any
	// partition. Zero means 1. It should be the same everywhere.
	MinReferences int
}

// Defaults of the configuration.
const (
	DefaultGroup       = "default"
	DefaultListen      = "127.0.0.1:0"
	DefaultEventBuffer = 1024
	DefaultMaxPeers    = timed.MaxNodes - 1
	// DefaultCollateFanout gives 128 nodes a tree of four levels.
	DefaultCollateFanout = 4

	maxEventBuffer = 1 << 20
	maxName        = 255
	maxMaxPacket   = 65_000
)

// WithDefaults returns the configuration with its zero values replaced by what
// they mean.
func (c Config) WithDefaults() Config {
	if c.Name == "" {
		c.Name = fmt.Sprintf("node-%v", c.ID)
	}
	if c.Group == "" {
		c.Group = DefaultGroup
	}
	if c.Listen == "" && c.Transport == nil {
		c.Listen = DefaultListen
	}
	c.Peers = c.withPeerAddrs(c.Peers)
	if c.MaxPeers == 0 {
		c.MaxPeers = DefaultMaxPeers
	}
	if c.Timing == (Timing{}) {
		c.Timing = LAN()
	}
	if c.CollateFanout == 0 {
		c.CollateFanout = DefaultCollateFanout
	}
	if c.Quorum != nil && c.QuorumEpoch == 0 {
		c.QuorumEpoch = 1
	}
	if c.Clock.MaxDeviation == 0 {
		c.Clock.MaxDeviation = clocksync.DefaultMaxDeviation
	}
	if c.Clock.MaxSlew == 0 {
		c.Clock.MaxSlew = clocksync.DefaultMaxSlew
	}
	if c.Clock.StepThreshold == 0 {
		c.Clock.StepThreshold = clocksync.DefaultStepThreshold
	}
	if c.Clock.MaxUTCError == 0 {
		c.Clock.MaxUTCError = clocksync.DefaultMaxUTCError
	}
	if c.Clock.MinReferences == 0 {
		c.Clock.MinReferences = clocksync.DefaultMinReferences
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	if c.MaxPacket == 0 {
		c.MaxPacket = datagram.MaxPacket
	}
	if c.EventBuffer == 0 {
		c.EventBuffer = DefaultEventBuffer
	}
	if c.Broadcast != nil {
		c.Broadcast = c.Broadcast.withDefaults(c.MaxPacket)
	}
	return c
}

// Validate returns the bounds that the settings guarantee. Its error joins one
// error for every setting that is wrong, named as its field, or the peer. It
// looks up no names and touches no files.
func (c Config) Validate() (Bounds, error) {
	c = c.WithDefaults()
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !c.ID.Valid() {
		bad("ID: a node id from 1 to %d is needed", timed.MaxNodes)
	}
	if len(c.Name) > maxName {
		bad("Name: %d bytes are more than %d", len(c.Name), maxName)
	}
	if len(c.Group) > maxName {
		bad("Group: %d bytes are more than %d", len(c.Group), maxName)
	}
	if err := c.checkListen(); err != nil {
		bad("Listen: %w", err)
	}
	errs = append(errs, c.checkPeers(c.Peers)...)
	bounds, err := c.Timing.Validate()
	if err != nil {
		bad("Timing: %w", err)
	}
	if c.Mode > leader.Strict {
		bad("Mode: %d is neither Available nor Strict", c.Mode)
	}
	if c.RankBy > leader.ByID {
		bad("RankBy: %d is neither Stable nor ByID", c.RankBy)
	}
	if err := c.collation().Validate(); err != nil {
		errs = append(errs, err)
	}
	if c.Quorum == nil && c.QuorumEpoch != 0 {
		bad("QuorumEpoch: %d without a Quorum", c.QuorumEpoch)
	}
	if c.JoinQuorum && (c.Quorum != nil || c.StateDir == "") {
		bad("JoinQuorum: needs a StateDir, and no Quorum")
	}
	errs = append(errs, c.Clock.check()...)
	errs = append(errs, c.checkOutputs()...)
	errs = append(errs, c.checkReferences()...)
	if c.EventBuffer < 1 || c.EventBuffer > maxEventBuffer {
		bad("EventBuffer: %d is outside [1, %d]", c.EventBuffer, maxEventBuffer)
	}
	if c.MaxPacket < datagram.MaxPacket || c.MaxPacket > maxMaxPacket {
		bad("MaxPacket: %d is outside [%d, %d]", c.MaxPacket, datagram.MaxPacket, maxMaxPacket)
	}
	if c.Broadcast != nil {
		errs = append(errs, c.Broadcast.check()...)
	}
	if len(errs) > 0 {
		return Bounds{}, errors.Join(errs...)
	}
	return bounds, nil
}

// checkListen checks the local address. A transport chooses it if it is empty.
func (c *Config) checkListen() error {
	if c.Transport == nil {
		return checkAddr(c.Listen, true, c.Insecure)
	}
	if c.Listen == "" {
		return nil
	}
	if err := checkLiteral(c.Listen); err != nil {
		return err
	}
	return checkAddr(c.Listen, false, c.Insecure)
}

// checkPeer checks where a peer is to be found.
func (c *Config) checkPeer(p Peer) error {
	if c.Transport != nil {
		if p.Addr == "" {
			return errors.New("an id from 1 to 255 or an address is needed")
		}
		if err := checkLiteral(p.Addr); err != nil {
			return err
		}
	}
	return checkAddr(p.Addr, false, c.Insecure)
}

// checkPeers returns what is wrong with a list of peers for this node.
func (c Config) checkPeers(peers []Peer) (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.MaxPeers < 1 || c.MaxPeers > DefaultMaxPeers {
		bad("MaxPeers: %d is outside [1, %d]", c.MaxPeers, DefaultMaxPeers)
	}
	others := 0
	ids, addrs := map[NodeID]int{}, map[string]int{}
	for i, p := range peers {
		name := fmt.Sprintf("Peers[%d] (node %v, %q)", i, p.ID, p.Addr)
		if p.ID == NoNode {
			name = fmt.Sprintf("Peers[%d] (%q)", i, p.Addr)
		}
		if err := c.checkPeer(p); err != nil {
			bad("%s: %w", name, err)
		}
		if j, again := ids[p.ID]; again && p.ID != NoNode {
			bad("%s: Peers[%d] has the same id", name, j)
		}
		if j, again := addrs[p.Addr]; again {
			bad("%s: Peers[%d] has the same address", name, j)
		}
		ids[p.ID], addrs[p.Addr] = i, i
		if p.ID != c.ID {
			others++
		}
	}
	if others > c.MaxPeers {
		bad("Peers: %d are more than MaxPeers = %d", others, c.MaxPeers)
	}
	return errs
}

// collation returns when and how replies are collated.
func (c *Config) collation() leader.Collation {
	return leader.Collation{Above: c.CollateAbove, Fanout: c.CollateFanout}
}

func (c ClockConfig) check() (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.MaxDeviation < 0 || c.MaxDeviation > timed.MaxDuration {
		bad("Clock.MaxDeviation: %v is outside (0, %v]", c.MaxDeviation, timed.MaxDuration)
	}
	if c.MaxSlew < 0 || c.MaxSlew > clocksync.MaxSlewLimit {
		bad("Clock.MaxSlew: %d ppb is outside (0, %d]", c.MaxSlew, clocksync.MaxSlewLimit)
	}
	if c.StepThreshold < 0 || c.StepThreshold > timed.MaxDuration {
		bad("Clock.StepThreshold: %v is outside (0, %v]", c.StepThreshold, timed.MaxDuration)
	}
	if c.MaxUTCError < 0 || c.MaxUTCError > timed.MaxDuration {
		bad("Clock.MaxUTCError: %v is outside (0, %v]", c.MaxUTCError, timed.MaxDuration)
	}
	if c.MinReferences < 1 || c.MinReferences > clocksync.MaxReferences {
		bad("Clock.MinReferences: %d is outside [1, %d]", c.MinReferences, clocksync.MaxReferences)
	}
	return errs
}

// groupDigest is what stands for the group in packets: its name, and what must be
// the same of the broadcast at all nodes. One that has no broadcast, or can take
// less than the others send, would keep their views from ever being committed; so
// it is in a group of its own.
func groupDigest(name string, b *BroadcastConfig) uint64 {
	h := sha256.New()
	fmt.Fprintf(h, "failaware group\x00%s", name)
	if b != nil {
		fmt.Fprintf(h, "\x00broadcast %d %d %d %v", b.Window, b.MaxMessages, b.MaxPayload, idSet(b.RequireQuorum))
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// idSet returns ids as a set, in which their order does not matter.
func idSet(ids []NodeID) (s Set) {
	for _, id := range ids {
		s.Add(id)
	}
	return s
}
