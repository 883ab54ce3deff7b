// Package quorum defines quorum systems: families of sets of nodes of which any
// two have a node in common. A node that holds the votes of a quorum leads
// globally, because no other node can hold those of another quorum at the same
// time.
//
// A [System] is immutable and safe for concurrent use. [Majority], [Weighted],
// [Grid], [Explicit] and [Parse] return an error for systems with two disjoint
// quorums. [System.String] returns the same canonical text for equal systems,
// and [Parse] reads it back; files keep this text. Packets carry the digest, so
// that nodes with different systems never vote together.
package quorum
