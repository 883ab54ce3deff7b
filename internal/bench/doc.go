// Package bench measures nodes over real UDP on the loopback interface of one machine.
// All processes there share one hardware clock, so instants of different processes
// compare, and the truth about clocks is known.
//
//   - [Election] drives rounds of the election back to back through the stack,
//     the codec and the sockets, without the loop of the root package, and
//     compares them with a scatter-gather without a protocol over the same
//     sockets.
//   - [Failover], [Split], [Clock] and [Idle] run complete nodes, one process each.
//     The processes report changes with their instants over a pipe.
//   - [Broadcast] compares the broadcast of whole nodes with the sockets alone, with a
//     process per member, and [Outage] measures its delays by faults.
//   - [Transfer] measures what it costs to send a large state to a member.
//   - [Collation] measures elections of large groups in the simulator.
//
// Every benchmark is bounded in time, and its result describes the machine and its load.
package bench
