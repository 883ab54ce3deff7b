package failaware

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/clocksync/reference"
	"github.com/failaware/failaware/internal/transport"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// The vocabulary of the layers, so that most programs need to import this
// package only.
type (
	// NodeID names a node of a group: 1 to 255.
	NodeID = timed.NodeID
	// BootID names one incarnation of a node.
	BootID = timed.BootID
	// Incarnation is one start of one node.
	Incarnation = timed.Incarnation
	// Instant is a reading of a node's hardware clock, in nanoseconds since an origin of
	// that clock. Those of two machines do not compare.
	Instant = timed.Instant
	// Set is a set of node ids.
	Set = timed.Set
	// Timing holds the constants of the timed asynchronous model.
	Timing = timed.Timing
	// Bounds are the times that a Timing guarantees.
	Bounds = timed.Bounds
	// View is an agreed group.
	View = membership.View
	// ViewID names a view.
	ViewID = membership.ViewID
	// Branch is one of the previous views whose members meet in a view.
	Branch = membership.Branch
	// Reading is an answer of the clock.
	Reading = clocksync.Reading
	// GroupTime is a reading of group time, in nanoseconds since the Unix epoch.
	GroupTime = clocksync.Time
	// TimelineID names a timeline of the clock.
	TimelineID = clocksync.TimelineID
	// MessageID names a message for good, at every node.
	MessageID = broadcast.ID
	// Order is the order in which members deliver messages.
	Order = broadcast.Order
	// Atomicity is the condition under which a member delivers a message.
	Atomicity = broadcast.Atomicity
	// Mode chooses the specification of the election.
	Mode = leader.Mode
	// RankBy chooses the order of candidates.
	RankBy = leader.RankBy
)

// Modes of the election and orders of candidates; the first of each is the
// default.
const (
	Available = leader.Available
	Strict    = leader.Strict
	Stable    = leader.Stable
	ByID      = leader.ByID
)

// NoNode is the zero NodeID; no node has it.
const NoNode = timed.NoNode

// Local returns timing for nodes of one host, or of one rack with an idle
// network.
func Local() Timing { return timed.Local() }

// LAN returns timing for a local network. A zero [Config.Timing] means LAN.
func LAN() Timing { return timed.LAN() }

// WAN returns timing for links across continents.
func WAN() Timing { return timed.WAN() }

// Reference names an external reference of UTC: an NTP server, the kernel's
// disciplined clock, or a PTP hardware clock.
type Reference = reference.Config

// Transport carries the packets of a node, and is its hardware clock, in place of
// UDP sockets and the clock of this machine. Package sim/memory makes transports for
// tests. The type is opaque because every promise of a node rests on the
// times that its transport reports.
//
// With a transport, nodes find each other by their ids: [Config.Listen] and [Peer.Addr] may
// be empty, and a nil [Config.Peers] stands for the nodes that were started on the
// transport before, unless [Config.Join] has any. An address that is given must be an IP
// address with a port, because names are not looked up.
type Transport = transport.Transport
