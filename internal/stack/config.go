package stack

import (
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// Config configures one node.
type Config struct {
	Self          timed.Incarnation
	Group         uint64 // digest of the group's name and of settings that its nodes share
	Timing        timed.Timing
	Mode          leader.Mode
	RankBy        leader.RankBy
	Weight        uint16
	Collation     leader.Collation
	MaxDeviation  time.Duration
	MaxSlew       int64
	StepThreshold time.Duration
	MaxUTCError   time.Duration
	MinReferences int
	// Broadcast, if not nil, configures the atomic broadcast. Its Self and Timing
	// are those above. It must be valid, and set at all nodes or at none.
	Broadcast *broadcast.Config
	// Ordered are the ordered messages that the application keeps from an earlier
	// incarnation: see [broadcast.Service.RecallOrdered].
	Ordered []broadcast.Mark
	// Quorum, Epoch and Starts are those of [leader.Config].
	Quorum quorum.System
	Epoch  uint64
	Starts uint64
	// Tentative is that of [leader.Config]: see [Stack.Settle].
	Tentative bool
	// Newest is the newest version of the wire format that the node speaks; 0 means
	// [wire.Version].
	Newest uint8
	// Sequence is that of [membership.Config].
	Sequence uint64
	// Epochs, if not nil, is the last state that was written down of the group's
	// epochs. The quorum system is then that of the state and may be replaced, and
	// Quorum and Epoch are ignored. The state must be one that [CheckEpoch] accepts,
	// and Starts must be above 0.
	Epochs *epoch.State
	// Former, if not 0, is the Group in packets of builds that know only the configured
	// epoch. While the node is in that epoch, it hears both, and answers each peer with the
	// group that the peer names.
	Former uint64
	// OrderByEpoch makes the broadcast order messages only in views that hold a quorum of
	// the incarnation's epoch. [EventNewEpoch] then asks for another incarnation.
	OrderByEpoch bool
}

// first reports whether the node is in the epoch that is configured.
func (c *Config) first() bool {
	return c.Former != 0 && c.Epochs != nil && c.Epochs.Epoch == c.Epoch
}

// Hears reports whether packets of a group are for the node.
func (c *Config) Hears(group uint64) bool {
	return group == c.Group || group == c.Former && c.first()
}

// Says returns the group that packets to a peer name until the peer has named one.
func (c *Config) Says() uint64 {
	if c.first() {
		return c.Former
	}
	return c.Group
}
