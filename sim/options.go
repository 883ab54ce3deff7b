package sim

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// Options choose what a run does. The zero value of a field means its default.
type Options struct {
	// Nodes is how many nodes the world has, 1 to MaxNodes. Default 5.
	Nodes int
	// Duration is how much time a run simulates. Default 20 s.
	Duration time.Duration
	// Timing are the constants of the model. Default [timed.LAN].
	Timing timed.Timing
	Mode   leader.Mode
	RankBy leader.RankBy
	// Collation is when and how nodes collate the replies to their requests.
	Collation leader.Collation
	// Roughness scales the rates of all random faults: 1 is moderate, 3 a hard
	// world in which little is led. Default 1.
	Roughness float64
	// Without leaves classes of random faults out, of which the application is
	// not meant to survive any.
	Without []Class
	// Calm leaves the random faults out; Roughness is ignored.
	Calm bool
	// Faults happen besides the random ones, or instead of them in a calm world.
	Faults []Fault
	// BrokenClocks lets hardware clocks run, jump and stop beyond ρ. Then only
	// that is checked which holds whatever clocks do: views agree and grow, and
	// a healed world works again.
	BrokenClocks bool
	// Broadcast, if not nil, switches the atomic broadcast on.
	Broadcast *Broadcast
	// Servers, if not nil, are the external references of time that every world
	// has; an empty list means that each seed draws its own. Without it one random
	// world in ten draws some.
	Servers *Servers
	// Quorum, if not empty, is the quorum system by which leaders lead globally,
	// as [quorum.Parse] reads it, or [RandomQuorum]. BI is not checked then.
	Quorum string
	// Epochs has an administrator replace the quorum system now and then, and
	// leaders create edicts. All nodes have a state directory then, and each id
	// belongs to one process.
	Epochs bool
	// App, if not nil, makes the application of a world. It is called when the
	// world has its nodes, before they start; in a campaign by several goroutines.
	App func(*World) App
	// Bare leaves the platform out: the nodes run nothing but the application,
	// which has the same links, clocks and faults to live with, and of all
	// promises only its own invariants are checked. No node leads, follows, or
	// has a view, and its reading of group time is not synchronized.
	Bare bool

	halt  *atomic.Bool  // ends a run before its time
	ahead time.Duration // of the wall clocks when processes start
	// Codec makes every packet pass through the wire format. Slower.
	Codec bool
	// Trace, if not nil, gets a line for every event.
	Trace io.Writer
}

// Limits of a run.
const (
	MaxNodes  = timed.MaxNodes
	MaxFaults = 1 << 16
	// maxProcesses counts rivals too; an event names a process in a byte.
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

// Validate reports options that no run can follow.
func (o Options) Validate() error {
	o = o.withDefaults()
	if o.Nodes < 1 || o.Nodes > MaxNodes {
		return fmt.Errorf("sim: %d nodes: must be 1 to %d", o.Nodes, MaxNodes)
	}
	if err := o.Collation.Validate(); err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	if o.Duration < 0 || o.Duration > MaxDuration {
		return fmt.Errorf("sim: duration %v is outside (0, %v]", o.Duration, MaxDuration)
	}
	if o.Roughness < 0 || o.Roughness > 10 {
		return fmt.Errorf("sim: roughness %v is outside [0, 10]", o.Roughness)
	}
	if _, err := o.Timing.Validate(); err != nil {
		return fmt.Errorf("sim: timing: %w", err)
	}
	if len(o.Faults) > MaxFaults {
		return fmt.Errorf("sim: %d faults: at most %d", len(o.Faults), MaxFaults)
	}
	for i := range o.Faults {
		if err := o.fits(&o.Faults[i]); err != nil {
			return err
		}
	}
	if o.Bare && (o.App == nil || o.Broadcast != nil || o.Servers != nil) {
		return fmt.Errorf("sim: Bare: needs an App, and has neither Broadcast nor Servers")
	}
	if err := o.validateBroadcast(); err != nil {
		return err
	}
	if o.Servers != nil && len(o.Servers.List) > 0 {
		if err := o.Servers.Validate(o.Nodes); err != nil {
			return err
		}
	}
	if err := o.validateQuorum(); err != nil {
		return err
	}
	for _, c := range o.Without {
		if c >= classEnd || c == ClassHeal {
			return fmt.Errorf("sim: Without: there are no random faults of class %v (%d) to leave out", c, c)
		}
	}
	return nil
}

// fits reports a fault that a world of these options cannot have.
func (o *Options) fits(f *Fault) error {
	if err := f.Validate(o.Nodes); err != nil {
		return err
	}
	if faultShapes[f.Kind].class == ClassBrokenClock && !o.BrokenClocks {
		return fmt.Errorf("sim: %s: needs the option BrokenClocks", f.Kind)
	}
	if c := faultShapes[f.Kind].class; o.Broadcast == nil && (c == ClassBurst || c == ClassSlowConsumer) {
		return fmt.Errorf("sim: %s: needs the option Broadcast", f.Kind)
	}
	return nil
}
