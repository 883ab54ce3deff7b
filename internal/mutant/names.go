package mutant

import "strconv"

// planted says of every bug what it is called, and where which rule it leaves
// out. The rules are those of docs/protocol.md, by number where they have one.
var planted = [...]struct{ name, layer, rule string }{
	None:                 {"None", "", ""},
	DelayWithoutG:        {"DelayWithoutG", "datagram", "the gap between helper and message has a sign"},
	DelayWithoutDrift:    {"DelayWithoutDrift", "datagram", "both clocks drift under the delay bound"},
	FastByHalf:           {"FastByHalf", "datagram", "fast: the whole bound is at most Δ"},
	OffsetWithoutAgeing:  {"OffsetWithoutAgeing", "datagram", "offsets widen by 2ρ with time"},
	AliveWithoutHeard:    {"AliveWithoutHeard", "datagram", "alive: heard, and being heard"},
	NotReadySaysHeard:    {"NotReadySaysHeard", "leader 8", "who is not ready says that it hears nobody"},
	OldHearing:           {"OldHearing", "datagram", "overtaken packets say nothing about hearing"},
	EchoWithoutLatest:    {"EchoWithoutLatest", "datagram", "the echo carries the newest stamp"},
	AcceptWithoutEcho:    {"AcceptWithoutEcho", "datagram", "an incarnation is accepted by a fresh echo"},
	KeepPairsOverBoot:    {"KeepPairsOverBoot", "datagram", "helpers belong to one incarnation"},
	LateRefusals:         {"LateRefusals", "datagram", "refusals count when fresh"},
	AnyRival:             {"AnyRival", "datagram", "refusals count for one rival at a time"},
	DuplicateAtOnce:      {"DuplicateAtOnce", "datagram", "a rival is one that stays"},
	NoClockFault:         {"NoClockFault", "datagram", "impossible bounds are clock faults"},
	OldStates:            {"OldStates", "stack", "an overtaken packet overwrites no newer state"},
	AnswersToOthers:      {"AnswersToOthers", "stack", "an answer to another incarnation does not count"},
	ReleaseWithoutWait:   {"ReleaseWithoutWait", "leader 1", "votes are freed after the view leases on them"},
	ReleaseOnFailedRenew: {"ReleaseOnFailedRenew", "leader 2", "a failed renewal gives nothing back"},
	KeepSupportOnRelease: {"KeepSupportOnRelease", "leader 3", "giving back forgets the votes"},
	ReleaseLateNumber:    {"ReleaseLateNumber", "leader 4", "the release has the number of before its wait"},
	OldReleaseFrees:      {"OldReleaseFrees", "leader 4", "a release frees the requests up to its number"},
	RequestNotReady:      {"RequestNotReady", "leader 5", "who is not ready does not request"},
	VoteNotReady:         {"VoteNotReady", "leader 5", "who is not ready does not vote"},
	VoteBeyondMaxLock:    {"VoteBeyondMaxLock", "leader 5", "no vote binds longer than MaxLockTime"},
	LockIgnoresBoot:      {"LockIgnoresBoot", "leader 6", "a lock is to an incarnation"},
	NoMergeExcuse:        {"NoMergeExcuse", "leader 7", "a merge does not cost the winner its lease"},
	NoRoundAfterSilence:  {"NoRoundAfterSilence", "leader 9", "after silence the next round starts at once"},
	NoLockedElsewhere:    {"NoLockedElsewhere", "leader 10", "who follows somebody out of hearing is no contender"},
	ExcuseTheDead:        {"ExcuseTheDead", "leader 11", "only a leader within hearing excuses a merge"},
	StrictExcusesSilence: {"StrictExcusesSilence", "leader", "in mode strict silence excuses nobody"},
	StrictExcusesAbsent:  {"StrictExcusesAbsent", "leader", "in mode strict a leader out of hearing is no excuse"},
	SilenceBlocks:        {"SilenceBlocks", "leader", "in mode available the silent do not block"},
	OverlappingRounds:    {"OverlappingRounds", "leader", "rounds do not overlap"},
	NoGraceAfterStall:    {"NoGraceAfterStall", "leader", "who was stopped listens first"},
	LeaseWithoutDrift:    {"LeaseWithoutDrift", "leader", "a lease is shorter than the lock by the drift"},
	SlowElections:        {"SlowElections", "leader", "elections are by fast messages"},
	VoteTwice:            {"VoteTwice", "leader", "one vote at a time"},
	VoteForAnybody:       {"VoteForAnybody", "leader", "a vote is for the best contender"},
	LeadWithoutTime:      {"LeadWithoutTime", "leader", "leases end by themselves"},
	LeadWithoutSelf:      {"LeadWithoutSelf", "leader", "a leader supports itself"},
	LockFromBoundOnly:    {"LockFromBoundOnly", "leader", "a lock starts when the request was sent, or later"},
	NewcomersDepose:      {"NewcomersDepose", "leader", "rank stable: leaders before others"},
	SilentResignation:    {"SilentResignation", "leader", "who abdicates says so"},
	RenewAfterPropose:    {"RenewAfterPropose", "membership 1", "no older view is renewed after a proposal"},
	IgnoreOvertaken:      {"IgnoreOvertaken", "membership 2", "an overtaken proposal is made anew"},
	OneProposalVar:       {"OneProposalVar", "membership 3", "own and acknowledged proposal are two"},
	OwnSequenceIgnored:   {"OwnSequenceIgnored", "membership 4", "own proposals count"},
	MembersWithoutBoot:   {"MembersWithoutBoot", "membership 5", "members are incarnations"},
	IgnoreLaterAck:       {"IgnoreLaterAck", "membership 6", "a member that went on gets another view"},
	ForgetGrants:         {"ForgetGrants", "membership 7", "leases on a view given up are waited for"},
	AckOlder:             {"AckOlder", "membership", "acknowledged proposals grow"},
	InstallForeign:       {"InstallForeign", "membership", "only acknowledged views of its own are installed"},
	KeepFlagOnAck:        {"KeepFlagOnAck", "membership", "acknowledging drops the flag"},
	CommitWithoutWait:    {"CommitWithoutWait", "membership", "those left behind are waited for"},
	CommitWithoutAcks:    {"CommitWithoutAcks", "membership", "all acknowledge before the commit"},
	NoSecondChance:       {"NoSecondChance", "membership", "one lost reply excludes nobody"},
	LeaseOfTheLeader:     {"LeaseOfTheLeader", "membership", "the smallest vote limits the lease"},
	KeepResigned:         {"KeepResigned", "membership", "a late confirmation frees no later lease"},
	DroppedOfAnyView:     {"DroppedOfAnyView", "membership", "a confirmation counts for its view"},
	RenewResigned:        {"RenewResigned", "membership", "a resigned view is over"},
	ViewLeaseFromNow:     {"ViewLeaseFromNow", "membership", "a lease counts from its sending"},
	RenewForgottenView:   {"RenewForgottenView", "membership", "a view ends with the lead"},
	LineageOfTheLeader:   {"LineageOfTheLeader", "membership", "a member's lineage is its own"},
	ProposalWithLineage:  {"ProposalWithLineage", "membership", "proposals carry no lineage"},
	LineageUnwritten:     {"LineageUnwritten", "stack", "the wire keeps the lineage"},
	ClockWithoutAgeing:   {"ClockWithoutAgeing", "clocksync", "deviations grow with time"},
	ClockNoHalfWidth:     {"ClockNoHalfWidth", "clocksync", "the width of the offset counts"},
	HoldoverWithoutSlew:  {"HoldoverWithoutSlew", "clocksync", "a late leader may slew"},
	ClockBackwards:       {"ClockBackwards", "clocksync", "corrections slew"},
	ForgetTimelines:      {"ForgetTimelines", "clocksync", "a timeline that comes back shows no less"},
	SilentAdoption:       {"SilentAdoption", "clocksync", "an event tells the change of a timeline"},
	OneTimeline:          {"OneTimeline", "clocksync", "each lead has a timeline of its own"},
	LeaderJumps:          {"LeaderJumps", "clocksync", "a new leader goes on with what it shows"},
	ReadRawLast:          {"ReadRawLast", "hwclock", "RAW is read before the other clocks"},
	SnapshotOnce:         {"SnapshotOnce", "readers", "the snapshot is loaded twice"},
}

// String returns the name of the planted bug.
func (id ID) String() string {
	if id >= 0 && int(id) < len(planted) {
		return planted[id].name
	}
	return "mutant " + strconv.Itoa(int(id))
}

// Layer returns the layer of the rule, and its number there if it has one.
func (id ID) Layer() string { return planted[id].layer }

// Rule returns the rule that the bug leaves out.
func (id ID) Rule() string { return planted[id].rule }
