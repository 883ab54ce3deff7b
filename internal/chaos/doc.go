// Package chaos runs groups of real nodes through faults of the network, the machine and
// the disks, and has package oracle judge what the nodes said meanwhile.
//
// Each node is a program (package member) in a network namespace of its own. Namespaces meet
// at a bridge, where nft rules cut links and lose packets, and at a switch of this package,
// which delays, reorders, repeats and damages them. A seed gives the [Schedule]: the same
// faults at the same times. It does not give the same packets, for the machine's own timing
// is no part of it.
package chaos
