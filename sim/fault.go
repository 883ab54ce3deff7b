package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/failaware/failaware/timed"
)

// A FaultKind names what goes wrong. Unless the comment says otherwise, Node
// and Peer name the direction of a link, and two zeros mean every link.
type FaultKind string

// Faults of the network.
const (
	// Loss loses packets with probability Rate; Size > 1 makes the losses come
	// in bursts of that mean length.
	Loss FaultKind = "loss"
	// Late adds up to Extra to a packet's delay, with probability Rate.
	Late FaultKind = "late"
	// Reorder adds up to δ to a packet's delay, with probability Rate, so that
	// later ones overtake it.
	Reorder FaultKind = "reorder"
	// Duplicate delivers a packet twice, with probability Rate.
	Duplicate FaultKind = "duplicate"
	// Replay delivers a packet again up to Extra later, with probability Rate.
	Replay FaultKind = "replay"
	// Tail adds a random time to every delay, whose mean is Extra: exponential, or with
	// Rate > 0 of a Pareto distribution of shape 1/Rate.
	Tail FaultKind = "tail"
	// Slow adds Extra to every delay, in one direction.
	Slow FaultKind = "slow"
	// Clog holds all packets back until the fault ends, and then delivers them
	// in one burst.
	Clog FaultKind = "clog"
	// Cut loses every packet, in one direction.
	Cut FaultKind = "cut"
	// Flap cuts a link and mends it again, each for half of Extra.
	Flap FaultKind = "flap"
	// Mute cuts all that Node sends; Deaf all that it is sent.
	Mute FaultKind = "mute"
	Deaf FaultKind = "deaf"
	// Split cuts the links between nodes that no block has in common. A node in
	// two blocks is a bridge.
	Split FaultKind = "split"
	// SlowSplit adds Extra, which is above Δ, to the delays between them instead.
	SlowSplit FaultKind = "slow split"
	// BlackHole loses packets of more than Size bytes, as a path does whose
	// maximum transmission unit shrank.
	BlackHole FaultKind = "black hole"
	// Corrupt flips bits of a packet, with probability Rate: the decoder sees
	// it, and the checksum drops it. Truncate cuts it off.
	Corrupt  FaultKind = "corrupt"
	Truncate FaultKind = "truncate"
	// Forge adds packets in the name of the sender, from somebody who does not
	// know the boot ids, with probability Rate.
	Forge FaultKind = "forge"
	// Foreign adds copies of packets under another group's name, with
	// probability Rate.
	Foreign FaultKind = "foreign"
)

// Faults of processes and machines. Node names the process.
const (
	// SocketError loses what the process sends in a turn, with probability Rate.
	SocketError FaultKind = "socket error"
	// SlowProcess makes the process act up to Extra late.
	SlowProcess FaultKind = "slow process"
	// Stall stops the process for the time of the fault; its clock goes on.
	Stall FaultKind = "stall"
	// Suspend stops the whole machine for the time of the fault. The node
	// notices when it wakes up, and begins a new incarnation.
	Suspend FaultKind = "suspend"
	// Crash ends the process; it starts again when the fault ends. Reboot does
	// the same to its machine, whose clock starts anew.
	Crash  FaultKind = "crash"
	Reboot FaultKind = "reboot"
	// CrashAll crashes all processes.
	CrashAll FaultKind = "crash all"
	// Rival starts a second process with the id of Node, somewhere else.
	Rival FaultKind = "rival"
	// Clone starts a copy of the process of Node with its running memory, as a
	// virtual machine is cloned: the same boot id twice. From then on only that
	// is promised which the other nodes notice.
	Clone FaultKind = "clone"
	// Burst has Node broadcast Size random messages at once; SlowConsumer keeps
	// its application from taking deliveries. Only worlds whose options have a
	// Broadcast take them.
	Burst        FaultKind = "burst"
	SlowConsumer FaultKind = "slow consumer"
	// Resign has the node give up its lead, if it has it.
	Resign FaultKind = "resign"
)

