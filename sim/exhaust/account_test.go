package exhaust

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/failaware/failaware/internal/mutant/planted"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// A kill names the check that notices a planted bug, and the search.
type kill struct {
	id    string
	check string
	opt   Options
}

func from(s Start, depth int) Options { return Options{Depth: depth, Starts: []Start{s}} }

func three(s Start, depth, faults int) Options {
	return Options{Nodes: 3, Depth: depth, Faults: faults, Starts: []Start{s}}
}

func (o Options) strictly() Options { o.Mode = leader.Strict; return o }
func (o Options) byID() Options     { o.RankBy = leader.ByID; return o }

func stalling(o Options) Options { o.Stalls, o.Rates = 1, Nominal; return o }

func resigning(o Options) Options { o.Resigns = 1; return o }

// badClocks are clocks so bad that their drift in one lease is above a tick.
func badClocks() timed.Timing {
	t := timed.LAN()
	t.MaxDrift, t.FastThreshold = timed.MaxDrift, 14*time.Millisecond
	t.LockTime, t.MaxLockTime = 95*time.Millisecond, 95*time.Millisecond
	return t
}

var kills = []kill{
	{"DelayWithoutG", "delay", from(Led, 8)},
	{"DelayWithoutDrift", "clock", from(Led, 2)},
	{"FastByHalf", "fast", from(Led, 4)},
	{"OffsetWithoutAgeing", "offset", from(Led, 2)},
	{"AliveWithoutHeard", "alive", from(Apart, 4)},
	{"NotReadySaysHeard", "ready", from(Cold, 6)},
	{"AcceptWithoutEcho", "accept", Options{Depth: 8, Faults: 1, Stalls: 1, Starts: []Start{Cold}}},
	{"DuplicateAtOnce", "id", Options{Depth: 16, Faults: 2, Crashes: 1}},

	{"TurnsOfTheMiss", "M4", Options{Nodes: 3, Depth: 16, Faults: 1, Crashes: 1, Starts: []Start{Led}}},
	{"TurnsOfTheLast", "M4", Options{Nodes: 3, Depth: 16, Faults: 1, Crashes: 1, Starts: []Start{Led}}},
	{"ReleaseWithoutWait", "M4", three(Challenged, 14, 2)},
	{"ReleaseOnFailedRenew", "SO", three(Challenged, 16, 2)},
	{"KeepSupportOnRelease", "liveness", stalling(three(Led, 24, 2).strictly().byID())},
	{"ReleaseLateNumber", "SO", Options{Depth: 60, Faults: 3, Starts: []Start{Apart}}.strictly()},
	{"OldReleaseFrees", "M4", Options{Depth: 60, Faults: 3, Starts: []Start{Apart}}.strictly()},
	{"OwesNothing", "M4", resigning(three(Led, 16, 1))},
	{"InheritedLeftBehind", "M4", resigning(stalling(three(Led, 20, 2)))},
	{"RequestNotReady", "SO", Options{Depth: 4, Crashes: 1, Starts: []Start{Led}}},
	{"VoteTwice", "SO", from(Led, 8)},
	{"LeadWithoutTime", "SO", from(Led, 2)},
	{"LeadWithoutSelf", "LS", from(Led, 2)},
	{"LockFromBoundOnly", "SO", from(Led, 2)},
	{"LeaseWithoutDrift", "SO", Options{Depth: 8, Timing: badClocks()}},

	{"RenewAfterPropose", "liveness", from(Apart, 8)},
	{"CommitWithoutWait", "M4", three(Challenged, 20, 2).byID()},
	{"CommitWithoutAcks", "liveness", Options{Depth: 40, Faults: 2, Starts: []Start{Apart}}},
	{"NoSecondChance", "M6", from(Led, 2)},
	{"LeaseOfTheLeader", "M4", from(Led, 2)},
	{"InstallForeign", "M2", three(Challenged, 20, 2).byID()},
	{"ViewLeaseFromNow", "M4", three(Challenged, 18, 2).strictly().byID()},
	{"OwnSequenceIgnored", "M3", stalling(Options{Depth: 16, Faults: 1, Starts: []Start{Apart}})},
	{"KeepFlagOnAck", "M4", three(Challenged, 20, 2).byID()},
	{"RenewForgottenView", "M4", from(Apart, 6)},

	{"ClockWithoutAgeing", "deviation", from(Led, 2)},
	{"ClockNoHalfWidth", "deviation", from(Led, 2)},
	{"ClockBackwards", "monotone", from(Led, 2)},
}

