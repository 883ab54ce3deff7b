// Package mutant plants bugs on purpose. Every protocol rule has a mutant that
// leaves the rule out; a test proves that the simulator's checks notice it.
//
// In ordinary builds [On] is a constant false, so the compiler removes every
// planted bug. Built with the tag "mutants", a test can switch one on.
package mutant

// ID names one planted bug.
type ID int

// The planted bugs, by layer. The comment says which rule is left out.
const (
	None ID = iota

	DelayWithoutG     // datagram: g(S−B) of the delay bound ignores the sign
	DelayWithoutDrift // datagram: ρ = 0 in the delay bound
	AliveWithoutHeard // datagram: heardAge is ignored
	NotReadySaysHeard // datagram: a node that is not ready says that it hears
	AcceptWithoutEcho // datagram: a boot id is accepted without a fresh echo
	KeepPairsOverBoot // datagram: pairs survive the peer's restart

	ReleaseWithoutWait   // leader 1: votes are freed while a view lease may count
	ReleaseOnFailedRenew // leader 2: a leader whose renewal failed releases
	KeepSupportOnRelease // leader 3: recorded support survives release
	ReleaseLateNumber    // leader 4: the request number is taken after the wait
	RequestNotReady      // leader 5: a node requests before it is ready
	LockIgnoresBoot      // leader 6: a lock is to the id, not the incarnation
	NoMergeExcuse        // leader 7: a merge under way blocks the outranking leader
	NoRoundAfterSilence  // leader 9: silence waits for the next period
	ExcuseTheDead        // leader: a merge with a leader out of hearing excuses
	OldStates            // stack: an overtaken packet overwrites newer state
	AnswersToOthers      // stack: an answer to another incarnation counts
	NoLockedElsewhere    // leader 10: peers locked elsewhere stay contenders
	LeaseWithoutDrift    // leader: ρ = 0 in the lease and the lock
	SlowElections        // leader: slow elections and replies count
	VoteTwice            // leader: a voter ignores its lock
	LeadWithoutTime      // leader: the lease has no end
	LockFromBoundOnly    // leader: the lock starts too early
	VoteNotReady         // leader: a node votes before it is ready

	RenewAfterPropose  // membership 1: an older view is renewed after a proposal
	IgnoreOvertaken    // membership 2: an overtaken proposal is kept
	IgnoreLaterAck     // membership: a member that went on is renewed in vain
	OneProposalVar     // membership 3: own and acknowledged proposal are one
	OwnSequenceIgnored // membership 4: own proposals do not count
	MembersWithoutBoot // membership 5: members are ids, not incarnations
	KeepFlagOnAck      // membership: acknowledging keeps the view up to date
	CommitWithoutWait  // membership: those left behind are not waited for
	CommitWithoutAcks  // membership: commit before all have acknowledged
	NoSecondChance     // membership: one lost reply excludes a member
	KeepResigned       // membership: a late Dropped frees later leases
	ViewLeaseFromNow   // membership: a renewal counts from its arrival
	RenewForgottenView // membership: a view outlives a lost lease

	ClockWithoutAgeing // clocksync: bounds do not grow with time
	ClockNoHalfWidth   // clocksync: the width of the offset is left out
	ClockBackwards     // clocksync: corrections step instead of slewing

	ReadRawLast  // hwclock: RAW is read after BOOTTIME and MONOTONIC only
	SnapshotOnce // readers: the snapshot is loaded once

	// broadcast
	BroadcastNoFreeze        // decisions are accepted after the report
	BroadcastLateHave        // late messages move the acknowledgement after the report
	BroadcastAcksFrozen      // acknowledgements count after the report
	BroadcastDeliverFrozen   // deliveries go on after the report
	BroadcastThaw            // a frozen node goes on after some time
	BroadcastNoBase          // a view begins where each member is
	BroadcastIgnoreBoot      // marks are compared by ids alone
	BroadcastFlushKnown      // the flush ends at what is known, held or not
	BroadcastCommitUnflushed // the commit does not wait for those who lack something
	BroadcastLocalAcks       // each member ends a view by its own acknowledgements
	BroadcastForgetUnsent    // what is unordered when the view ends is not sent again
	BroadcastForgetAbsent    // how far absent senders had come is forgotten
	BroadcastSilentLoss      // messages ordered elsewhere get no outcome
	BroadcastNoTails         // a lost tail is not noticed
	BroadcastForeignHeaders  // headers and decisions of other views count
	BroadcastAckUnheld       // decisions are acknowledged without their messages
	BroadcastSplitMessage    // a decision cuts a message
	BroadcastStrongAsWeak    // Strong waits for nobody
	BroadcastStrictAsStrong  // Strict waits for a majority
	BroadcastEarlyRelease    // messages are let go of when they are delivered here
	BroadcastTimedAsTotal    // Timed messages are delivered in the order of the log
	BroadcastTotalOvertakes  // a Total message overtakes a Timed one of its sender
	BroadcastPromiseUnsent   // the floor ignores messages that wait to be sent
	BroadcastKeepStability   // what is stable is not passed on
	BroadcastNoFill          // the flush leaves Unordered messages out
	BroadcastSlowAcks        // a slow consumer goes on to acknowledge
	BroadcastOrderMinority   // RequireQuorum is ignored by the decider
	count
)

// Count is the number of planted bugs, None included.
const Count = int(count)
