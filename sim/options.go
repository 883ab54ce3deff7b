package sim

import (
	"fmt"
	"io"
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
	// Roughness scales the rates of all faults: 1 is moderate, 0 no faults
	// at all between the stable periods, 3 a hard world in which little is led.
	Roughness float64
	// Calm leaves the faults out; 0 < Roughness is ignored.
	Calm bool
	// Codec makes every packet pass through the wire format. Slower.
	Codec bool
	// Trace, if not nil, gets a line for every event.
	Trace io.Writer
}

// MaxNodes is the largest world that the simulator takes.
const MaxNodes = 64

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
	if o.Duration < 0 || o.Duration > 24*time.Hour*365 {
		return fmt.Errorf("sim: duration %v is outside (0, 1 year]", o.Duration)
	}
	if o.Roughness < 0 || o.Roughness > 10 {
		return fmt.Errorf("sim: roughness %v is outside [0, 10]", o.Roughness)
	}
	if _, err := o.Timing.Validate(); err != nil {
		return fmt.Errorf("sim: timing: %w", err)
	}
	return nil
}
