// Package chaos runs groups of real nodes through faults of the network, the machine and
// the disks, and lets package oracle judge the answers of the nodes.
//
// Each node is a program (package member) in a network namespace of its own. Namespaces meet
// at a bridge, where nft rules cut links and lose packets, and at a switch of this package,
// which delays, reorders, repeats and damages them. A seed determines the [Schedule]: the same
// faults at the same times. It does not determine the packets, which depend on the timing of
// the machine.
package chaos