// survivors are the bugs that this model was not seen to find, and why.
var survivors = map[string]string{
	"VoteBeyondMaxLock":   "all nodes have the same settings",
	"NoClockFault":        "all clocks keep ρ",
	"FaultForEver":        "all clocks keep ρ",
	"RelearnOldPairs":     "all clocks keep ρ",
	"RelearnUnproven":     "all clocks keep ρ",
	"SilentDistrust":      "all clocks keep ρ",
	"TwinsAtOnce":         "packets have no counters",
	"KeepPairsOverBoot":   "a restarted node keeps its hardware clock, with which old pairs are right",
	"EqualStampIsOld":     "costs availability only",
	"FaultsCountForEver":  "all clocks keep ρ",
	"ForwardsTheNewLate":  "there are no references",
	"ForwardedToAnyBoot":  "there are no references",
	"BendJustOver":        "without references no leader announces a rate",
	"WaitStaysDue":        "costs time only",
	"OldHearing":          "fast messages all take one tick, so that none overtakes another",
	"LateRefusals":        "one restart causes refusals for too short a time, late ones included",
	"AnyRival":            "needs several restarts, and refusals because of each that follow one another for long",
	"LineOutOfReach":      "no time is near the end of its range",
	"HoldoverIgnoresRate": "without references no leader announces a rate",
	"HoldoverWithoutSlew": "a timeline goes on as its line says, also when its leader has left it",
	"ExcuseTheDead":       "needs connectivity that is not transitive and lasts",
	"NoLockedElsewhere":   "needs connectivity that is not transitive and lasts",
	"AnswersToOthers":     "needs packets of a dead incarnation and a third node to answer them",

	"NoMergeExcuse":        "costs availability only; the groups come to rest in time",
	"NoRoundAfterSilence":  "costs availability only",
	"SilenceBlocks":        "costs availability only; who is silent is not alive for long",
	"AuditOfOpenRound":     "needs nodes with unequal lock times",
	"OwnLockShortened":     "needs nodes with unequal lock times",
	"GlobalRevived":        "needs nodes with unequal lock times",
	"HandedShortened":      "needs nodes with unequal lock times",
	"HandedOwnShortened":   "needs nodes with unequal lock times",
	"LinePromiseShortened": "needs nodes with unequal lock times",
	"NoGraceAfterStall":    "costs availability only",
	"LateBlocks":           "costs availability only",
	"LateForEver":          "costs availability only",
	"LateUntold":           "costs availability only",
	"NewcomersDepose":      "costs availability only",
	"HandOverOnce":         "costs availability only",
	"NothingHanded":        "costs availability only",
	"SilentResignation":    "costs availability only",
	"VoteForAnybody":       "costs availability only",

	"StrictExcusesSilence": "BI is not checked",
	"StrictExcusesAbsent":  "BI is not checked",
	"LineageOfTheLeader":   "lineages are checked for being the same everywhere, as they are",
	"SilentAdoption":       "nobody but the application needs the event",
	"LeaderJumps":          "monotony is checked on one timeline only",

	"EchoWithoutLatest":   "not found in the searches that were tried; the simulator needs 38 worlds",
	"OldStates":           "not found in the searches that were tried; the simulator has a scenario",
	"VoteNotReady":        "not found in the searches that were tried; the simulator has a scenario",
	"LockIgnoresBoot":     "not found in the searches that were tried; the test is in package leader",
	"OverlappingRounds":   "not found in the searches that were tried",
	"SlowElections":       "not found in the searches that were tried",
	"IgnoreOvertaken":     "not found in the searches that were tried; the simulator has a scenario",
	"OneProposalVar":      "not found in the searches that were tried",
	"MembersWithoutBoot":  "not found in the searches that were tried",
	"IgnoreLaterAck":      "not found in the searches that were tried; the simulator has a scenario",
	"ForgetGrants":        "not found in the searches that were tried; the simulator has a scenario",
	"AckOlder":            "not found in the searches that were tried; the simulator needs 84 worlds",
	"DroppedByAnyBoot":    "not searched for; the test is in package membership",
	"ProposalLosesMember": "not searched for; the test is in package membership",
	"InstalledOfTheLead":  "not searched for; the test is in package membership",
	"KeepResigned":        "not found in the searches that were tried; the simulator has a scenario",
	"DroppedOfAnyView":    "not found in the searches that were tried; the simulator has a scenario",
	"RenewResigned":       "not found in the searches that were tried; the simulator needs 48 worlds",
	"ForgetTimelines":     "not found in the searches that were tried; the test is in package clocksync",
	"OneTimeline":         "not found in the searches that were tried",

	"SuccessorIgnored":    "nobody names a successor",
	"SuccessorRemembered": "nobody names a successor",
	"StepDownForLong":     "nobody names a successor",

	"DefersNever":        "costs availability only",
	"DefersTogether":     "costs availability only",
	"DefersBriefly":      "costs availability only",
	"DefersForEver":      "costs a node availability that no bound promises",
	"DefersAgain":        "costs availability only",
	"DefersForStrangers": "costs availability only",
	"DefersForWorse":     "costs availability only",
	"DefersForAll":       "costs availability only",
	"TurnsOfTheVote":     "costs availability only",
	"TurnsOfAnyMiss":     "costs availability only",

	"CandidateStays":       "costs availability only",
	"UnfitAsks":            "all nodes have the same settings",
	"ReadyByLockTime":      "all nodes have the same settings",
	"ClockUnannounced":     "no check demands that a leader's clock is followed within the depth",
	"SuspicionRemembered":  "not searched for; the test is in package datagram",
	"SettingsUnchecked":    "not searched for; the test is in package internal/wire",
	"SettingsUnpadded":     "not searched for; the test is in package internal/wire",
	"RefusersAccept":       "not searched for; the test is in package datagram",
	"FirstContenderOnly":   "not searched for; the test is in package leader",
	"DeadLeaderIsHeard":    "not searched for; the test is in package leader",
	"ForgottenReplyCounts": "not searched for; the test is in package leader",
	"GrantShortened":       "not searched for; the test is in package leader",
	"RequestsRepeat":       "not searched for; the test is in package leader",

	"UTCWithoutAgeing":       "there are no references of UTC",
	"ForwardedWithoutOffset": "there are no references of UTC",
	"LargestOverlap":         "there are no references of UTC",
	"IntersectPerNode":       "there are no references of UTC",
	"TooFewReferences":       "there are no references of UTC",
	"ExternalAroundLeap":     "there are no references of UTC",
	"SilentFalsetickers":     "there are no references of UTC",
	"BendAtOnce":             "there are no references of UTC",
	"BendForeseenExactly":    "there are no references of UTC",
	"JudgeIgnoresUTC":        "there are no references of UTC",
	"ContradictedSample":     "there are no references of UTC",
	"CurvesAsLines":          "there are no references of UTC",
	"FalsetickersSteer":      "there are no references of UTC",
	"UTCSkipsWidth":          "there are no references of UTC",
	"HoldoverIgnoresBend":    "there are no references of UTC",
	"ForwardedAge":           "there are no references of UTC",
	"ReferenceOfTheRepeat":   "there are no references of UTC",
	"LeapWithoutDrift":       "there are no references of UTC",
	"LeaderCombinesLate":     "there are no references of UTC",

	"ViewsForgotten":    "an incarnation begins without what the one before knew",
	"AuditUnheard":      "the other checks do not need the audits",
	"AuditSendsOn":      "the first broken invariant ends the search",
	"AuditForgetsVotes": "audits do not compare states that are loaded",
	"AuditForgetsViews": "audits do not compare states that are loaded",

	"DisputesSteer":     "there are no references of UTC",
	"UTCInvalid":        "there are no references of UTC",
	"ForwardedFuture":   "there are no references of UTC",
	"LineBendsTooFar":   "there are no references of UTC",
	"BendAtTheWrongEnd": "there are no references of UTC",
	"SleepUnseen":       "not in the stack: internal/hwclock",
	"GlobalLostTwice":   "there is no quorum system",
	"QuietNews":         "quiet packets wake their receivers",
	"QuietStranger":     "quiet packets wake their receivers",
	"QuietHurried":      "quiet packets wake their receivers",
	"QuietSlow":         "quiet packets wake their receivers",
	"QuietUngathered":   "quiet packets wake their receivers",
	"QuietLate":         "quiet packets wake their receivers",
	"QuietStays":        "quiet packets wake their receivers",

	"VersionsNewest":        "all nodes are of one build",
	"VersionsForEver":       "all nodes are of one build",
	"VersionsGreetNew":      "all nodes are of one build",
	"VersionsQuiet":         "all nodes are of one build",
	"VersionsOfTheDead":     "all nodes are of one build",
	"TwinsUnseen":           "packets have no counters",
	"TimersInTheBatch":      "packets do not wait in sockets",
	"KeepalivesInTheBatch":  "packets do not wait in sockets",
	"LateUnnoticed":         "costs availability only",
	"LateInTheQueue":        "packets do not wait in sockets",
	"LateLeaderDrops":       "costs availability only",
	"LineOfAnyLeader":       "costs accuracy only; the search does not look at events",
	"PromiseToTheLatest":    "the offsets of the model's clocks are known",
	"DistrustSilently":      "the search does not look at events",
	"ProposalWithLineage":   "packets are not encoded",
	"LineageUnwritten":      "packets are not encoded",
	"DamageUnseen":          "packets are not encoded",
	"WirePieceBeyond":       "packets are not encoded",
	"WireWantTurned":        "packets are not encoded",
	"WireNumberWraps":       "packets are not encoded",
	"ReadRawLast":           "not in the stack: internal/hwclock",
	"SnapshotOnce":          "not in the stack: the root package",
	"RequestsFromTheFuture": "packets are not damaged",

	"LeaseWithoutGranules": "clocks have no steps",
	"FaultBySteps":         "clocks have no steps",
	"RelearnOnce":          "clocks do not jump",
	"SeparationCut":        "clocks do not jump",
	"DistrustHeardOnce":    "clocks do not jump",
	"RefusalOutlivesPeer":  "no peer is removed",
	"PassedOnOfAnyBoot":    "too few peers to pass on signs of life",
	"RelayedRefusalHeard":  "too few peers to collate replies",
	"RefusalRelayed":       "too few peers to collate replies",
	"RemovedRemembered":    "no peer is removed",
	"QuorumOfTheDead":      "nodes have no quorum system",
	"UnnamedQuorum":        "nodes have no quorum system",
	"ChallengeOvertaken":   "fast messages all take one tick, so that none overtakes another",
	"BoundBelowLeast":      "clocks have no steps",
	"DirectEndsIndirect":   "too few peers to pass on signs of life",
	"UnprovenTakesPlace":   "clocks do not jump",
	"SentBeforeByUnproven": "clocks do not jump",
	"GivenUpVotesKept":     "no search was tried; the test is in package leader",
	"SuccessorOfAnyLead":   "no search was tried; the test is in package leader",
	"FormerNotLeftBehind":  "no search was tried; the test is in package membership",
	"HandedForGood":        "not found in the searches that were tried; the simulator needs 8 worlds",
	"HandOverNewer":        "not found in the searches that were tried; the test is in package leader",
	"HandOverByAnybody":    "no search was tried; the test is in internal/stack",
	"ConfirmedInherited":   "no search was tried; the test is in package membership",
	"LineageGrows":         "no search was tried; the simulator needs one world",
	"FarewellsPushedOut":   "no search was tried; the test is in package clocksync",
	"ChallengerUnproven":   "no search was tried; the test is in package datagram",
	"SentAfterReceipt":     "no search was tried; the test is in package datagram",
	"LastFastSetBack":      "no search was tried; the test is in package datagram",
	"TwinsBlameClocks":     "packets have no counters",
	"TwinsAreFaults":       "packets have no counters",
	"AnswersBindGlobally":  "nobody asks who leads",
	"RefusalBesideSupport": "no search was tried; the test is in package leader",
	"SupportBesideRefusal": "no search was tried; the test is in package leader",
	"SilentRivalExcused":   "no search was tried; the test is in package leader",
	"RefusalsForgotten":    "no search was tried; the test is in package leader",
	"StepDownForEver":      "no search was tried; the test is in package leader",
	"HeirOfOpenVotes":      "no search was tried; the test is in package leader",
	"HeirOwesTheLast":      "no search was tried; the test is in package leader",
	"DistrustHandsOver":    "no search was tried; the test is in internal/stack",
	"ViewGrantShortened":   "no search was tried; the test is in package membership",
	"HoldGloballyAsLocal":  "nodes have no quorum system",
	"UntrustedClaims":      "no search was tried; the test is in package internal/stack",
	"LeapOnlyOfKnownUTC":   "there are no references of UTC",
	"LeapOverForwarded":    "there are no references of UTC",
	"LeapHeardNotKept":     "there are no references of UTC",
	"UTCOutOfReach":        "there are no references of UTC",
	"EarliestOverflows":    "the numbers of a search are small",
	"WordAcrossAFault":     "nodes are of a version without the leader's word",
	"ContradictionAged":    "no search was tried; the test is in package datagram",
	"EpochWedgedByWord":    "nodes have no quorum system",
	"EpochReportsMixed":    "nodes have no quorum system",
	"EpochCountsOfOthers":  "nodes have no quorum system",
	"WireProposalAnswered": "packets are not encoded",
	"SettledLater":         "no incarnation is tentative",
	"EpochProposesLater":   "nodes have no quorum system",
	"GreetLater":           "no peer is added",
	"ForgetsLater":         "no peer is removed",
	"CollatedForAnyBoot":   "too few peers to collate replies",
	"RefusesEachTime":      "costs packets only",
	"StampWithoutFrame":    "nodes have no quorum system",
	"DeafIsSilent":         "the search does not look at events",

	"AnsweredByOne":         "nodes are of a version without the leader's word",
	"VouchedFromReceipt":    "nodes are of a version without the leader's word",
	"VouchedForAnotherView": "nodes are of a version without the leader's word",
	"SparesNews":            "nodes are of a version without the leader's word",
	"SparesOlderBuilds":     "nodes are of a version without the leader's word",
	"SparesOnOldWord":       "nodes are of a version without the leader's word",
	"OlderVersionByWord":    "nodes are of a version without the leader's word",
	"WordForTheDeaf":        "nodes are of a version without the leader's word",
	"SparesTheDeaf":         "nodes are of a version without the leader's word",

	"ExchangeTurned":      "there are no references of UTC",
	"ExchangeBackwards":   "there are no references of UTC",
	"OrderByDeviation":    "there are no references of UTC",
	"FalsetickerSteersOn": "there are no references of UTC",
	"SampleCountsAgain":   "there are no references of UTC",
	"ForwardsOfOthers":    "there are no references of UTC",
	"OldSamplesSteer":     "there are no references of UTC",
	"BendReplaced":        "there are no references of UTC",
	"NewLineOwes":         "there are no references of UTC",
	"EarlierIsNarrower":   "the search reads clocks after the evidence only",
	"WireAnsweredAfter":   "packets are not encoded",
	"WireMemberTwice":     "packets are not encoded",
	"WireTailOverLength":  "packets are not encoded",
	"WireTreeOfNobody":    "packets are not encoded",

	"CommitWithoutLease":      "no search was tried; the test is in package membership",
	"ConfirmationsKept":       "no search was tried; the test is in package membership",
	"ReportsAcknowledged":     "no search was tried; the simulator needs a few worlds",
	"AcknowledgedIsInstalled": "no search was tried; the simulator needs a few worlds",
	"HandedToAnyBoot":         "no search was tried; the test is in package leader",
	"HandOverYoung":           "late messages of the search are slow",
	"HandedAtItsEnd":          "no search was tried; the test is in package leader",
	"RenewalCut":              "no search was tried; the test is in package leader",
	"StepDownBriefly":         "costs availability only",
	"SaysItLeadsStill":        "no search was tried; the test is in package leader",
	"VoteForgotten":           "costs availability only",
	"StepDownAndAsk":          "costs availability only",
	"AcceptedForEver":         "no search was tried; the test is in package datagram",
	"OldRefusalsAddUp":        "no search was tried; the test is in package datagram",
	"EchoDiverted":            "no search was tried; the test is in package datagram",
	"EchoOfNothing":           "packets have no counters",
	"ChallengersMixed":        "no search was tried; the test is in package datagram",
	"NewPeerWaits":            "no peer is added",
	"QuietUnasked":            "quiet packets wake their receivers",
	"LateBefore":              "costs availability only",
	"AcceptedIsKnown":         "nodes have no quorum system",
	"VouchedAhead":            "nodes are of a version without the leader's word",
	"WordOfAnyBuild":          "all nodes are of one build",
	"LeavesLoudly":            "costs packets only",
	"LeftBound":               "costs availability only",
	"SharedAlone":             "costs accuracy only",

	"HoldoverOfTheLongest":  "nobody reads the clock of a leader in holdover",
	"SlewIgnoresRate":       "costs accuracy only",
	"LeadersDisputeUnheard": "there are no references of UTC",
	"LeapByTheEarliest":     "there are no references of UTC",
	"OldSamplesFit":         "there are no references of UTC",
	"OwnFarewells":          "no search was tried; the test is in package clocksync",
	"NamedForEver":          "costs availability only",
	"SettlesDeaf":           "no incarnation is tentative",
	"SuccessorInTime":       "costs availability only",
	"EchoOfTheFuture":       "packets are not damaged",
	"SilentCountAsHeard":    "all clocks keep ρ",
	"ChallengersVersion":    "all nodes are of one build",
	"LeavesForAWhile":       "no node leaves for good",
	"KeepaliveNotSent":      "there is no driver",
	"SamplesOfAnotherTime":  "there are no references of UTC",
	"LeapUnforwarded":       "there are no references of UTC",
	"NewsWithoutBound":      "nothing rests on the bound in an event",
	"NewsOfNobody":          "nothing rests on the incarnation in an event",
	"NewsWithoutReason":     "nothing rests on the reason in an event",
	"RenewsTooOften":        "costs packets only",
	"EarlyAgain":            "costs packets only",
	"SilenceWaitsAPeriod":   "the search does not look at periods",
	"AlarmOfTwoRounds":      "the search does not look at periods",
	"CommitsAgainLate":      "the search does not look at periods",
	"HelloSeldom":           "the search does not look at periods",
	"IndirectTooSeldom":     "nodes are of a version without the leader's word",
	"KeepalivesLate":        "the search does not look at periods",
	"WordForHalfThePeriod":  "nodes are of a version without the leader's word",
	"WiderThanTheOffset":    "costs accuracy only",
	"RivalByLatePackets":    "nobody has the id of another",
	"RivalOfAnyEcho":        "nobody has the id of another",
	"RivalWithoutWait":      "nobody has the id of another",
	"RivalUnseen":           "nobody has the id of another",
	"LateReplyUnread":       "no search was tried; the test is in package internal/stack",
	"ResignedOlder":         "no search was tried; the test is in package membership",
	"ResignedUninstalled":   "no search was tried; the test is in package membership",
	"CommitWithoutMember":   "packets are not damaged",
}

// absent are the beginnings of the names of layers that nodes of the model are
// without: they do not broadcast, have no quorum system, no files, no restarts that
// internal/life decides on, too few peers to collate replies, no addresses, no keys, and no
// loop, answer no readers, and tell no other program the time.
var absent = []string{"broadcast", "replica", "kv", "library", "leader global", "leader stamps", "leader verify", "epoch", "edict", "fence",
	"durable", "life", "program", "collation", "ntpserver", "clockbound", "serve", "introductions", "admit", "journal", "loop",
	"readers", "session"}

func TestEveryMutantIsAccountedFor(t *testing.T) {
	for _, m := range planted.All() {
		if slices.ContainsFunc(absent, func(layer string) bool { return strings.HasPrefix(m.Layer, layer) }) {
			continue
		}
		killed := slices.ContainsFunc(kills, func(k kill) bool { return k.id == m.Name })
		_, survives := survivors[m.Name]
		assert.NotEqual(t, killed, survives, "%s must be either killed or explained", m.Name)
	}
}
