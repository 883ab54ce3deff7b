package fault

// Kind names a kind of fault. Unless its comment says otherwise, Node and Peer of a
// fault name the direction of a link; two zeros mean every link.
type Kind string

// Faults of the network.
const (
	// Loss loses packets with probability Rate. With Size > 1 the losses come in
	// bursts of that mean length.
	Loss Kind = "loss"
	// Late adds up to Extra to a packet's delay, with probability Rate.
	Late Kind = "late"
	// Reorder adds up to δ to a packet's delay, with probability Rate, so that later
	// packets overtake it.
	Reorder Kind = "reorder"
	// Duplicate delivers a packet twice, with probability Rate.
	Duplicate Kind = "duplicate"
	// Replay delivers a packet again up to Extra later, with probability Rate.
	Replay Kind = "replay"
	// Tail adds a random time with mean Extra to every delay: exponential or, with
	// Rate > 0, of a Pareto distribution of shape 1/Rate.
	Tail Kind = "tail"
	// Slow adds Extra to every delay, in one direction.
	Slow Kind = "slow"
	// Clog holds all packets back until the fault ends, and then delivers them in one
	// burst.
	Clog Kind = "clog"
	// Cut loses every packet, in one direction.
	Cut Kind = "cut"
	// Flap cuts a link and repairs it again, each for half of Extra.
	Flap Kind = "flap"
	// Mute cuts all outgoing links of Node; Deaf all incoming ones.
	Mute Kind = "mute"
	Deaf Kind = "deaf"
	// Split cuts the links between nodes that have no block in common. A node in two
	// blocks is a bridge.
	Split Kind = "split"
	// SlowSplit adds Extra, which is above Δ, to the delays between them instead.
	SlowSplit Kind = "slow split"
	// BlackHole loses packets of more than Size bytes, like a path with a smaller maximum
	// transmission unit.
	BlackHole Kind = "black hole"
	// Corrupt flips bits of a packet, with probability Rate, and the checksum fails.
	// Truncate cuts off its end.
	Corrupt  Kind = "corrupt"
	Truncate Kind = "truncate"
	// Damage flips bits of a packet, with probability Rate, and makes the checksum fit, so
	// that the packet counts if it can be decoded. No random schedule has it. After it,
	// only liveness is promised.
	Damage Kind = "damage"
	// Forge adds packets in the name of the sender, by a forger that does not know the boot
	// ids, with probability Rate.
	Forge Kind = "forge"
	// Foreign adds copies of packets under another group's name, with probability
	// Rate.
	Foreign Kind = "foreign"
	// Unlist removes Peer from the peer list of Node until the fault ends: Node forgets it,
	// sends it nothing, and drops its packets. No random schedule has it.
	Unlist Kind = "unlist"
	// Lose loses one packet with the content What: the first one after Size others. It
	// strikes in stable periods too, until For has passed. No random schedule has it.
	Lose Kind = "lose"
)

// Faults of processes and machines. Node names the process.
const (
	// SocketError loses all packets that the process sends in a turn, with probability
	// Rate.
	SocketError Kind = "socket error"
	// SlowProcess makes the process act up to Extra late.
	SlowProcess Kind = "slow process"
	// Stall stops the process for the time of the fault; its clock runs on.
	Stall Kind = "stall"
	// Suspend stops the whole machine for the time of the fault. The node notices when
	// it wakes up, and begins a new incarnation.
	Suspend Kind = "suspend"
	// Crash ends the process; it starts again when the fault ends. Reboot does the
	// same to its machine, whose clock starts anew.
	Crash  Kind = "crash"
	Reboot Kind = "reboot"
	// CrashAll crashes all processes.
	CrashAll Kind = "crash all"
	// Rival starts a second process with the id of Node, on another machine.
	Rival Kind = "rival"
	// Clone starts a copy of the process of Node with its memory, like a clone of a running
	// virtual machine, so that two processes have one boot id. After it, other nodes only
	// promise to detect that.
	Clone Kind = "clone"
	// Burst has Node broadcast Size random messages at once; SlowConsumer keeps its
	// application from taking deliveries. Both need a world with a broadcast.
	Burst        Kind = "burst"
	SlowConsumer Kind = "slow consumer"
	// Resign makes the node resign, if it leads.
	Resign Kind = "resign"
)

