// Package bench measures nodes over real UDP on the loopback interface of one
// machine. All processes there share one hardware clock, so instants that
// different processes report compare, and the truth about clocks is known.
//
//   - [Election] drives rounds of the election back to back through the stack,
//     the codec and the sockets, without the loop of the root package, and
//     compares them with a scatter-gather without any protocol over the same
//     sockets.
//   - [Failover], [Split], [Clock] and [Idle] run whole nodes, one process each.
//     The processes report what changes, and when, over a pipe.
//   - [Broadcast] measures the broadcast of whole nodes against what the sockets
//     alone carry with a process per member, and [Outage] how long faults hold it up.
//   - [Collation] measures elections of large groups in the simulator.
//
// Every benchmark is bounded in time, says on what machine it ran, and how busy
// that machine was.
package bench
