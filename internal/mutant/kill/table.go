//go:build mutants

// Package kill says which check notices each planted bug, in which kind of
// world, within how many seeds. The tests play what the table says, and the
// campaign prints what came of it.
package kill

import "github.com/failaware/failaware/internal/mutant"

// Kill is one way in which a planted bug is noticed.
type Kill struct {
	Mutant  mutant.ID
	Package string // whose test plays it, relative to the module
	Test    string // the test's name, with those of subtests
	World   string // which kind of world of the simulator, or ""
	Check   string // which check must notice it, or "" for any and for unit tests
	Seeds   uint64 // how many worlds it may survive, or 0 for unit tests
}

// TestName is the test of every package that plays its rows of the table.
const TestName = "TestMutantsAreKilled"

// in is a kill by the simulator.
func in(world string, id mutant.ID, check string, seeds uint64) Kill {
	return Kill{id, "sim", TestName + "/" + id.String() + "/" + world, world, check, seeds}
}

// by is a kill by a package's own test.
func by(pkg string, id mutant.ID) Kill {
	return Kill{Mutant: id, Package: pkg, Test: TestName + "/" + id.String()}
}

// Table lists every kill. The budgets of seeds are at least five times what was
// needed when they were chosen, since any change of a world shifts its seeds.
var Table = []Kill{
	in("rough", mutant.DelayWithoutG, "delay", 200),
	in("rough", mutant.DelayWithoutDrift, "delay", 100),
	in("rough", mutant.FastByHalf, "fast", 100),
	in("rough", mutant.OffsetWithoutAgeing, "offset", 100),
	in("rough", mutant.AliveWithoutHeard, "alive", 100),
	in("rough", mutant.NotReadySaysHeard, "ready", 100),
	in("restarted-follower", mutant.NotReadySaysHeard, "", 20),
	by("datagram", mutant.OldHearing),
	in("rough", mutant.EchoWithoutLatest, "liveness", 1000),
	in("rough", mutant.AcceptWithoutEcho, "accept", 200),
	in("rough", mutant.KeepPairsOverBoot, "", 100),
	by("datagram", mutant.LateRefusals),
	by("datagram", mutant.AnyRival),
	in("rough", mutant.DuplicateAtOnce, "id", 200),
	by("datagram", mutant.NoClockFault),
	in("clone", mutant.TwinsUnseen, "", 20),
	in("word-of-a-former-leader", mutant.OldStates, "", 50),
	in("late-from-the-dead", mutant.AnswersToOthers, "", 50),

	in("rough", mutant.ReleaseWithoutWait, "M4", 100),
	in("rough-strict", mutant.ReleaseOnFailedRenew, "", 100),
	in("rough-strict", mutant.KeepSupportOnRelease, "", 100),
	in("rough-strict", mutant.ReleaseLateNumber, "SO", 400),
	in("rough", mutant.OldReleaseFrees, "", 200),
	in("rough-strict", mutant.RequestNotReady, "", 100),
	in("restarted-voter", mutant.VoteNotReady, "", 50),
	by("leader", mutant.VoteBeyondMaxLock),
	by("leader", mutant.LockIgnoresBoot),
	in("merge", mutant.NoMergeExcuse, "", 200),
	in("one-lost-packet", mutant.NoRoundAfterSilence, "", 20),
	in("topology", mutant.NoLockedElsewhere, "4'", 100),
	in("excuse-out-of-hearing", mutant.ExcuseTheDead, "", 20),
	in("silent-supporter", mutant.StrictExcusesSilence, "", 20),
	in("topology-strict", mutant.StrictExcusesAbsent, "BI", 100),
	in("merge", mutant.SilenceBlocks, "", 300),
	in("wan", mutant.OverlappingRounds, "liveness", 200),
	by("leader", mutant.NoGraceAfterStall),
	in("rough", mutant.LeaseWithoutDrift, "SO", 500),
	in("rough", mutant.SlowElections, "", 100),
	in("rough", mutant.VoteTwice, "", 100),
	by("leader", mutant.VoteForAnybody),
	in("rough", mutant.LeadWithoutTime, "SO", 100),
	in("rough", mutant.LeadWithoutSelf, "LS", 100),
	in("rough", mutant.LockFromBoundOnly, "SO", 100),
	in("hand-over", mutant.NewcomersDepose, "", 20),
	in("hand-over", mutant.SilentResignation, "", 20),
	in("global", mutant.GlobalWithoutTime, "Uniqueness", 100),
	in("global", mutant.GlobalWithoutQuorum, "", 100),
	in("global", mutant.GlobalAfterRelease, "", 500),
	by("leader", mutant.VoteForOtherQuorum),
	in("global", mutant.QuorumRanksNothing, "Stability", 100),
	by("leader", mutant.ObjectorsBlockQuorum),
	in("global", mutant.StampWithoutCounter, "stamps", 100),
	in("global", mutant.StampsOfAnyRound, "stamps", 100),
	in("global", mutant.VouchWithoutWait, "Verify", 100),
	in("global", mutant.VouchDroppedWithGrants, "Verify", 100),
	in("global", mutant.VouchFromReceipt, "Verify", 100),
	by("leader", mutant.VouchWithoutDrift),
	in("named-successor", mutant.SuccessorIgnored, "", 20),

	in("rough", mutant.RenewAfterPropose, "", 100),
	in("taken-and-returned", mutant.IgnoreOvertaken, "", 50),
	in("rough-strict", mutant.OneProposalVar, "", 200),
	in("rough", mutant.OwnSequenceIgnored, "", 100),
	in("rough", mutant.MembersWithoutBoot, "", 200),
	in("member-that-went-on", mutant.IgnoreLaterAck, "", 50),
	in("led-again", mutant.ForgetGrants, "M4", 50),
	in("rough", mutant.AckOlder, "M3", 800),
	in("rough", mutant.InstallForeign, "M2", 100),
	in("rough", mutant.KeepFlagOnAck, "M4", 100),
	in("rough", mutant.CommitWithoutWait, "M4", 200),
	in("rough", mutant.CommitWithoutAcks, "", 200),
	in("rough", mutant.NoSecondChance, "M6", 100),
	in("rough", mutant.LeaseOfTheLeader, "M4", 100),
	in("late-confirmation", mutant.KeepResigned, "", 50),
	in("confirmation-of-another", mutant.DroppedOfAnyView, "M4", 50),
	in("rough", mutant.RenewResigned, "M4", 1000),
	in("rough", mutant.ViewLeaseFromNow, "M4", 100),
	in("rough", mutant.RenewForgottenView, "M4", 100),
	by("membership", mutant.LineageOfTheLeader),
	in("wire", mutant.ProposalWithLineage, "codec", 50),
	in("wire", mutant.LineageUnwritten, "M1", 50),

	in("rough", mutant.ClockWithoutAgeing, "deviation", 500),
	in("rough", mutant.ClockNoHalfWidth, "deviation", 100),
	by("clocksync", mutant.HoldoverWithoutSlew),
	in("rough", mutant.ClockBackwards, "monotone", 100),
	by("clocksync", mutant.ForgetTimelines),
	in("rough", mutant.SilentAdoption, "timeline", 100),
	in("rough", mutant.OneTimeline, "deviation", 100),
	by("clocksync", mutant.LeaderJumps),
	in("servers", mutant.UTCWithoutAgeing, "utc", 100),
	in("servers", mutant.UTCSkipsWidth, "utc", 100),
	in("servers", mutant.ForwardedWithoutOffset, "", 300),
	in("servers", mutant.LargestOverlap, "", 300),
	in("servers", mutant.IntersectPerNode, "", 300),
	in("servers", mutant.TooFewReferences, "", 100),
	in("servers", mutant.BendAtOnce, "", 100),
	by("clocksync", mutant.ExternalAroundLeap),
	by("clocksync", mutant.SilentFalsetickers),

	in("broadcast", mutant.BroadcastNoFreeze, "", 100),
	in("broadcast-rough", mutant.BroadcastLateHave, "", 1000),
	in("broadcast", mutant.BroadcastAcksFrozen, "", 200),
	in("broadcast-rough", mutant.BroadcastDeliverFrozen, "", 100),
	{Mutant: mutant.BroadcastThaw, Package: "broadcast", Test: "TestThawIsNoticed"},
	in("broadcast", mutant.BroadcastNoBase, "", 100),
	in("broadcast", mutant.BroadcastIgnoreBoot, "", 100),
	in("broadcast", mutant.BroadcastFlushKnown, "", 200),
	in("broadcast", mutant.BroadcastCommitUnflushed, "", 100),
	in("broadcast", mutant.BroadcastLocalAcks, "EVS", 100),
	in("broadcast", mutant.BroadcastForgetUnsent, "", 100),
	in("broadcast-rough", mutant.BroadcastForgetAbsent, "", 200),
	in("broadcast", mutant.BroadcastSilentLoss, "loss", 100),
	{Mutant: mutant.BroadcastNoTails, Package: "broadcast", Test: "TestNoTailsIsNoticed"},
	in("broadcast-rough", mutant.BroadcastForeignHeaders, "", 100),
	in("broadcast", mutant.BroadcastAckUnheld, "", 100),
	in("broadcast-fragments", mutant.BroadcastSplitMessage, "", 20),
	in("broadcast", mutant.BroadcastStrongAsWeak, "atomicity", 100),
	in("broadcast", mutant.BroadcastStrictAsStrong, "", 100),
	in("broadcast", mutant.BroadcastEarlyRelease, "", 100),
	in("broadcast", mutant.BroadcastTimedAsTotal, "timed", 100),
	in("broadcast", mutant.BroadcastTotalOvertakes, "FIFO", 100),
	in("broadcast", mutant.BroadcastOrderMinority, "quorum", 100),
	in("broadcast", mutant.BroadcastNoFill, "", 100),
	in("broadcast-slow", mutant.BroadcastSlowAcks, "memory", 20),
	in("broadcast-cut", mutant.BroadcastKeepStability, "", 10),
	{Mutant: mutant.BroadcastPromiseUnsent, Package: "broadcast", Test: "TestPromiseUnsentIsNoticed"},
	{Mutant: mutant.BroadcastRoleAlwaysMoves, Package: "broadcast", Test: "TestARoleThatAlwaysMovesIsNoticed"},
	{Mutant: mutant.BroadcastQuietDecisions, Package: "broadcast", Test: "TestQuietDecisionsAreNoticed"},

	in("state", mutant.ReplicaKeepLabel, "", 300),
	in("state", mutant.ReplicaDropQueued, "", 300),
	in("state", mutant.ReplicaApplyUnsettled, "", 300),
	in("state", mutant.ReplicaReportOfAnyView, "", 1000),
	in("state", mutant.ReplicaPendingHolds, "", 300),
	in("state-quorum", mutant.ReplicaMergeMinority, "line", 300),
	by("broadcast/replica", mutant.ReplicaForgetTentative),
	in("state-quorum", mutant.ReplicaForgetDiscarded, "", 600),
	by("broadcast/replica", mutant.ReplicaResumeAnything),
	in("state-tight", mutant.ReplicaEndlessQueue, "queue", 300),
	by("broadcast/replica", mutant.ReplicaQueueFromBegin),
	in("state", mutant.ReplicaSnapshotLate, "", 300),
	by("broadcast/replica", mutant.ReplicaDropEarly),
	by("broadcast/replica", mutant.ReplicaNoWindow),
	by("broadcast/replica", mutant.ReplicaNoRate),
	in("state", mutant.ReplicaKeepRefused, "", 300),
	in("state", mutant.ReplicaLocalMerge, "", 300),
	in("state", mutant.ReplicaMergeOwnFirst, "", 300),
	by("broadcast/replica", mutant.ReplicaSilentDivergence),
	in("state-quorum", mutant.ReplicaRankUnsettled, "", 1000),
	by("broadcast/replica", mutant.ReplicaAnyHolderFirst),
	in("state-quorum", mutant.ReplicaPendingLasts, "lasting", 1000),
	in("state-quorum", mutant.ReplicaTransitionalLasts, "lasting", 1000),
	in("state", mutant.ReplicaSilentSkip, "owed", 300),
	in("state-quorum", mutant.ReplicaBarrierStateless, "lasting", 1000),

	by("internal/durable", mutant.DurableRenameUnsynced),
	by("internal/durable", mutant.DurableDirUnsynced),

	by("leader/edict", mutant.EdictFirstVoter),
	by("leader/edict", mutant.EdictClockAcrossBoots),
	by("leader/edict", mutant.EdictZeroCounts),
	by("leader/edict", mutant.EdictCountIgnored),
	by("leader/edict", mutant.EdictAnyPayload),
	by("leader/edict", mutant.EdictObeyIncomparable),
	by("leader/edict/fence", mutant.FenceObeyFirst),

	by("leader/epoch", mutant.EpochVoteWedged),
	by("leader/epoch", mutant.EpochWedgeBound),
	by("leader/epoch", mutant.EpochCountAnyWedge),
	by("leader/epoch", mutant.EpochForgetLatest),
	by("leader/epoch", mutant.EpochNoteOld),
	by("leader/epoch", mutant.EpochReportUnwritten),
	by("leader/epoch", mutant.EpochEnterUnwedged),

	{Mutant: mutant.ReadRawLast, Package: "internal/hwclock", Test: "TestReadingRAWLastIsNoticed"},
	{Mutant: mutant.SnapshotOnce, Package: ".", Test: "TestRaceNoticesSnapshotOnce"},

	by("clocksync/clockbound", mutant.SegmentNeverOdd),
	by("clocksync/clockbound", mutant.SegmentWrapsToZero),
	by("clocksync/clockbound", mutant.SegmentIgnoresSteps),
	by("clocksync/clockbound", mutant.SegmentBoundOfTheGuess),
	by("clocksync/ntpserver", mutant.NTPAlwaysSynchronized),
	by("clocksync/ntpserver", mutant.NTPRoundsDown),
	by("clocksync/ntpserver", mutant.NTPAnswersAnything),
	by("clocksync/ntpserver", mutant.NTPWithoutLimit),
	{Mutant: mutant.ReplicaUnconfirmed, Package: ".", Test: "TestLinearizabilityNoticesUnconfirmed"},
	{Mutant: mutant.ReplicaAnyBarrier, Package: ".", Test: "TestLinearizabilityNoticesAnyBarrier"},
}
