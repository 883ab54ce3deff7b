// Package udp is the unicast UDP socket of a node: packets are read and written
// in batches by a driver that is one goroutine, waits until a deadline of the
// hardware clock, and can be woken.
//
// Nothing on the network ends the loop of the driver. What cannot be sent is
// counted by the name of the error and left out, which the upper layers meet as
// an omission failure; writing never waits for a full socket buffer. Errors that
// the network reports back are counted as well.
//
// On Linux a batch is one system call, packets of one size to one address pass
// the kernel as one message in both directions, packets carry receive stamps of
// the kernel, they are never fragmented by IP, and in steady state no call
// allocates. On other systems a portable socket stands behind the same type; it
// reads one packet at a time.
package udp