// Faults of clocks. Node names the clock.
const (
	// Wander gives the clock another rate: Rate parts per billion, within ρ.
	Wander FaultKind = "wander"
	// Warm changes its rate by Rate parts per billion and back, at a constant pace, in
	// the time of the fault; it does not leave ρ.
	Warm FaultKind = "warm"
	// ClockRate gives it a rate beyond ρ; ClockJump moves it by Extra, which may
	// be negative; ClockStop lets it stand still. Only worlds whose options have
	// BrokenClocks take them.
	ClockRate FaultKind = "clock rate"
	ClockJump FaultKind = "clock jump"
	ClockStop FaultKind = "clock stop"
)

// Heal ends all faults and holds the world still for the time of the fault, in
// which the promised bounds are checked: the Blocks, or all nodes, are Δ-partitions,
// cut off from each other or, with Extra > 0, slower than Δ. The nodes of Down
// do not start again before its end.
const Heal FaultKind = "heal"

// Fault is something that goes wrong in a world, once. Which fields count
// depends on the kind.
type Fault struct {
	At     time.Duration // true time since the start of the run
	For    time.Duration // after which it ends; 0: when the world heals
	Kind   FaultKind
	Node   timed.NodeID
	Peer   timed.NodeID
	Blocks []timed.Set
	Down   timed.Set
	Rate   float64
	Extra  time.Duration
	Size   int
}

// faultShape says which fields a kind of fault has.
type faultShape struct {
	link, node, blocks, rate, extra, size bool
	class                                 Class
}

var faultShapes = map[FaultKind]faultShape{
	Loss: {link: true, rate: true, size: true, class: ClassLoss}, Late: {link: true, rate: true, extra: true, class: ClassLate},
	Reorder: {link: true, rate: true, class: ClassReorder}, Duplicate: {link: true, rate: true, class: ClassDuplicate},
	Replay: {link: true, rate: true, extra: true, class: ClassReplay}, Slow: {link: true, extra: true, class: ClassAsymmetry},
	Tail: {link: true, rate: true, extra: true, class: ClassLate}, Warm: {node: true, rate: true, class: ClassWander},
	Clog: {link: true, class: ClassClog}, Cut: {link: true, class: ClassOneWay}, Flap: {link: true, extra: true, class: ClassFlap},
	Mute: {node: true, class: ClassOneWay}, Deaf: {node: true, class: ClassOneWay},
	Split: {blocks: true, class: ClassSplit}, SlowSplit: {blocks: true, extra: true, class: ClassSplit},
	BlackHole: {link: true, size: true, class: ClassSocket}, Corrupt: {link: true, rate: true, class: ClassCorrupt},
	Truncate: {link: true, rate: true, class: ClassCorrupt}, Forge: {link: true, rate: true, class: ClassForge},
	Foreign: {link: true, rate: true, class: ClassForge}, SocketError: {node: true, rate: true, class: ClassSocket},
	SlowProcess: {node: true, extra: true, class: ClassSlowProcess}, Stall: {node: true, class: ClassStall},
	Suspend: {node: true, class: ClassSuspend}, Crash: {node: true, class: ClassCrash}, Reboot: {node: true, class: ClassCrash},
	CrashAll: {class: ClassCrashAll}, Rival: {node: true, class: ClassRival}, Clone: {node: true, class: ClassClone}, Resign: {node: true, class: ClassResign},
	Wander: {node: true, rate: true, class: ClassWander}, ClockRate: {node: true, rate: true, class: ClassBrokenClock},
	ClockJump: {node: true, extra: true, class: ClassBrokenClock}, ClockStop: {node: true, class: ClassBrokenClock},
	Heal: {blocks: true, extra: true, class: ClassHeal}, Burst: {node: true, size: true, class: ClassBurst},
	SlowConsumer: {node: true, class: ClassSlowConsumer},
}

