package sim

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// Options choose a world. The zero value of a field means its default.
type Options struct {
	// Nodes is the number of nodes, 1 to MaxNodes. Default 5.
	Nodes int
	// Duration is the time that a run simulates. Default 20 s.
	Duration time.Duration
	// Timing are the constants of the model. Default [timed.LAN].
	Timing timed.Timing
	Mode   leader.Mode
	RankBy leader.RankBy
	// Collation is when and how nodes collate the replies to their requests.
	Collation leader.Collation
	// Roughness scales the rates of all random faults: 1 is moderate; with 3, nodes are
	// rarely led. Default 1.
	Roughness float64
	// Rest lengthens each stable period by up to this time, which is drawn.
	Rest time.Duration
	// Without leaves out classes of random faults that the application need not survive.
	Without []fault.Class
	// Calm leaves the random faults out; Roughness is ignored.
	Calm bool
	// Faults happen besides the random ones.
	Faults []fault.Fault
	// BrokenClocks lets hardware clocks run, jump and stop beyond ρ. Only the promises that
	// do not rest on clocks are then checked: views agree and grow, and a healed world
	// works again.
	BrokenClocks bool
	// Broadcast, if not nil, switches the atomic broadcast on.
	Broadcast *Broadcast
	// Servers, if not nil, are the external references of time of every world; with an
	// empty list each seed draws its own. If Servers is nil, one random world in ten
	// draws some.
	Servers *fault.Servers
	// Quorum, if not empty, is the quorum system of global leaders, as [quorum.Parse]
	// reads it, or [RandomQuorum]. BI is not checked then.
	Quorum string
	// Epochs has an administrator replace the quorum system now and then, and leaders
	// create edicts. All nodes have a state directory then, and each id belongs to one
	// process.
	Epochs bool
	// Unequal gives each process settings of its own, drawn anew when it starts: a LockTime
	// and a MaxLockTime of up to three and four times those of Timing, and less than both,
	// a MaxSlew and a weight. In half of the worlds Expires is up to five times that of
	// Timing, and KeepalivePeriod and ElectionPeriod down to half; in the others one process in three is of a
	// build that does not speak the newest version of the wire format.
	Unequal bool
	// Shared adds random faults that strike all nodes at once: all processes are slow or
	// stopped, all machines suspended, all clocks bent alike.
	Shared bool
	// Restless makes leaders give up their leads again and again, just after they have won
	// them, and while their proposals and views are in flight. Some name a successor, and
	// some leave and come back.
	Restless bool
	// Preempted stops processes in the middle of some turns, for up to five times Expires:
	// what a turn has decided is sent that much later, with a stamp of that time. A crash
	// meanwhile loses it.
	Preempted bool
	// Resolution is that of the hardware clocks, whose readings are multiples of it.
	// Default: a nanosecond; at most [MaxResolution].
	Resolution time.Duration
	// App, if not nil, makes the application of a world. It is called when the world
	// has its nodes, before they start; in a campaign by several goroutines.
	App func(*World) App
	// Bare leaves the platform out: the nodes run only the application, with the same
	// links, clocks and faults, and only its own invariants are checked. No node leads,
	// follows, or has a view, and its reading of group time is not synchronized.
	Bare bool
	// Codec passes every packet through the wire format. Slower.
	Codec bool
	// Trace, if not nil, gets a line for every event.
	Trace io.Writer

	halt      *atomic.Bool // ends a run before its time
	contained bool         // the application runs in a goroutine of its own
}

// Broadcast switches the atomic broadcast on in all nodes of a world.
type Broadcast struct {
	// Config is that of all nodes, without Self and Timing, which are the node's own. If
	// it is nil, the seed draws one.
	Config *broadcast.Config
	// Quiet leaves the random traffic out: only applications broadcast.
	Quiet bool
	// ByEpochs orders messages by the quorums of the epoch, with the option Epochs. Changes
	// are then forced only if the application wants that (App.MayForce).
	ByEpochs bool
	// WrongWalls makes the wall clocks of some processes wrong when they start, by up
	// to hours. Group time begins there, and jumps when views meet.
	WrongWalls bool
}

// Limits of a run.
const (
	MaxNodes      = timed.MaxNodes
	MaxResolution = timed.Granule // for which leases leave room
	MaxFaults     = 1 << 16
	MaxDuration   = fault.MaxDuration
	// maxProcesses counts rivals too: events store the index of a process in a byte.
	maxProcesses = 255
)

