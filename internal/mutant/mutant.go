// Package mutant plants bugs on purpose. Every protocol rule has a mutant that
// leaves the rule out; a campaign proves that a check notices each.
//
// In ordinary builds [On] is a constant false, so the compiler removes every
// planted bug. Built with the tag "mutants", a test can switch one on.
package mutant

// ID names one planted bug. [ID.Rule] says which rule it leaves out.
type ID int

// The planted bugs, by layer.
const (
	None ID = iota

	DelayWithoutG
	DelayWithoutDrift
	FastByHalf
	OffsetWithoutAgeing
	AliveWithoutHeard
	NotReadySaysHeard
	OldHearing
	EchoWithoutLatest
	AcceptWithoutEcho
	KeepPairsOverBoot
	LateRefusals
	AnyRival
	DuplicateAtOnce
	NoClockFault
	OldStates
	AnswersToOthers
	TwinsUnseen

	ReleaseWithoutWait
	ReleaseOnFailedRenew
	KeepSupportOnRelease
	ReleaseLateNumber
	OldReleaseFrees
	RequestNotReady
	VoteNotReady
	VoteBeyondMaxLock
	LockIgnoresBoot
	NoMergeExcuse
	NoRoundAfterSilence
	NoLockedElsewhere
	ExcuseTheDead
	StrictExcusesSilence
	StrictExcusesAbsent
	SilenceBlocks
	OverlappingRounds
	NoGraceAfterStall
	LeaseWithoutDrift
	SlowElections
	VoteTwice
	VoteForAnybody
	LeadWithoutTime
	LeadWithoutSelf
	LockFromBoundOnly
	NewcomersDepose
	SilentResignation
	GlobalWithoutTime
	GlobalWithoutQuorum
	GlobalAfterRelease
	VoteForOtherQuorum
	QuorumRanksNothing
	ObjectorsBlockQuorum
	StampWithoutCounter
	StampsOfAnyRound
	VouchWithoutWait
	VouchDroppedWithGrants
	VouchFromReceipt
	VouchWithoutDrift
	SuccessorIgnored

	RenewAfterPropose
	IgnoreOvertaken
	OneProposalVar
	OwnSequenceIgnored
	MembersWithoutBoot
	IgnoreLaterAck
	ForgetGrants
	AckOlder
	InstallForeign
	KeepFlagOnAck
	CommitWithoutWait
	CommitWithoutAcks
	NoSecondChance
	LeaseOfTheLeader
	KeepResigned
	DroppedOfAnyView
	RenewResigned
	ViewLeaseFromNow
	RenewForgottenView
	LineageOfTheLeader
	ProposalWithLineage
	LineageUnwritten

	ClockWithoutAgeing
	ClockNoHalfWidth
	HoldoverWithoutSlew
	ClockBackwards
	ForgetTimelines
	SilentAdoption
	OneTimeline
	LeaderJumps
	UTCWithoutAgeing
	ForwardedWithoutOffset
	LargestOverlap
	IntersectPerNode
	TooFewReferences
	ExternalAroundLeap
	SilentFalsetickers
	BendAtOnce
	BendForeseenExactly
	UTCSkipsWidth
	JudgeIgnoresUTC
	HoldoverIgnoresRate
	ContradictedSample
	CurvesAsLines
	LiarsSteer

	ReadRawLast

	SnapshotOnce

	// what serves time to other programs
	SegmentNeverOdd
	SegmentWrapsToZero
	SegmentIgnoresSteps
	SegmentBoundOfTheGuess
	NTPAlwaysSynchronized
	NTPRoundsDown
	NTPAnswersAnything
	NTPWithoutLimit

	// broadcast
	BroadcastNoFreeze
	BroadcastLateHave
	BroadcastAcksFrozen
	BroadcastDeliverFrozen
	BroadcastThaw
	BroadcastNoBase
	BroadcastIgnoreBoot
	BroadcastFlushKnown
	BroadcastCommitUnflushed
	BroadcastLocalAcks
	BroadcastForgetUnsent
	BroadcastForgetAbsent
	BroadcastSilentLoss
	BroadcastNoTails
	BroadcastForeignHeaders
	BroadcastAckUnheld
	BroadcastSplitMessage
	BroadcastStrongAsWeak
	BroadcastStrictAsStrong
	BroadcastEarlyRelease
	BroadcastTimedAsTotal
	BroadcastTotalOvertakes
	BroadcastPromiseUnsent
	BroadcastRoleAlwaysMoves
	BroadcastRoleAlwaysStays
	BroadcastQuietDecisions
	BroadcastKeepStability
	BroadcastNoFill
	BroadcastSlowAcks
	BroadcastOrderMinority
	BroadcastPieceMissing
	BroadcastMixProposals
	BroadcastReuseLent
	BroadcastLendEndlessly
	BroadcastReuseOpen

	// replicated state
	ReplicaKeepLabel
	ReplicaDropQueued
	ReplicaApplyUnsettled
	ReplicaReportOfAnyView
	ReplicaPendingHolds
	ReplicaMergeMinority
	ReplicaForgetTentative
	ReplicaForgetDiscarded
	ReplicaResumeAnything
	ReplicaEndlessQueue
	ReplicaQueueFromBegin
	ReplicaSnapshotLate
	ReplicaDropEarly
	ReplicaNoWindow
	ReplicaNoRate
	ReplicaKeepRefused
	ReplicaLocalMerge
	ReplicaMergeOwnFirst
	ReplicaSilentDivergence

	// records in files
	DurableRenameUnsynced
	DurableDirUnsynced

	// edicts
	EdictFirstVoter
	EdictClockAcrossBoots
	EdictZeroCounts
	EdictCountIgnored
	EdictAnyPayload
	EdictObeyIncomparable
	FenceObeyFirst
	ReplicaRankUnsettled
	ReplicaAnyHolderFirst
	ReplicaPendingLasts
	ReplicaTransitionalLasts
	ReplicaSilentSkip
	ReplicaBarrierStateless
	ReplicaUnconfirmed
	ReplicaAnyBarrier

	// epochs
	EpochVoteWedged
	EpochWedgeBound
	EpochCountAnyWedge
	EpochForgetLatest
	EpochNoteOld
	EpochReportUnwritten
	EpochEnterUnwedged
	EpochCountUnstamped
	EpochStrangersRank
	EpochVoteWithoutState
	EpochSayFirst
	EdictWithoutLastRead
	CollateFirst
	CollateTheSilent
	CollateTheSlow
	CollateForEver
	CollateSlowHops
	RelayedOfAnyRound
	RelayedOfAnyBoot
	RelayedWithoutBound
	RelayedFromReceipt
	AroundForEver
	HoldOfTheSnapshot
	HoldFromTheAnswer
	count
)

// Count is the number of ids, [None] included.
const Count = int(count)