// Validate reports what no world of so many nodes can do.
func (f *Fault) Validate(nodes int) error {
	s, ok := faultShapes[f.Kind]
	exists := func(id timed.NodeID) bool { return id >= 1 && int(id) <= nodes }
	switch {
	case !ok:
		return fmt.Errorf("sim: there is no fault %q", f.Kind)
	case f.At < 0 || f.At > MaxDuration:
		return fmt.Errorf("sim: %s at %v: outside [0, %v]", f.Kind, f.At, MaxDuration)
	case f.For < 0 || f.For > MaxDuration:
		return fmt.Errorf("sim: %s for %v: outside [0, %v]", f.Kind, f.For, MaxDuration)
	case s.node && !exists(f.Node):
		return fmt.Errorf("sim: %s of node %d: must be 1 to %d", f.Kind, f.Node, nodes)
	case s.link && (f.Node != 0 || f.Peer != 0) && !(exists(f.Node) && exists(f.Peer)):
		return fmt.Errorf("sim: %s on the link %d→%d: both must be 1 to %d, or both 0 for all links", f.Kind, f.Node, f.Peer, nodes)
	case f.Extra < -MaxDuration || f.Extra > MaxDuration || f.Extra < 0 && f.Kind != ClockJump:
		return fmt.Errorf("sim: %s by %v: outside [0, %v]", f.Kind, f.Extra, MaxDuration)
	case f.Size < 0 || f.Size > maxSize:
		return fmt.Errorf("sim: %s of size %d: outside [0, %d]", f.Kind, f.Size, maxSize)
	case s.rate && s.link && !(f.Rate >= 0 && f.Rate <= 1), f.Kind == SocketError && !(f.Rate >= 0 && f.Rate <= 1):
		return fmt.Errorf("sim: %s with probability %v: outside [0, 1]", f.Kind, f.Rate)
	case s.rate && !(f.Rate >= -maxRate && f.Rate <= maxRate):
		return fmt.Errorf("sim: %s of %v parts per billion: outside ±%d", f.Kind, f.Rate, int64(maxRate))
	case f.Kind == Flap && f.Extra < 2:
		return fmt.Errorf("sim: flap: the period (Extra) is missing")
	}
	if err := f.validateKind(); err != nil {
		return err
	}
	for _, b := range append(f.Blocks[:len(f.Blocks):len(f.Blocks)], f.Down) {
		for id := range b.All() {
			if !exists(id) {
				return fmt.Errorf("sim: %s: node %d of %v: must be 1 to %d", f.Kind, id, b, nodes)
			}
		}
	}
	return nil
}

// Limits of faults.
const (
	// MaxDuration is the longest run, and the longest fault.
	MaxDuration = 365 * 24 * time.Hour
	maxSize     = 1 << 16
	maxRate     = 5e8 // parts per billion: a clock at half or one and a half of its rate
)

// String returns the fault as a line of a report: "1.25s cut 1→3 for 40ms".
func (f Fault) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v ", f.At)
	b.WriteString(f.Label())
	if f.For > 0 {
		fmt.Fprintf(&b, " for %v", f.For)
	}
	return b.String()
}

// Label returns the fault without its times: "cut 1→3".
func (f Fault) Label() string {
	var b strings.Builder
	s := faultShapes[f.Kind]
	b.WriteString(string(f.Kind))
	switch {
	case s.link && f.Node != 0:
		fmt.Fprintf(&b, " %d→%d", f.Node, f.Peer)
	case s.node:
		fmt.Fprintf(&b, " %d", f.Node)
	}
	for _, block := range f.Blocks {
		fmt.Fprintf(&b, " %v", block)
	}
	if !f.Down.Empty() {
		fmt.Fprintf(&b, ", down %v", f.Down)
	}
	switch {
	case s.rate && (f.Kind == Wander || f.Kind == Warm || f.Kind == ClockRate):
		fmt.Fprintf(&b, " %+.0f ppb", f.Rate)
	case s.rate:
		fmt.Fprintf(&b, " %.3g%%", f.Rate*100)
	}
	if s.extra && f.Extra != 0 {
		fmt.Fprintf(&b, " %v", f.Extra)
	}
	if s.size && f.Size > 0 {
		fmt.Fprintf(&b, " size %d", f.Size)
	}
	return b.String()
}
