// Package join finds addresses at which there may be members of a group: addresses,
// names, services of the DNS, files, and a multicast group. What it finds are candidates
// only. The loop greets them, and their own packets show what they are.
package join
