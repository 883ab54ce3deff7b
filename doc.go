// Package failaware runs a node of a fail-aware group: it elects leaders, agrees on
// views of the group's members, and synchronizes clocks. With every answer it says
// whether the answer still holds and for how long. It assumes nothing of the network
// or the scheduler; a node notices when they misbehave.
//
//	n, err := failaware.Start(ctx, failaware.Config{ID: 1, Peers: peers})
//	…
//	if n.Leads() { … }                       // from the hardware clock, at the call
//	lead, cancel, err := n.Lead(ctx)         // a context that ends before the lease can
//	for e := range n.Events(ctx) { … }       // what happened, and why
//
// # A tour
//
// Start. A [Config] needs an ID and usually Peers. Its Timing is [Local], [LAN] or [WAN],
// and [Node.Bounds] says how soon such a group has a leader and a view. [Node.Leave]
// ends a node gracefully, and [Node.Close] as a crash would.
//
// Ask. [Node.Leader], [Node.View] and [Node.Clock] take no lock, send no message, and
// read the hardware clock at every call. [Node.GlobalLeader] answers for the whole group
// instead of the part of it that this node reaches; it needs [Config.Quorum].
//
// Lead. [Node.Lead] and [Node.LeadGlobally] wait for the lead, and return a context for
// the work that only a leader may do. [Node.Hold] promises the lead to other processes,
// and [Node.FindLeader] asks another node for such a promise. [Node.Timestamp] and
// [Node.Edict] number the decisions of global leaders, so that a store can refuse a late
// one.
//
// Follow. [Node.Events] iterates over the types of package
// [github.com/failaware/failaware/event]. [Node.Status] is everything that people may
// want to see.
//
// Broadcast. With [Config.Broadcast], [Node.Broadcast] sends messages that all members of
// a view deliver in one order, and [Node.Deliveries] iterates over them. Package
// [github.com/failaware/failaware/replicate] keeps a state the same at all members.
//
// Test. Package [github.com/failaware/failaware/sim/memory] is a network in memory, with
// faults and in virtual time, for tests of your own program. Package
// [github.com/failaware/failaware/sim] plays the decisions of your program in thousands
// of hostile worlds.
//
// # Words
//
// A logical partition is a leader with the nodes that support it: their votes bind them
// to it for a time. A split network has several. A view is a list of members on which
// all of them have agreed; while a lease lasts it is up to date, and no other up-to-date
// view has one of these members. Group time is the clock that a leader and its followers
// share. It belongs to a timeline; when leaders change, so does the timeline. An
// incarnation is one life of a node: a restart, a suspend or a clock that cannot be
// trusted begins another one, and nothing of the former counts.
//
// # Answers and promises
//
// An answer holds when the clock was read, in the call. Its AtMost is an upper bound on
// how long it can stay true: the node may step down earlier, so ask again rather than
// keep the answer. A ValidFor ([Hold], [Verification]) is a promise: it holds for that
// long, whatever the node does.
//
// A goroutine can be held up between an answer and the action that it takes. So an action
// that is allowed only while this node leads is checked at the system that it acts on, or
// ends in time: a [Node.LeaderContext] ends early enough to stop the action, and its
// Err reads the clock itself, also right after the process was stopped.
//
// # Guarantees
//
// As long as hardware clocks keep the drift bound ρ (Timing.MaxDrift) and node ids
// are unique, these hold in spite of the network, the scheduler and crashes:
//
//   - A node supports at most one leader at a time, and a leader supports itself:
//     each logical partition has one leader, and partitions do not overlap.
//   - At most one node of the group leads globally, if all nodes have the same
//     quorum system ([Config.Quorum]).
//   - The up-to-date views of two nodes are the same view, or have no member in
//     common.
//   - The deviation of a clock's [Reading] is a bound, never an estimate.
//
// Agreement on the members of a view does not rest on clocks at all. If a clock breaks ρ,
// the nodes notice by the first evidence, and say so: event.ClockFault, event.Restarted.
// The time until there is a leader or a view ([Bounds]) is guaranteed in partitions whose
// nodes are connected in time.
//
// The hardware clock counts the time asleep. When the machine wakes up, every answer is
// "no" at once, and the node begins a new incarnation. A pause by the hypervisor, which no
// clock of a virtual machine shows, breaks ρ.
//
// # Go's scheduler
//
// A node is one goroutine that waits for packets and timers. On an idle machine its timers
// are some 0.1 to 0.3 ms late (up to 1 ms on systems other than Linux). When goroutines of
// the same process compute all the time and occupy every processor, packets and timers wait
// 10 to 20 ms, which no priority changes; garbage collection of a large heap full of
// pointers has the same effect. That costs elections and up-to-date views, never safety,
// and [Local] timing does not bear it. [Config.RaiseProcs] makes it 0.1 to 0.2 ms again.
// Wider timing helps too, and so does a process for the node beside that of the
// application. [Lateness] in [Status] is measured all the time. Where tenths of a
// millisecond matter, [Config.Awake] keeps idle processors from sleeping, at a price.
package failaware
