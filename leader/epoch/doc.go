// Package epoch replaces the quorum system of a group while it is in use. Each
// quorum system rules one epoch. Epochs are numbered and never overlap: as long as a
// node may lead by the quorums of one, no node leads by those of the next.
//
// The leader of an epoch proposes the successor under an edict of its lease, and each
// voter notes the latest proposal of a leader that it has voted for. A proposal that a
// quorum has noted under one edict is chosen: every later leader finds it among the
// reports of its own voters and must propose it again. A voter that learns the chosen
// successor stops voting. When all its votes have expired, it wedges: it records
// durably that it never votes in this epoch again. A node begins the next epoch when
// it sees a quorum of the old one wedged for one successor.
//
// [Machine] is the state machine of one node. It reports its [State] to all peers
// periodically and after every change. Reports may be lost, repeated, late and out of
// order, because everything in them stays true.
//
// # Why this is safe
//
// One successor. Let N be chosen under the edict E, and let a later round have the
// edict E'. The quorum that noted (N, E) and the voters of E' share a voter v. If v
// noted (N, E) before it voted for E', its vote reports a proposal with an edict of at
// least E. If v voted first, it can no longer note E, because a voter notes no proposal
// that rests on a vote from before its latest vote for another node; unless both rounds
// are of one leader, which has noted E before all others. So the leader of E' finds N
// or a later proposal, and by induction over the edicts each later proposal is N.
//
// One epoch. A leader's lease ends before its votes cease to bind, and a node that is
// bound by a vote does not wedge. Once a quorum has wedged, every quorum of the epoch
// has a member that is bound to no node and never will be: the last lease is over. The
// next epoch begins after that.
//
// Progress. While a quorum of the old epoch is connected, its leader proposes, and all
// members learn the successor and wedge. When fewer than a quorum remain unwedged, the
// reports of the wedged members tell the others the successor. A leader whose proposal
// is not noted by a quorum in time proposes again under its latest round.
//
// Reported facts are on the disk. Members need one: edicts of voters that restart
// without it do not compare, and a member that lost it has forgotten that it wedged.
//
// # Members that have lost their state
//
// Such a member has forgotten which votes it has stamped, what it has noted, and that it is
// wedged. Under another id it breaks nothing, because no system has that id. Under its own id it
// may vote again only where this is true:
//
//   - It was off while a change to an epoch N without it was made. So the members that noted the
//     successor of the epoch before, and wedged, have their state, and every quorum of that epoch
//     has one of them. Its votes stamp no edict of N.
//   - In epochs before, it may be the only member that the quorum which wedged has in common with
//     another one. So all other members that these ever had must have entered N, or never run
//     again: a retired one that has missed the change would be such a quorum together with it.
//   - It learns the epoch from the others. A configuration may name the first one.
//
// # Driving a machine
//
// Requests for votes name the candidate's epoch and the digest of its quorum system.
//
//   - A node that gets a request calls [Machine.HandleEpoch].
//   - A voter calls [Machine.Votes] to see whether its vote may carry a stamp, and
//     [Machine.NoteVote] before it sends a stamped vote. The vote carries
//     [Machine.State] while the machine is [Machine.Busy]. A candidate does the same
//     for its own vote. [Machine.NoteFreed] records that a candidate returned votes.
//   - A candidate passes the state of each stamped vote to [Machine.NoteReply], with
//     the number of the round. For every round that it wins by a quorum it passes the
//     stamps of exactly those votes to [Machine.HandleWon]. When it no longer leads by
//     a quorum, it calls [Machine.NoteLost].
//   - Other states of accepted incarnations go to [Machine.HandleReport].
//   - [Machine.HandleTimeout] is due at [Machine.Deadline].
//   - The caller performs effects in order and finishes [Persist] before the next one.
//     After the event [Entered] the election continues with [Machine.System]; the votes
//     and the lead of the epoch before no longer count.
//
// Epochs follow van Renesse, Schneider and Gehrke, "Nerio: Leader Election and Edict
// Ordering", section 10.6. Choosing the successor by the leader's own lease and edicts is
// new here.
package epoch
