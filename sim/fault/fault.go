// Package fault is the catalogue of the faults of simulated worlds, and draws random
// schedules of them.
package fault

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/timed"
)

// Fault is one fault of a world. Its kind determines the fields that are used.
type Fault struct {
	At     time.Duration `json:"at"` // true time since the start of the run
	Kind   Kind          `json:"fault"`
	Node   timed.NodeID  `json:"node,omitempty"`
	Peer   timed.NodeID  `json:"peer,omitempty"`
	Blocks []timed.Set   `json:"blocks,omitempty"`
	Down   timed.Set     `json:"down,omitzero"`
	Rate   float64       `json:"rate,omitempty"`
	Extra  time.Duration `json:"extra,omitzero"`
	Size   int           `json:"size,omitempty"`
	What   Content       `json:"what,omitempty"`
	For    time.Duration `json:"for,omitzero"` // the time after which it ends; 0: when the world heals
}

// Limits of faults.
const (
	// MaxDuration bounds the length of runs and of faults.
	MaxDuration = 365 * 24 * time.Hour
	// MaxSize bounds sizes, in bytes or messages.
	MaxSize = 1 << 16

	maxRate = 5e8 // parts per billion: half the normal rate of a clock, either way
)

// Validate returns an error if no world with that many nodes can have the fault.
func (f *Fault) Validate(nodes int) error {
	k, ok := kinds[f.Kind]
	exists := func(id timed.NodeID) bool { return id >= 1 && int(id) <= nodes }
	switch {
	case !ok:
		return fmt.Errorf("fault: there is no fault %q", f.Kind)
	case f.At < 0 || f.At > MaxDuration:
		return fmt.Errorf("fault: %s at %v: outside [0, %v]", f.Kind, f.At, MaxDuration)
	case f.For < 0 || f.For > MaxDuration:
		return fmt.Errorf("fault: %s for %v: outside [0, %v]", f.Kind, f.For, MaxDuration)
	case k.node && !exists(f.Node):
		return fmt.Errorf("fault: %s of node %d: must be 1 to %d", f.Kind, f.Node, nodes)
	case k.link && (f.Node != 0 || f.Peer != 0) && !(exists(f.Node) && exists(f.Peer)):
		return fmt.Errorf("fault: %s on the link %d→%d: both must be 1 to %d, or both 0 for all links", f.Kind, f.Node, f.Peer, nodes)
	case f.Extra < -MaxDuration || f.Extra > MaxDuration || f.Extra < 0 && f.Kind != ClockJump:
		return fmt.Errorf("fault: %s by %v: outside [0, %v]", f.Kind, f.Extra, MaxDuration)
	case f.Size < 0 || f.Size > MaxSize:
		return fmt.Errorf("fault: %s of size %d: outside [0, %d]", f.Kind, f.Size, MaxSize)
	}
	if err := f.validateRate(&k); err != nil {
		return err
	}
	if k.what && !slices.Contains(Contents, f.What) {
		return fmt.Errorf("fault: %s: there is no packet of %q to lose", f.Kind, f.What)
	}
	switch {
	case f.Kind == Flap && f.Extra < 2:
		return errors.New("fault: flap: the period (Extra) is missing")
	case f.Kind == Temperature && f.For < TemperatureSteps:
		return errors.New("fault: temperature: its time (For) is missing")
	}
	for _, b := range append(slices.Clip(f.Blocks), f.Down) {
		for id := range b.All() {
			if !exists(id) {
				return fmt.Errorf("fault: %s: node %d of %v: must be 1 to %d", f.Kind, id, b, nodes)
			}
		}
	}
	return nil
}

// validateRate checks Rate: a probability, the index of a tail, or parts per billion.
func (f *Fault) validateRate(k *kind) error {
	switch {
	case !k.rate:
	case f.Kind == Tail:
		return validIndex(f.Rate)
	case k.link || f.Kind == SocketError:
		if !(f.Rate >= 0 && f.Rate <= 1) {
			return fmt.Errorf("fault: %s with probability %v: outside [0, 1]", f.Kind, f.Rate)
		}
	case !(math.Abs(f.Rate) <= maxRate):
		return fmt.Errorf("fault: %s of %v parts per billion: outside ±%d", f.Kind, f.Rate, int64(maxRate))
	}
	return nil
}

func validIndex(index float64) error {
	if !(index >= 0 && index <= random.MaxIndex) {
		return fmt.Errorf("fault: the index %v of a tail is outside [0, %v]", index, random.MaxIndex)
	}
	return nil
}

// TemperatureSteps is the number of steps in which a Temperature changes the rate of
// a clock to its extreme and back.
const TemperatureSteps = 64

// RateAfter returns the change of the rate, in parts per billion, after a number of steps of
// a Temperature: steadily up, and down again.
func (f *Fault) RateAfter(step int64) int64 {
	return int64(math.Round(f.Rate * (1 - math.Abs(2*float64(step)/TemperatureSteps-1))))
}

// String returns the fault as a line of a report: "1.25s cut 1→3 for 40ms".
func (f Fault) String() string {
	text := fmt.Sprintf("%v %s", f.At, f.Label())
	if f.For > 0 {
		text += fmt.Sprintf(" for %v", f.For)
	}
	return text
}

// Label returns the fault without its times: "cut 1→3".
func (f Fault) Label() string {
	var b strings.Builder
	k := kinds[f.Kind]
	b.WriteString(string(f.Kind))
	switch {
	case k.link && f.Node != 0:
		fmt.Fprintf(&b, " %d→%d", f.Node, f.Peer)
	case k.node:
		fmt.Fprintf(&b, " %d", f.Node)
	}
	for _, block := range f.Blocks {
		fmt.Fprintf(&b, " %v", block)
	}
	if !f.Down.Empty() {
		fmt.Fprintf(&b, ", down %v", f.Down)
	}
	switch {
	case k.rate && (f.Kind == Wander || f.Kind == Temperature || f.Kind == ClockRate):
		fmt.Fprintf(&b, " %+.0f ppb", f.Rate)
	case k.rate:
		fmt.Fprintf(&b, " %.3g%%", f.Rate*100)
	}
	if k.extra && f.Extra != 0 {
		fmt.Fprintf(&b, " %v", f.Extra)
	}
	if k.what {
		fmt.Fprintf(&b, " %s", f.What)
	}
	if k.size && f.Size > 0 {
		fmt.Fprintf(&b, " size %d", f.Size)
	}
	return b.String()
}
