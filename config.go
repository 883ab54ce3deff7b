package failaware

import (
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// Config configures a node. Only ID is needed, or a StateDir; every other zero value
// is sensible. As JSON it is for people: what is no plain value is left out, and a Quorum is its
// text, which package leader/quorum reads.
type Config struct {
	// ID is this node's id, 1 to 255. Every promise rests on ids being unique in the
	// group; [Config.StateDir] guards against the commonest mistake.
	//
	// A node without an ID chooses one that the members do not know, and keeps it in
	// StateDir, which it needs for itself alone. It must have no Quorum. [Start] then returns
	// when the members have not refused the id for 2·Expires, or when no node has answered
	// for 10·Expires.
	ID NodeID
	// Name is a label for people, of up to 128 bytes; empty means "node-ID". All nodes of
	// the group know it, and nothing rests on it.
	Name string
	// Tags are words for people and programs, such as zone=eu-1, which all nodes of the
	// group know. There are at most 16, with keys of up to 32 bytes, values of up to 128, and 480
	// bytes together with the name.
	Tags map[string]string
	// Group is the name of the group; nodes of other groups are ignored, and named in an
	// event.Mismatch. Empty means "default".
	Group string
	// FormerGroup is the name that the group had before it was renamed; empty means that it
	// was not. A node whose StateDir, or whose Storage of package replicate, names that group goes
	// on with it, and names Group from then on. Nodes of the two names are of two groups.
	FormerGroup string
	// Listen is the local UDP address, as in "192.0.2.7:7000" or ":7000". Port 0 lets
	// the system choose. Empty means "127.0.0.1:0".
	Listen string
	// Peers are the nodes that this one looks for. An entry with this node's own id is
	// ignored, so all nodes can have the same list; it must not name another address
	// than Listen. One node of the group is enough: members introduce each other, and a
	// node that lists this one is learnt from its packets.
	Peers []Peer
	// Join says where a node that knows no members may find some. An entry is
	//
	//	"HOST:PORT"      an address, or all addresses of a name
	//	"srv:NAME"       the targets of a service of the DNS
	//	"file:PATH"      a file with HOST:PORT in each line; it is read again when it changes
	//	"multicast"      a multicast group on the local network, or
	//	"multicast:GROUP:PORT"  another one
	//
	// An entry leads to candidates, which the node does not trust as it trusts Peers. A
	// candidate gets two small packets now and then, until it has shown that it receives.
	// Names are looked up again while the node hears nobody, and every minute. An entry
	// that leads to this node does no harm, so all nodes can have the same list. At most 16
	// entries and 64 addresses count.
	Join []string
	// Transport carries the packets in place of UDP sockets; nil means sockets. It is
	// for tests in memory: see [Transport].
	Transport Transport `json:"-"`
	// MaxPeers limits the number of peers, learnt ones included. Zero means 254, the
	// number of other ids.
	MaxPeers int

	// Timing holds the constants of the model; zero means [LAN]. MaxDrift and
	// FastThreshold must be the same at every node. Without a StateDir, MaxLockTime must
	// never be lowered between runs.
	Timing Timing
	// Mode chooses between [Available] and [Strict] elections.
	Mode Mode
	// RankBy chooses which candidate wins: [Stable] or [ByID].
	RankBy RankBy
	// Weight makes this node preferred as leader over nodes of lower weight.
	Weight uint16
	// CollateAbove is the size of the alive group, this node included, above which
	// replies to this node's requests are collated along a tree. That spares the leader
	// of a large group most of the packets that it would receive. It is at least
	// CollateFanout + 1 and at most 254. Zero means never. Only the settings of the node
	// that leads matter, so nodes may differ.
	CollateAbove int
	// CollateFanout is how many nodes each node of that tree answers for directly, 2 to
	// 64. Zero means 4.
	CollateFanout int
	// Quorum, if not nil, says whose votes make a leader a global one. At most one node
	// of the group leads globally ([Node.LeadsGlobally]); other parts of a split group
	// keep their local leaders. Quorum must be the same at every node: nodes that differ
	// do not vote for each other, and say so (event.OtherQuorum). Each part then leads globally
	// by its own system. With it, mode [Strict] does
	// not keep the property BI of package leader.
	//
	// With a StateDir, [Node.Timestamp] tells the starts of this node apart, and the
	// quorum system can be replaced ([Node.ChangeQuorum]). From the first start on, the
	// state directory says which system is in use, and Quorum has no effect
	// (event.QuorumChange reports a difference).
	Quorum quorum.System
	// JoinQuorum says that this node is new in a group that has a quorum system: it
	// begins without one, and learns from the others which one is in use. It needs a
	// StateDir, and no Quorum. It has no effect once the state directory knows an epoch.
	JoinQuorum bool
	// QuorumEpoch numbers the quorum systems that the group has had; zero means 1. It
	// must be the same at every node.
	QuorumEpoch uint64
	// Clock configures the synchronized clock.
	Clock ClockConfig
	// References are the external references of UTC that this node asks, at most
	// [reference.MaxConfigs]. One node with references brings all of its partition to
	// UTC. A node with a Transport can have none.
	References []Reference

	// NTP makes the node answer NTP clients, and ClockBound makes it keep a shared-memory
	// segment up to date; nil leaves them off. Both tell other programs the node's UTC
	// while its readings are External, and otherwise that it does not know UTC.
	NTP        *NTPConfig
	ClockBound *ClockBoundConfig

	// StateDir is a directory for the state that must outlive the process: the longest time
	// for which this node may have voted, how many incarnations it has had, the sequences
	// of its views, and a lock against a second process with the same id. It also has the
	// addresses of some members, so that the next process finds the group even if the nodes
	// of Peers and Join are gone. Nodes may share a directory if their ids differ. A node
	// whose state is damaged or in part lost does not start ([ErrDamaged]), nor does one whose
	// state is of another Group ([ErrGroup]). Empty means that nothing is kept. [Start] makes
	// paths absolute.
	StateDir string
	// Logger or LogHandler gets messages for people, mostly events. At most one of the two
	// is given. Both nil mean no log.
	Logger     hclog.Logger `json:"-"`
	LogHandler slog.Handler `json:"-"`
	// EventBuffer is how many events are kept for [Node.Events] and [Node.EventsSince];
	// zero means 1024.
	EventBuffer int
	// MaxPacket is the size of the largest packet in bytes, 1200 to 65,000. Zero means
	// 1200, usually enough for views of 72 members. A group of n may need 654 + 32·n: a
	// view that does not fit does not form. MaxPacket must be the same everywhere, and the
	// network must carry such packets unfragmented.
	MaxPacket int
	// Broadcast turns the atomic broadcast on; nil leaves it off. It must be on in all
	// nodes of a group, or in none.
	Broadcast *BroadcastConfig
	// KeyFile is a file with the keys of the group, which `failaware keygen` makes. All
	// packets are then sealed with one of these keys, and the node ignores others. Only the
	// user of the process, or root, may be able to read or change the file. See
	// [Node.ReloadKeys]. Empty means that packets are not sealed, and that only loopback
	// addresses may be used.
	KeyFile string
	// Insecure allows addresses other than loopback without a KeyFile, although packets
	// are then neither authenticated nor secret: anybody who can send to this node can
	// pretend to be any node of the group. It has no effect on packets with a KeyFile.
	Insecure bool
	// RaiseProcs sets GOMAXPROCS to twice the number of cores, for the whole process,
	// unless it is already that high. Goroutines that compute all the time then delay
	// this node by 0.1 to 0.2 ms instead of 10 to 20 ms.
	RaiseProcs bool
	// Awake keeps all idle processors of this machine from sleeping while the node
	// runs, so that goroutines woken by packets run sooner: in half the time on a virtual
	// machine. The processors use power all the time then, and on a shared host the time
	// of others. Awake needs Linux, and write access to /dev/cpu_dma_latency, which root
	// has and a udev rule can give; without it, [Start] fails ([ErrAwake]).
	Awake bool
	// OnPublish is for tests and audits. It is called with each state that answers rest
	// on: after the state has replaced the previous one, and before any other node can hear
	// of it. The node's loop calls it, or a caller of Broadcast in its place, and waits. So it
	// must not call the node, nor wait for anything that such a caller may hold. There is one
	// call at a time.
	OnPublish func(Published) `json:"-"`
}

// Peer is another node of the group.
type Peer struct {
	// ID is the node's id; zero when it is to be learnt from the node.
	ID NodeID
	// Addr is "host:port", where host is an address or a name. Names are looked up again
	// from time to time, and when the peer is silent. Addr may be empty if a [Transport]
	// finds nodes by their ids.
	Addr string
}

// ClockConfig configures the synchronized clock.
type ClockConfig struct {
	// MaxDeviation is the deviation from group time up to which a reading counts as
	// synchronized. Zero means 1 ms.
	MaxDeviation time.Duration
	// MaxSlew is how fast the clock is corrected, in parts per billion. Zero means
	// 500,000, and the most is 1,000,000. It should be the same everywhere: a node falls
	// behind a leader whose clock runs off nearly as fast as its own MaxSlew, or faster. Below
	// twice Timing.MaxDrift, deviations can grow without end, and Warnings says so.
	MaxSlew int64
	// StepThreshold is the difference above which a change of leader steps the clock
	// instead of slewing it. Zero means 10 ms.
	StepThreshold time.Duration
	// MaxUTCError is the proven distance from UTC up to which a reading is [External].
	// Zero means 50 ms.
	MaxUTCError time.Duration
	// MinReferences is how many references, at all nodes of a partition together, are
	// needed before any is believed. With 2f+1, f wrong ones change nothing in any
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
)

// WithDefaults returns the configuration with its zero values replaced by the
// defaults.
func (c Config) WithDefaults() Config {
	if c.Name == "" {
		c.Name = defaultName(c.ID)
	}
	orDefault(&c.Group, DefaultGroup)
	if c.Transport == nil {
		orDefault(&c.Listen, DefaultListen)
	}
	c.Peers = c.withPeerAddrs(c.Peers)
	orDefault(&c.MaxPeers, DefaultMaxPeers)
	orDefault(&c.Timing, LAN())
	orDefault(&c.CollateFanout, DefaultCollateFanout)
	if c.Quorum != nil {
		orDefault(&c.QuorumEpoch, 1)
	}
	c.Clock = c.Clock.withDefaults()
	orDefault(&c.MaxPacket, wire.MaxPacket)
	orDefault(&c.EventBuffer, DefaultEventBuffer)
	if c.Broadcast != nil {
		c.Broadcast = c.Broadcast.withDefaults(c.MaxPacket)
	}
	return c
}

// clone returns a copy that shares no map, no slice and no setting with c that a caller can
// change.
func (c Config) clone() Config {
	c.Tags = maps.Clone(c.Tags)
	c.Peers, c.Join, c.References = slices.Clone(c.Peers), slices.Clone(c.Join), slices.Clone(c.References)
	c.Broadcast, c.NTP, c.ClockBound = copyOf(c.Broadcast), copyOf(c.NTP), copyOf(c.ClockBound)
	return c
}

func copyOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

func (c ClockConfig) withDefaults() ClockConfig {
	orDefault(&c.MaxDeviation, clocksync.DefaultMaxDeviation)
	orDefault(&c.MaxSlew, clocksync.DefaultMaxSlew)
	orDefault(&c.StepThreshold, clocksync.DefaultStepThreshold)
	orDefault(&c.MaxUTCError, clocksync.DefaultMaxUTCError)
	orDefault(&c.MinReferences, clocksync.DefaultMinReferences)
	return c
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// BroadcastConfig configures the atomic broadcast. Zero values stand for the defaults.
// Either all nodes of a group have it or none: a node without it keeps the others from
// agreeing on views. All fields but PacketBytes, Backlog, SlowAfter, CheckLent and SendOnly
// must be the same at all nodes.
type BroadcastConfig struct {
	// Window limits the bytes of messages in a view that are not known to be at all
	// members, 4 KiB to 1 GiB. Each message counts 64 bytes more than its payload. The
	// members share the window equally. Zero means 4 MiB.
	Window int
	// MaxMessages limits the number of such messages of one sender: one limit for
	// [Unordered] messages, and the same again for all others. Each fragment of a larger
	// message counts. It is at most 1,048,576. Zero means 16,384.
	MaxMessages int
	// MaxPayload is the largest payload in bytes, up to 64 MiB. Zero means 1 MiB. Commands of
	// package replicate are a few bytes smaller.
	MaxPayload int
	// PacketBytes limits the bytes of messages in a packet, 256 to 60,000. Larger payloads
	// travel in fragments. Zero means as many as fit into packets of [Config.MaxPacket]
	// bytes. More is faster if the network takes such packets, as loopback does.
	PacketBytes int
	// Backlog is how many bytes of deliveries may wait for [Node.Receive], up to 1 GiB. Each
	// delivery counts 64 bytes more than its payload. Beyond the Backlog, this node stops its
	// acknowledgements, so at most the Backlog and a window wait. Zero means 16 MiB.
	Backlog int
	// SlowAfter is how long deliveries may exceed the Backlog before event.SlowConsumer
	// reports it. After twice as long, the incarnation ends (event.Overrun), and the group
	// goes on without this node. The next incarnation begins when half of the Backlog has
	// been taken. Zero means 1 s.
	SlowAfter time.Duration
	// RequireQuorum orders messages only in views that hold a quorum, so that there is one
	// order in the whole group. Unordered messages go on in every view. It needs
	// [Config.Quorum] or [Config.JoinQuorum]. The quorum system can be replaced
	// ([Node.ChangeQuorum]) if there are a StateDir and a replicated state (package
	// replicate). The node then begins another incarnation (event.NewEpoch).
	RequireQuorum bool
	// CheckLent is for tests. A call of [Node.Receive] or [Node.Deliveries] then panics, and
	// names the message, if the application has written to a payload that it had borrowed.
	// Each payload is read twice more. Package sim/memory turns CheckLent on.
	CheckLent bool
	// SendOnly says that this node's application does not want the deliveries. They are
	// dropped, and [Node.Receive] fails. Outcomes are known all the same.
	SendOnly bool
}

// packetOverhead is the room that a packet needs besides the messages in it: for
// headers, the sender's state, a decision. It errs on the large side.
const packetOverhead = 250

// packetBytes returns how many bytes of messages fit into packets of a size.
func packetBytes(maxPacket int) int { return min(maxPacket-packetOverhead, broadcast.MaxPacketBytes) }

// withDefaults returns a copy with zero values replaced by the defaults.
func (b *BroadcastConfig) withDefaults(maxPacket int) *BroadcastConfig {
	c := *b
	orDefault(&c.PacketBytes, packetBytes(maxPacket))
	m := c.machine(nil).WithDefaults()
	c.Window, c.MaxMessages, c.MaxPayload, c.Backlog, c.SlowAfter = m.Window, m.MaxMessages, m.MaxPayload, m.Backlog, m.SlowAfter
	return &c
}

// machine returns the configuration of the machine of a group with a quorum system.
func (b *BroadcastConfig) machine(q quorum.System) broadcast.Config {
	m := broadcast.Config{Window: b.Window, MaxMessages: b.MaxMessages, MaxPayload: b.MaxPayload,
		PacketBytes: b.PacketBytes, Backlog: b.Backlog, SlowAfter: b.SlowAfter}
	if b.RequireQuorum {
		m.Quorum = q
	}
	return m
}

// withPeerAddrs returns a list of peers with the addresses that the transport
// gives to ids.
func (c *Config) withPeerAddrs(peers []Peer) []Peer {
	if c.Transport == nil || peers == nil {
		return peers
	}
	full := make([]Peer, len(peers))
	for i, p := range peers {
		if p.Addr == "" && p.ID.Valid() {
			p.Addr = c.Transport.Address(p.ID).String()
		}
		full[i] = p
	}
	return full
}

// earlierNodes returns the nodes that were started on the transport before.
func (c *Config) earlierNodes() []Peer {
	var peers []Peer
	for id := range c.Transport.Nodes().All() {
		if id != c.ID && len(peers) < c.MaxPeers {
			peers = append(peers, Peer{ID: id})
		}
	}
	return c.withPeerAddrs(peers)
}
