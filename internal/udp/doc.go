// Package udp is the unicast UDP socket of a node. A driver in one goroutine reads and
// writes packets in batches. It waits until a deadline of the hardware clock, and other
// goroutines can wake it.
//
// No event on the network ends the driver's loop. Packets that cannot be sent are
// counted by the name of the error and dropped; upper layers see an omission failure.
// Writing never waits for a full socket buffer. Errors reported by the network are
// counted as well.
//
// On Linux a batch is one system call, packets of one size to one address pass the
// kernel as one message in both directions, packets carry receive stamps of the kernel,
// IP never fragments them, and in the steady state no call allocates. On other systems
// the same type uses a portable socket, which reads one packet at a time.
package udp
