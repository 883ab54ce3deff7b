// Package join finds addresses at which there may be members of a group: addresses,
// names, services of the DNS, files, and a multicast group. All that it finds are
// candidates. The loop greets them, and their own packets show whether they are members.
package join