func (o Options) withDefaults() Options {
	if o.Nodes == 0 {
		o.Nodes = 5
	}
	if o.Duration == 0 {
		o.Duration = 20 * time.Second
	}
	if o.Timing == (timed.Timing{}) {
		o.Timing = timed.LAN()
	}
	if o.Roughness == 0 {
		o.Roughness = 1
	}
	return o
}

// draw draws the schedule of a seed.
func (o *Options) draw(seed uint64) fault.Schedule {
	p := fault.Swarm{Nodes: o.Nodes, Duration: o.Duration, Timing: o.slowest(), Roughness: o.Roughness, Rest: o.Rest, Without: o.Without, Calm: o.Calm,
		Faults: o.Faults, BrokenClocks: o.BrokenClocks, Epochs: o.Epochs, Shared: o.Shared, Servers: o.Servers, NoServers: o.Bare}
	if b := o.Broadcast; b != nil {
		p.Broadcast, p.Quiet, p.WrongWalls, p.Config = true, b.Quiet, b.WrongWalls, b.Config
	}
	return p.Draw(seed)
}

// Validate returns an error if no run can have the options.
func (o Options) Validate() error {
	o = o.withDefaults()
	switch {
	case o.Nodes < 1 || o.Nodes > MaxNodes:
		return fmt.Errorf("sim: %d nodes: must be 1 to %d", o.Nodes, MaxNodes)
	case o.Duration < 0 || o.Duration > MaxDuration:
		return fmt.Errorf("sim: duration %v is outside (0, %v]", o.Duration, MaxDuration)
	case o.Rest < 0 || o.Rest > MaxDuration:
		return fmt.Errorf("sim: Rest %v is outside [0, %v]", o.Rest, MaxDuration)
	case !(o.Roughness >= 0 && o.Roughness <= 10): // NaN neither
		return fmt.Errorf("sim: roughness %v is outside [0, 10]", o.Roughness)
	case len(o.Faults) > MaxFaults:
		return fmt.Errorf("sim: %d faults: at most %d", len(o.Faults), MaxFaults)
	case o.Resolution < 0 || o.Resolution > MaxResolution:
		return fmt.Errorf("sim: Resolution: %v is outside [0, %v]", o.Resolution, MaxResolution)
	case o.Bare && (o.App == nil || o.Broadcast != nil || o.Servers != nil):
		return errors.New("sim: Bare: needs an App, and has neither Broadcast nor Servers")
	}
	for i := range o.Faults {
		if err := o.fits(&o.Faults[i]); err != nil {
			return err
		}
	}
	for _, c := range o.Without {
		if !c.Random() {
			return fmt.Errorf("sim: Without: there are no random faults of class %v (%d) to leave out", c, c)
		}
	}
	if err := o.validateParts(); err != nil {
		return err
	}
	return o.validateQuorum()
}

// validateParts checks the fields that validate themselves.
func (o *Options) validateParts() error {
	if err := o.Collation.Validate(); err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	if _, err := o.Timing.Validate(); err != nil {
		return fmt.Errorf("sim: timing: %w", err)
	}
	if o.Broadcast != nil && o.Broadcast.Config != nil {
		if err := o.Broadcast.Config.Validate(); err != nil {
			return fmt.Errorf("sim: %w", err)
		}
	}
	if o.Servers != nil && len(o.Servers.List) > 0 {
		return o.Servers.Validate(o.Nodes)
	}
	return nil
}

// validateQuorum checks the quorum system.
func (o *Options) validateQuorum() error {
	if o.Epochs && o.Quorum == "" {
		return errors.New("sim: Epochs: needs a Quorum to begin with")
	}
	if o.Quorum == "" || o.Quorum == RandomQuorum {
		return nil
	}
	s, err := quorum.Parse(o.Quorum)
	if err != nil {
		return fmt.Errorf("sim: Quorum: %w", err)
	}
	for id := range s.Members().All() {
		if int(id) > o.Nodes {
			return fmt.Errorf("sim: Quorum: %v lists node %v of a world with %d nodes", s, id, o.Nodes)
		}
	}
	return nil
}

// fits returns an error if no world of these options can have the fault.
func (o *Options) fits(f *fault.Fault) error {
	if err := f.Validate(o.Nodes); err != nil {
		return err
	}
	switch c := f.Kind.Class(); {
	case c == fault.ClassBrokenClock && !o.BrokenClocks:
		return fmt.Errorf("sim: %s: needs the option BrokenClocks", f.Kind)
	case (c == fault.ClassBurst || c == fault.ClassSlowConsumer) && o.Broadcast == nil:
		return fmt.Errorf("sim: %s: needs the option Broadcast", f.Kind)
	}
	return nil
}
