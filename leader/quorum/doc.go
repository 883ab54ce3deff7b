// Package quorum knows which sets of nodes are quorums: sets of which any two
// have a node in common. A node that holds the votes of a quorum leads globally,
// since nobody else can hold those of another one at the same time.
//
// A [System] is over listed ids, is never changed, and may be used by several
// goroutines. Whatever makes one, [Majority], [Weighted], [Grid], [Explicit] or
// [Parse], refuses what has two quorums without a common node. Its text form is
// canonical: [System.String] gives the same for equal systems, however they were
// written, [Parse] reads it back, and it is what is kept in files. Its digest
// travels in packets, so that nodes with different systems never vote together.
package quorum