// Faults of clocks. Node names the clock.
const (
	// Wander changes the rate of the clock to Rate parts per billion, or to the nearest rate
	// within ρ.
	Wander Kind = "wander"
	// Temperature changes the rate by Rate parts per billion and back, steadily, during
	// the fault. It does not leave ρ.
	Temperature Kind = "temperature"
	// ClockRate changes the rate beyond ρ; ClockJump moves the clock by Extra, which
	// may be negative; ClockStop stops it. They need a world with broken clocks.
	ClockRate Kind = "clock rate"
	ClockJump Kind = "clock jump"
	ClockStop Kind = "clock stop"
)

// Heal ends all faults and keeps the world stable for the time of the fault, during
// which the promised bounds are checked. The Blocks, or all nodes, are Δ-partitions:
// cut off from each other or, with Extra > 0, slower than Δ. The nodes of Down do not
// start again before its end.
const Heal Kind = "heal"

// kind has the class of a kind of fault, and the fields that it uses.
type kind struct {
	class                                       Class
	link, node, blocks, rate, extra, size, what bool
}

var kinds = map[Kind]kind{
	Loss:         {class: ClassLoss, link: true, rate: true, size: true},
	Late:         {class: ClassLate, link: true, rate: true, extra: true},
	Reorder:      {class: ClassReorder, link: true, rate: true},
	Duplicate:    {class: ClassDuplicate, link: true, rate: true},
	Replay:       {class: ClassReplay, link: true, rate: true, extra: true},
	Tail:         {class: ClassLate, link: true, rate: true, extra: true},
	Slow:         {class: ClassAsymmetry, link: true, extra: true},
	Clog:         {class: ClassClog, link: true},
	Cut:          {class: ClassOneWay, link: true},
	Flap:         {class: ClassFlap, link: true, extra: true},
	Mute:         {class: ClassOneWay, node: true},
	Deaf:         {class: ClassOneWay, node: true},
	Split:        {class: ClassSplit, blocks: true},
	SlowSplit:    {class: ClassSplit, blocks: true, extra: true},
	BlackHole:    {class: ClassSocket, link: true, size: true},
	Corrupt:      {class: ClassCorrupt, link: true, rate: true},
	Truncate:     {class: ClassCorrupt, link: true, rate: true},
	Damage:       {class: ClassDamage, link: true, rate: true},
	Forge:        {class: ClassForge, link: true, rate: true},
	Foreign:      {class: ClassForge, link: true, rate: true},
	Unlist:       {class: ClassUnlist, link: true},
	Lose:         {class: ClassLose, link: true, size: true, what: true},
	SocketError:  {class: ClassSocket, node: true, rate: true},
	SlowProcess:  {class: ClassSlowProcess, node: true, extra: true},
	Stall:        {class: ClassStall, node: true},
	Suspend:      {class: ClassSuspend, node: true},
	Crash:        {class: ClassCrash, node: true},
	Reboot:       {class: ClassCrash, node: true},
	CrashAll:     {class: ClassCrashAll},
	Rival:        {class: ClassRival, node: true},
	Clone:        {class: ClassClone, node: true},
	Burst:        {class: ClassBurst, node: true, size: true},
	SlowConsumer: {class: ClassSlowConsumer, node: true},
	Resign:       {class: ClassResign, node: true},
	Wander:       {class: ClassWander, node: true, rate: true},
	Temperature:  {class: ClassWander, node: true, rate: true},
	ClockRate:    {class: ClassBrokenClock, node: true, rate: true},
	ClockJump:    {class: ClassBrokenClock, node: true, extra: true},
	ClockStop:    {class: ClassBrokenClock, node: true},
	Heal:         {class: ClassHeal, blocks: true, extra: true},
}

// Class returns the class of the kind.
func (k Kind) Class() Class { return kinds[k].class }

// OfLinks reports whether Node and Peer name a link.
func (k Kind) OfLinks() bool { return kinds[k].link }

// OfNetwork reports whether faults of the kind change the behaviour of links.
func (k Kind) OfNetwork() bool { return kinds[k].link || kinds[k].blocks || k == Mute || k == Deaf }
