//go:build mutants

package exhaust

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// A kill says which check notices a planted bug, and in which search.
type kill struct {
	id    mutant.ID
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

// badClocks are clocks so bad that their drift in one lease is above a tick.
func badClocks() timed.Timing {
	t := timed.LAN()
	t.MaxDrift, t.FastThreshold = timed.MaxDrift, 14*time.Millisecond
	t.LockTime, t.MaxLockTime = 95*time.Millisecond, 95*time.Millisecond
	return t
}

var kills = []kill{
	{mutant.DelayWithoutG, "delay", from(Led, 8)},
	{mutant.DelayWithoutDrift, "clock", from(Led, 2)},
	{mutant.FastByHalf, "fast", from(Led, 4)},
	{mutant.OffsetWithoutAgeing, "clock", from(Led, 2)},
	{mutant.AliveWithoutHeard, "alive", from(Apart, 4)},
	{mutant.NotReadySaysHeard, "ready", from(Cold, 6)},
	{mutant.AcceptWithoutEcho, "accept", Options{Depth: 8, Faults: 1, Stalls: 1, Starts: []Start{Cold}}},
	{mutant.DuplicateAtOnce, "id", Options{Depth: 16, Faults: 2, Crashes: 1}},

	{mutant.ReleaseWithoutWait, "M4", three(Challenged, 14, 2)},
	{mutant.ReleaseOnFailedRenew, "SO", three(Challenged, 16, 2)},
	{mutant.KeepSupportOnRelease, "liveness", stalling(three(Led, 24, 2).strictly().byID())},
	{mutant.ReleaseLateNumber, "SO", Options{Depth: 60, Faults: 3, Starts: []Start{Apart}}.strictly()},
	{mutant.OldReleaseFrees, "M4", Options{Depth: 60, Faults: 3, Starts: []Start{Apart}}.strictly()},
	{mutant.RequestNotReady, "SO", Options{Depth: 4, Crashes: 1, Starts: []Start{Led}}},
	{mutant.VoteTwice, "SO", from(Led, 8)},
	{mutant.LeadWithoutTime, "SO", from(Led, 2)},
	{mutant.LeadWithoutSelf, "LS", from(Led, 2)},
	{mutant.LockFromBoundOnly, "SO", from(Led, 2)},
	{mutant.LeaseWithoutDrift, "SO", Options{Depth: 8, Timing: badClocks()}},

	{mutant.RenewAfterPropose, "liveness", from(Apart, 8)},
	{mutant.CommitWithoutWait, "M4", three(Challenged, 20, 2).byID()},
	{mutant.CommitWithoutAcks, "liveness", Options{Depth: 40, Faults: 2, Starts: []Start{Apart}}},
	{mutant.NoSecondChance, "M6", from(Led, 2)},
	{mutant.LeaseOfTheLeader, "M4", from(Led, 2)},
	{mutant.InstallForeign, "M2", three(Challenged, 20, 2).byID()},
	{mutant.ViewLeaseFromNow, "M4", three(Challenged, 18, 2).strictly().byID()},
	{mutant.OwnSequenceIgnored, "M3", stalling(Options{Depth: 16, Faults: 1, Starts: []Start{Apart}})},
	{mutant.KeepFlagOnAck, "M4", three(Challenged, 20, 2).byID()},
	{mutant.RenewForgottenView, "M4", from(Apart, 6)},

	{mutant.ClockWithoutAgeing, "deviation", from(Led, 2)},
	{mutant.ClockNoHalfWidth, "deviation", from(Led, 2)},
	{mutant.ClockBackwards, "monotone", from(Led, 2)},
}

// survivors are the bugs that this model was not seen to find, and why.
var survivors = map[mutant.ID]string{
	mutant.VoteBeyondMaxLock:   "all nodes have the same settings",
	mutant.NoClockFault:        "all clocks keep ρ",
	mutant.KeepPairsOverBoot:   "a restarted node keeps its hardware clock, with which old pairs are right",
	mutant.OldHearing:          "fast messages all take one tick, so that none overtakes another",
	mutant.LateRefusals:        "one restart causes refusals for too short a time, late ones included",
	mutant.AnyRival:            "needs several restarts, and refusals because of each that follow one another for long",
	mutant.HoldoverIgnoresRate: "without references no leader announces a rate",
	mutant.HoldoverWithoutSlew: "a timeline goes on as its line says, also when its leader has left it",
	mutant.ExcuseTheDead:       "needs connectivity that is not transitive and lasts",
	mutant.NoLockedElsewhere:   "needs connectivity that is not transitive and lasts",
	mutant.AnswersToOthers:     "needs packets of a dead incarnation and a third node to answer them",

	mutant.NoMergeExcuse:       "costs availability only; the groups come to rest in time",
	mutant.NoRoundAfterSilence: "costs availability only",
	mutant.SilenceBlocks:       "costs availability only; who is silent is not alive for long",
	mutant.NoGraceAfterStall:   "costs availability only",
	mutant.NewcomersDepose:     "costs availability only",
	mutant.SilentResignation:   "costs availability only",
	mutant.VoteForAnybody:      "costs availability only",

	mutant.StrictExcusesSilence: "BI is not checked",
	mutant.StrictExcusesAbsent:  "BI is not checked",
	mutant.LineageOfTheLeader:   "lineages are checked for being the same everywhere, as they are",
	mutant.SilentAdoption:       "nobody but the application needs the event",
	mutant.LeaderJumps:          "monotony is checked on one timeline only",

	mutant.EchoWithoutLatest:  "not found in the searches that were tried; the simulator needs 38 worlds",
	mutant.OldStates:          "not found in the searches that were tried; the simulator has a scenario",
	mutant.VoteNotReady:       "not found in the searches that were tried; the simulator has a scenario",
	mutant.LockIgnoresBoot:    "not found in the searches that were tried; the test is in package leader",
	mutant.OverlappingRounds:  "not found in the searches that were tried",
	mutant.SlowElections:      "not found in the searches that were tried",
	mutant.IgnoreOvertaken:    "not found in the searches that were tried; the simulator has a scenario",
	mutant.OneProposalVar:     "not found in the searches that were tried",
	mutant.MembersWithoutBoot: "not found in the searches that were tried",
	mutant.IgnoreLaterAck:     "not found in the searches that were tried; the simulator has a scenario",
	mutant.ForgetGrants:       "not found in the searches that were tried; the simulator has a scenario",
	mutant.AckOlder:           "not found in the searches that were tried; the simulator needs 84 worlds",
	mutant.KeepResigned:       "not found in the searches that were tried; the simulator has a scenario",
	mutant.DroppedOfAnyView:   "not found in the searches that were tried; the simulator has a scenario",
	mutant.RenewResigned:      "not found in the searches that were tried; the simulator needs 48 worlds",
	mutant.ForgetTimelines:    "not found in the searches that were tried; the test is in package clocksync",
	mutant.OneTimeline:        "not found in the searches that were tried",

	mutant.SuccessorIgnored: "nobody names a successor",

	mutant.UTCWithoutAgeing:       "there are no references of UTC",
	mutant.ForwardedWithoutOffset: "there are no references of UTC",
	mutant.LargestOverlap:         "there are no references of UTC",
	mutant.IntersectPerNode:       "there are no references of UTC",
	mutant.TooFewReferences:       "there are no references of UTC",
	mutant.ExternalAroundLeap:     "there are no references of UTC",
	mutant.SilentFalsetickers:     "there are no references of UTC",
	mutant.BendAtOnce:             "there are no references of UTC",
	mutant.BendForeseenExactly:    "there are no references of UTC",
	mutant.JudgeIgnoresUTC:        "there are no references of UTC",
	mutant.ContradictedSample:     "there are no references of UTC",
	mutant.CurvesAsLines:          "there are no references of UTC",
	mutant.LiarsSteer:             "there are no references of UTC",
	mutant.UTCSkipsWidth:          "there are no references of UTC",

	mutant.TwinsUnseen:         "packets have no counters",
	mutant.ProposalWithLineage: "packets are not encoded",
	mutant.LineageUnwritten:    "packets are not encoded",
	mutant.ReadRawLast:         "not in the stack: internal/hwclock",
	mutant.SnapshotOnce:        "not in the stack: the root package",
}

// absent are the beginnings of the names of layers that nodes of the model are
// without: they do not broadcast, have no quorum system, no files, too few peers to
// collate replies, and tell no other program the time.
var absent = []string{"broadcast", "replica", "library", "leader global", "leader stamps", "leader verify", "epoch", "edict", "fence",
	"durable", "program", "collation", "ntpserver", "clockbound"}

func TestEveryMutantIsAccountedFor(t *testing.T) {
	for id := mutant.ID(1); int(id) < mutant.Count; id++ {
		if slices.ContainsFunc(absent, func(layer string) bool { return strings.HasPrefix(id.Layer(), layer) }) {
			continue
		}
		killed := slices.ContainsFunc(kills, func(k kill) bool { return k.id == id })
		_, survives := survivors[id]
		require.NotEqual(t, killed, survives, "%v must be either killed or explained", id)
	}
}

// Every bug is found, and the path to it is no violation without the bug.
func TestMutantsAreKilled(t *testing.T) {
	defer mutant.Set(mutant.None)
	for _, k := range kills {
		mutant.Set(k.id)
		r, err := Run(context.Background(), k.opt)
		require.NoError(t, err)
		v := r.Violation
		if v == nil {
			t.Errorf("mutant %v survived %d states, exhausted %v", k.id, r.States, r.Exhausted)
			continue
		}
		require.Equal(t, k.check, v.Check, "mutant %v: %s", k.id, v.Detail)
		require.NotEmpty(t, v.Steps)
		again, _, err := Replay(v.Path)
		require.NoError(t, err)
		require.Equal(t, v.Detail, again.Detail, "mutant %v: the path leads there again", k.id)
		mutant.Set(mutant.None)
		sound, _, err := Replay(v.Path)
		if err == nil { // else without the bug there is no such path
			require.Nil(t, sound, "mutant %v", k.id)
		}
		t.Logf("%v: %s after %d states, %d messages", k.id, v.Check, r.States, messages(v.Path))
	}
}

// messages returns of how many messages on a path the fate was chosen.
func messages(p Path) (n int) {
	for _, c := range p.Choices {
		n += len(c.Fates)
	}
	return n
}
