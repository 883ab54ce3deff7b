package mutant

import "strconv"

var names = [...]string{
	None:                 "None",
	DelayWithoutG:        "DelayWithoutG",
	DelayWithoutDrift:    "DelayWithoutDrift",
	AliveWithoutHeard:    "AliveWithoutHeard",
	NotReadySaysHeard:    "NotReadySaysHeard",
	AcceptWithoutEcho:    "AcceptWithoutEcho",
	KeepPairsOverBoot:    "KeepPairsOverBoot",
	ReleaseWithoutWait:   "ReleaseWithoutWait",
	ReleaseOnFailedRenew: "ReleaseOnFailedRenew",
	KeepSupportOnRelease: "KeepSupportOnRelease",
	ReleaseLateNumber:    "ReleaseLateNumber",
	RequestNotReady:      "RequestNotReady",
	LockIgnoresBoot:      "LockIgnoresBoot",
	NoMergeExcuse:        "NoMergeExcuse",
	NoRoundAfterSilence:  "NoRoundAfterSilence",
	ExcuseTheDead:        "ExcuseTheDead",
	OldStates:            "OldStates",
	AnswersToOthers:      "AnswersToOthers",
	NoLockedElsewhere:    "NoLockedElsewhere",
	LeaseWithoutDrift:    "LeaseWithoutDrift",
	SlowElections:        "SlowElections",
	VoteTwice:            "VoteTwice",
	LeadWithoutTime:      "LeadWithoutTime",
	LockFromBoundOnly:    "LockFromBoundOnly",
	VoteNotReady:         "VoteNotReady",
	RenewAfterPropose:    "RenewAfterPropose",
	IgnoreOvertaken:      "IgnoreOvertaken",
	IgnoreLaterAck:       "IgnoreLaterAck",
	OneProposalVar:       "OneProposalVar",
	OwnSequenceIgnored:   "OwnSequenceIgnored",
	MembersWithoutBoot:   "MembersWithoutBoot",
	KeepFlagOnAck:        "KeepFlagOnAck",
	CommitWithoutWait:    "CommitWithoutWait",
	CommitWithoutAcks:    "CommitWithoutAcks",
	NoSecondChance:       "NoSecondChance",
	KeepResigned:         "KeepResigned",
	ViewLeaseFromNow:     "ViewLeaseFromNow",
	RenewForgottenView:   "RenewForgottenView",
	ClockWithoutAgeing:   "ClockWithoutAgeing",
	ClockNoHalfWidth:     "ClockNoHalfWidth",
	ClockBackwards:       "ClockBackwards",
	ReadRawLast:          "ReadRawLast",
	SnapshotOnce:         "SnapshotOnce",
}

// String returns the name of the planted bug.
func (id ID) String() string {
	if id >= 0 && int(id) < len(names) {
		return names[id]
	}
	return "mutant " + strconv.Itoa(int(id))
}
