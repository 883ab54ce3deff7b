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
//   - [Config] describes a node, and [Config.Validate] returns the bounds that its
//     [Timing] guarantees: [Local], [LAN] and [WAN] are presets.
//   - [Start], [Node.Close], [Node.Leave], [Node.Resign], [Node.SetPeers].
//   - Answers: [Node.Leader], [Node.Leads], [Node.View], [Node.Clock]. They take no
//     lock, send no message, and read the hardware clock at every call.
//   - [Node.Status] is everything that people may want to see.
//   - [Node.Lead], [Node.LeaderContext], [Node.WaitLeader].
//   - [Node.Events] and [Node.EventsSince] iterate over typed event.Event values.
//   - [Node.Broadcast], [Node.BroadcastAndWait], [Node.Receive] and [Node.Deliveries]:
//     messages in one order within views, if [Config.Broadcast] is on.
//   - Package [github.com/failaware/failaware/replicate] keeps a state the same at all
//     members, on top of the broadcast.
//   - [Transport] and package sim/memory: tests of your own program in memory, in
//     virtual time, with faults.
//
// # Guarantees
//
// As long as hardware clocks keep the drift bound ρ (Timing.MaxDrift) and node ids
// are unique, these hold in spite of the network, the scheduler and crashes:
//
//   - A node supports at most one leader at a time, and a leader supports itself:
//     each logical partition has one leader, and partitions do not overlap.
//   - The up-to-date views of two nodes are the same view, or have no member in
//     common.
//   - The deviation of a clock's [Reading] is a bound, never an estimate.
//
// Agreement on the members of a view does not rest on clocks at all. If a clock
// breaks ρ, the nodes notice by the first evidence, and say so: event.ClockFault,
// event.Restarted. The time until there is a leader or a view ([Bounds]) is guaranteed in
// partitions whose nodes are connected in time.
//
// A leader knows that nobody else leads in its own logical partition. Another
// partition has another leader; an action that only one of them may take needs a
// quorum.
//
// The hardware clock counts the time asleep. When the machine wakes up, every answer
// is no at once, and the node begins a new incarnation. A pause by the hypervisor,
// which no clock of a virtual machine shows, breaks ρ.
//
// # Answers and time
//
// An answer holds when the clock was read, in the call. A goroutine can be held up
// between the answer and the action that it takes. So there are two ways to make an
// action safe that is allowed only while this node leads: finish within ValidFor, as
// judged by a clock that counts sleep, or have the action checked at the system that
// it acts on. A [Node.LeaderContext] helps with the first: it ends early enough to
// stop what was begun, and its Err reads the clock itself, also right after the
// process was stopped.
//
// # Go's scheduler
//
// A node is one goroutine that waits for packets and timers. On an idle machine its
// timers are some 0.1 to 0.3 ms late (up to 1 ms on systems other than Linux). When
// goroutines of the same process compute all the time and occupy every processor,
// packets and timers wait 10 to 20 ms, which no priority changes; garbage collection
// of a large heap full of pointers has the same effect. That costs elections and fresh
// views, never safety, and [Local] timing does not bear it. Remedies:
// [Config.RaiseProcs], which makes it 0.1 to 0.2 ms again; wider timing; or a node in a
// process of its own beside the application. The node measures its lateness all the
// time: [Lateness] in [Status].
//
// Idle processors sleep, and wake up late and with cold caches. Where tenths of a
// millisecond matter, [Config.Awake] keeps processors from sleeping, at a price.
package failaware
