// Package failaware runs a node of a fail-aware group: it elects leaders, agrees
// on views of who is in the group, and synchronizes clocks, and with every answer
// it says whether the answer still holds and for how long. Nothing about the
// network or the scheduler is assumed; what a node can do is notice when they
// misbehave.
//
//	n, err := failaware.Start(ctx, failaware.Config{ID: 1, Peers: peers})
//	…
//	if n.Leads() { … }                       // from the hardware clock, at the call
//	lead, cancel, err := n.Lead(ctx)         // a context that ends before the lease can
//	for e := range n.Events(ctx) { … }       // what happened, and why
//
// # A tour
//
//   - [Config] says what a node is to be, and [Config.Validate] which bounds its
//     [Timing] guarantees: [Local], [LAN] and [WAN] are presets.
//   - [Start], [Node.Close], [Node.Leave], [Node.Resign], [Node.SetPeers].
//   - Answers: [Node.Leader], [Node.Leads], [Node.View], [Node.Clock]. They take no
//     lock, send no message, and read the hardware clock at every call.
//   - [Node.Status] is everything that people may want to see.
//   - [Node.LeaderContext], [Node.Lead], [Node.WaitLeader], [Node.WaitElected].
//   - [Node.Events] and [Node.EventsSince] iterate over typed [Event] values.
//   - [Node.Broadcast], [Node.BroadcastAndWait], [Node.Receive] and [Node.Deliveries]:
//     messages in one order within views, if [Config.Broadcast] is on.
//   - [Transport] and package sim/memory: tests of your own program in memory,
//     in virtual time, with faults.
//
// # What is guaranteed, and by what
//
// While hardware clocks keep the drift bound ρ (Timing.MaxDrift), and node ids are
// unique, whatever the network, the scheduler and crashes do:
//
//   - A node supports at most one leader at a time, and a leader supports itself:
//     each logical partition has one leader, and partitions do not overlap.
//   - The up-to-date views of two nodes are the same view, or have no member in
//     common.
//   - The deviation of a clock's [Reading] is a bound, never an estimate.
//
// Agreement on the members of a view does not rest on clocks at all. If a clock
// breaks ρ, the nodes notice by the first evidence, and say so: [ClockFault],
// [Restarted]. The time until there is a leader or a view ([Bounds]) is
// guaranteed in partitions whose nodes are connected in time.
//
// A leader knows that nobody else leads in its own logical partition. Another
// partition has another leader; what only one of them may do needs a quorum.
//
// The hardware clock counts the time asleep. When the machine wakes up, every
// answer is no at once, and the node begins a new incarnation. What no clock of a
// virtual machine shows, being paused by the hypervisor, breaks ρ.
//
// # Answers and time
//
// An answer holds when the clock was read, in the call. A goroutine can be held up
// between the answer and what it does with it, so an action that is safe only
// while this node leads has two ways: finish within ValidFor, as judged by a
// clock that counts sleep, or be checked by who is acted on. A [Node.LeaderContext]
// helps with the first: it ends early enough to stop what was begun, and its
// Err reads the clock itself, also right after the process was stopped.
//
// # Replicated state
//
// [Replicate] keeps an [Application] the same at all members of a view, on top of
// the broadcast ([Config.Broadcast]). Parts of a split group go on, each with its
// own state, and merge when they meet; with RequireQuorum there is one line of
// state. [Replica.Submit] changes it, [Replica.Read] and [Replica.ReadLatest] say
// how fresh what they read is.
//
// # Go's scheduler
//
// A node is one goroutine that waits for packets and timers. On an idle machine
// its timers are some 0.1 to 0.3 ms late (up to 1 ms elsewhere than on Linux). When goroutines of the same process
// compute all the time and occupy every processor, packets and timers wait 10 to
// 20 ms, which no priority changes; a large heap full of pointers does the same
// during garbage collection. That costs elections and fresh views, never safety,
// and [Local] timing does not bear it. Remedies: [Config.RaiseProcs], which makes
// it 0.1 to 0.2 ms again; wider timing; or a node in a process of its own beside
// the application. The node measures its lateness all the time: [Lateness] in
// [Status].
//
// What is idle sleeps, and wakes up late and with cold caches: where tenths of a
// millisecond matter, [Config.Awake] keeps processors from sleeping, at a price.
package failaware
