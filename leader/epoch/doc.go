// Package epoch replaces the quorum system of a group by another while it is in
// use. Each quorum system rules one epoch; epochs are numbered, and at most one
// runs at a time: as long as anybody may lead by the quorums of one, nobody leads
// by those of the next.
//
// The epoch's own leader proposes its successor, under an edict of its lease, and
// each voter notes the latest proposal of a leader that it has voted for. What a
// quorum has noted under one edict is chosen: every later leader finds it among
// the reports of its own voters, and must propose it again. Voters that learn what
// is chosen give no more votes, and when those that they gave have run out they
// wedge: they write down that they never vote in this epoch again. The next epoch
// begins, node by node, on seeing a quorum of the old one wedged for one successor.
//
// [Machine] is the part of one node: a pure machine for one goroutine, which says
// what it knows in reports ([State]) to everybody, from time to time and when
// something has changed. Reports may be lost, repeated, late and out of order: all
// that they say stays true.
//
// # Driving a machine
//
// Requests for votes name the candidate's epoch and the digest of its quorum system.
//
//   - A voter asks [Machine.Votes] whether its vote may carry a stamp, and says with
//     [Machine.HandleVoted] that it has given one, before the vote leaves. With the
//     vote goes [Machine.State], unless the machine is not [Machine.Busy]. A candidate
//     does the same for the vote that it gives itself. When a candidate gives votes
//     back, [Machine.HandleFreed] is told.
//   - A candidate hands the state of each stamped vote to [Machine.HandleReply], with
//     the number of the round, and when a quorum has voted the stamps of exactly those
//     votes to [Machine.HandleWon]; it does so for every round that it wins. When it
//     leads by a quorum no more, it calls [Machine.HandleLost].
//   - States that come by themselves, from accepted incarnations, go to
//     [Machine.HandleReport].
//   - At [Machine.Deadline], [Machine.HandleTimeout] is due.
//   - Effects are performed in their order, and [Persist] is done before the next one.
//     After the event [Entered] the election goes on with [Machine.System]; what was
//     led or voted for in the epoch before counts no more.
//
// The idea is that of epochs in van Renesse, Schneider and Gehrke, "Nerio: Leader
// Election and Edict Ordering"; that the leader's own lease and its edicts choose the
// successor is ours.
package epoch
