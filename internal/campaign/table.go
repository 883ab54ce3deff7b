package campaign

import (
	"slices"
	"time"

	"github.com/failaware/failaware/internal/campaign/replicated"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// Table returns the campaigns. A name describes the main trait of the worlds, and the
// differences from the usual: five nodes, mode available, rank stable, preset lan.
func Table() []Campaign {
	return slices.Concat(plain(), collated(), topologies(), clocks(), broadcasts(), lost(), quorums(), epochs(), uneven(), restless(), preempted(), coarse(), changes(), enduring(), states(), stored())
}

// Roughness of the worlds.
const (
	moderate = 2
	rough    = 4
)

var (
	tree    = leader.Collation{Above: 3, Fanout: 2}
	servers = &fault.Servers{}
	cast    = &sim.Broadcast{}
	walls   = &sim.Broadcast{WrongWalls: true}

	// loose is the preset lan for clocks that are a hundred times as bad.
	loose = timed.Timing{MaxDrift: timed.MaxDrift, OneWayTimeout: 4900 * time.Microsecond, FastThreshold: 13 * time.Millisecond,
		SchedulingDelay: 5 * time.Millisecond, ElectionPeriod: 25 * time.Millisecond, KeepalivePeriod: 25 * time.Millisecond,
		Expires: 100 * time.Millisecond, LockTime: 90 * time.Millisecond, MaxLockTime: 90 * time.Millisecond}

	// fine is a timing in which a step of the clocks is long.
	fine = timed.Timing{MaxDrift: timed.LAN().MaxDrift, OneWayTimeout: 20 * time.Microsecond, FastThreshold: 50 * time.Microsecond,
		SchedulingDelay: 15 * time.Microsecond, ElectionPeriod: 100 * time.Microsecond, KeepalivePeriod: 100 * time.Microsecond,
		Expires: 400 * time.Microsecond, LockTime: 340 * time.Microsecond, MaxLockTime: 340 * time.Microsecond}
)

// seldom are the situations that a few hundred seeds reach a few times. The
// campaigns of most seeds demand them.
var seldom = []situation.Kind{situation.RivalSeen, situation.RivalStopped, situation.TwinsFound, situation.ProposalOvertaken}

// fourfold returns a campaign in both modes and with both ranks.
func fourfold(c Campaign) (all []Campaign) {
	for _, mode := range []leader.Mode{leader.Available, leader.Strict} {
		for _, rank := range []leader.RankBy{leader.Stable, leader.ByID} {
			x := c
			x.Options.Mode, x.Options.RankBy = mode, rank
			if mode == leader.Strict {
				x.Name, x.Purpose = x.Name+"-strict", x.Purpose+", mode strict"
			}
			if rank == leader.ByID {
				x.Name, x.Purpose = x.Name+"-id", x.Purpose+", rank id"
			}
			all = append(all, x)
		}
	}
	return all
}

// plain returns the campaigns of elections, views and clocks alone.
func plain() []Campaign {
	return slices.Concat(
		fourfold(Campaign{Name: "mild", Purpose: "few faults", Check: 20, Test: 200, Long: 4, Rare: seldom}),
		fourfold(Campaign{Name: "rough", Purpose: "many faults", Options: sim.Options{Roughness: rough}, Check: 20, Test: 200, Long: 4, Rare: seldom}),
		[]Campaign{
			{Name: "moderate", Purpose: "every situation", Options: sim.Options{Roughness: moderate}, Test: 600},
			{Name: "moderate-strict", Purpose: "every situation, mode strict", Options: sim.Options{Roughness: moderate, Mode: leader.Strict}, Test: 600},
			{Name: "wire", Purpose: "all packets through the wire format", Options: sim.Options{Roughness: rough, Codec: true}, Check: 10, Long: 4},
			{Name: "local", Purpose: "preset local, wire format", Options: sim.Options{Timing: timed.Local(), Codec: true},
				Check: 5, Test: 50, Long: 4, Rare: append([]situation.Kind{situation.LeaseExpiredProposing}, seldom...)},
			{Name: "local-strict", Purpose: "preset local, mode strict",
				Options: sim.Options{Timing: timed.Local(), Mode: leader.Strict, Duration: 10 * time.Second}, Long: 4},
			{Name: "wan", Purpose: "preset wan", Options: sim.Options{Timing: timed.WAN(), Duration: 200 * time.Second},
				Check: 5, Test: 30, Long: 4, Rare: append([]situation.Kind{situation.LeaseExpiredProposing}, seldom...)},
			{Name: "wan-strict", Purpose: "preset wan, mode strict",
				Options: sim.Options{Timing: timed.WAN(), Mode: leader.Strict, Duration: 200 * time.Second}, Long: 4},
			{Name: "three-id", Purpose: "three nodes, many faults, rank id", Options: sim.Options{Nodes: 3, RankBy: leader.ByID, Roughness: rough}, Long: 4},
			{Name: "nine-id", Purpose: "nine nodes, rank id", Options: sim.Options{Nodes: 9, RankBy: leader.ByID, Roughness: moderate}, Long: 4},
			{Name: "nine-strict-id", Purpose: "nine nodes, mode strict, rank id",
				Options: sim.Options{Nodes: 9, RankBy: leader.ByID, Mode: leader.Strict, Roughness: moderate}, Long: 4},
		})
}

// collated returns the campaigns whose nodes collate replies along a tree.
func collated() []Campaign {
	return []Campaign{
		{Name: "collated", Purpose: "collated replies, many faults", Options: sim.Options{Roughness: rough, Nodes: 7, Collation: tree}, Check: 10},
		{Name: "collated-nine", Purpose: "collated replies, nine nodes", Options: sim.Options{Roughness: moderate, Nodes: 9, Collation: tree},
			Check: 5, Test: 200, Long: 4, Rare: seldom},
		{Name: "collated-nine-strict", Purpose: "collated replies, nine nodes, mode strict",
			Options: sim.Options{Roughness: moderate, Nodes: 9, Collation: tree, Mode: leader.Strict}, Check: 5, Test: 100, Rare: seldom},
		{Name: "collated-large", Purpose: "collated replies, 32 nodes, wire format",
			Options: sim.Options{Nodes: 32, Collation: leader.Collation{Above: 4, Fanout: 3}, Codec: true}, Check: 1, Test: 5,
			Rare: append([]situation.Kind{situation.LeaseExpired, situation.LeaseExpiredProposing, situation.HandedOver, situation.NobodyLeads, situation.LeaderCrashedProposing}, seldom...)},
	}
}

// topologies returns the campaigns of random connectivity that does not change.
func topologies() []Campaign {
	return slices.Concat(
		fourfold(Campaign{Name: "topology", Purpose: "still connectivity", Options: sim.Options{Nodes: 6}, Play: sim.RunTopology, Check: 50, Test: 100}),
		fourfold(Campaign{Name: "topology-quorum", Purpose: "still connectivity, random quorum systems",
			Options: sim.Options{Nodes: 6, Quorum: sim.RandomQuorum}, Play: sim.RunTopology, Check: 50, Test: 100}),
		[]Campaign{
			{Name: "topology-broadcast", Purpose: "still connectivity, broadcast", Options: sim.Options{Nodes: 7, Broadcast: cast},
				Play: sim.RunTopology, Check: 2, Test: 50},
			{Name: "topology-collated", Purpose: "still connectivity, collated replies", Options: sim.Options{Nodes: 7, Collation: tree},
				Play: sim.RunTopology, Check: 50, Test: 100, Long: 4},
			{Name: "topology-collated-strict", Purpose: "still connectivity, collated replies, mode strict",
				Options: sim.Options{Nodes: 7, Collation: tree, Mode: leader.Strict}, Play: sim.RunTopology, Check: 50, Test: 100, Long: 4},
		})
}

// clocks returns the campaigns about clocks and external time.
func clocks() []Campaign {
	return []Campaign{
		{Name: "broken-clocks", Purpose: "clocks that leave ρ", Options: sim.Options{Roughness: moderate, BrokenClocks: true}, Check: 20, Test: 400, Long: 4},
		{Name: "broken-clocks-strict", Purpose: "clocks that leave ρ, mode strict",
			Options: sim.Options{Roughness: moderate, BrokenClocks: true, Mode: leader.Strict}, Long: 4},
		{Name: "servers", Purpose: "external references of time", Options: sim.Options{Roughness: moderate, Servers: servers},
			Check: 20, Test: 200, Long: 4, Rare: seldom},
		{Name: "servers-outage", Purpose: "external references that are silent until they do not count any more",
			Options: sim.Options{Calm: true, Timing: timed.WAN()}, Vary: varyOutage, Check: 2, Test: 60, Long: 2},
		{Name: "servers-leap", Purpose: "external references around a leap second", Options: sim.Options{Calm: true, Timing: timed.WAN()},
			Vary: varyLeap, Check: 2, Test: 60, Long: 2},
		{Name: "servers-handover", Purpose: "external references of leaders that fail", Options: sim.Options{Calm: true, Timing: timed.WAN()},
			Vary: varyHandover, Check: 2, Test: 60, Long: 2},
	}
}

// broadcasts returns the campaigns of the atomic broadcast.
func broadcasts() []Campaign {
	return []Campaign{
		{Name: "broadcast", Purpose: "few faults", Options: sim.Options{Broadcast: cast}, Check: 10},
		{Name: "broadcast-rough", Purpose: "many faults", Options: sim.Options{Broadcast: cast, Roughness: rough}, Check: 10},
		{Name: "broadcast-moderate", Purpose: "every situation of the broadcast", Options: sim.Options{Broadcast: cast, Roughness: moderate},
			Test: 100, Long: 4, Rare: seldom},
		{Name: "broadcast-wire", Purpose: "all packets through the wire format", Options: sim.Options{Broadcast: cast, Roughness: moderate, Codec: true}, Check: 5},
		{Name: "broadcast-servers", Purpose: "external references of time", Options: sim.Options{Broadcast: cast, Roughness: moderate, Servers: servers}, Check: 5},
		{Name: "broadcast-collated", Purpose: "collated replies", Options: sim.Options{Broadcast: cast, Roughness: moderate, Collation: tree},
			Check: 5, Test: 100, Rare: seldom},
		{Name: "broadcast-varied", Purpose: "all modes, ranks and presets", Options: sim.Options{Broadcast: cast}, Vary: vary, Check: 36, Test: 324,
			Reach: names(situation.CastEqualStamps)},
		{Name: "broadcast-broken-clocks", Purpose: "clocks that leave ρ", Options: sim.Options{Broadcast: cast, BrokenClocks: true}, Vary: varyBroken,
			Check: 12, Test: 24},
		{Name: "broadcast-wrong-walls", Purpose: "wall clocks that are hours apart", Options: sim.Options{Broadcast: walls, Roughness: moderate},
			Check: 5, Test: 100, Rare: seldom},
		{Name: "broadcast-room", Purpose: "full windows, payloads that need all of them", Play: playRoom, Check: 3, Test: 40, Long: 1, Reach: []string{TookRoom}},
	}
}

// lost returns the campaign of still worlds in which single packets are lost.
func lost() []Campaign {
	return []Campaign{{Name: "lost", Purpose: "still worlds that lose single packets", Vary: varyLost, Check: 40, Test: 100, Long: 4,
		Reach: sim.Lost(fault.Keepalive, fault.Renewal, fault.Vote, fault.Refusal, fault.Collated, fault.Proposal, fault.Committed, fault.Release, fault.Dropped,
			fault.Question, fault.Answer, fault.Messages)}}
}

// quorums returns the campaigns with global leaders.
func quorums() []Campaign {
	four := fourfold(Campaign{Name: "global", Purpose: "random quorum systems", Options: sim.Options{Quorum: sim.RandomQuorum, Roughness: moderate},
		Check: 5, Test: 200, Rare: seldom})
	four[0].Test, four[0].Long, four[0].Rare = 600, 4, nil
	return append(four,
		Campaign{Name: "global-rough", Purpose: "random quorum systems, many faults", Options: sim.Options{Quorum: sim.RandomQuorum, Roughness: rough}, Check: 10},
		Campaign{Name: "global-rough-strict-id", Purpose: "random quorum systems, many faults, mode strict, rank id",
			Options: sim.Options{Quorum: sim.RandomQuorum, Roughness: rough, Mode: leader.Strict, RankBy: leader.ByID}, Long: 4},
		Campaign{Name: "global-majority", Purpose: "a majority of five, wire format", Options: sim.Options{Quorum: "majority:1,2,3,4,5", Codec: true},
			Check: 5, Test: 50, Rare: append([]situation.Kind{situation.LeaseExpiredProposing}, seldom...)},
		Campaign{Name: "global-varied", Purpose: "random quorum systems, all modes, ranks and presets", Options: sim.Options{Quorum: sim.RandomQuorum},
			Vary: varyGlobal, Check: 36, Test: 120})
}

// epochs returns the campaigns whose quorum systems are replaced.
func epochs() []Campaign {
	four := fourfold(Campaign{Name: "epochs", Purpose: "replaced quorum systems",
		Options: sim.Options{Quorum: sim.RandomQuorum, Epochs: true, Roughness: moderate}, Check: 5, Test: 200, Rare: seldom})
	four[0].Test, four[0].Long, four[0].Rare = 300, 4, nil
	return append(four,
		Campaign{Name: "epochs-collated", Purpose: "replaced quorum systems, collated replies, wire format",
			Options: sim.Options{Quorum: sim.RandomQuorum, Epochs: true, Roughness: moderate, Nodes: 7, Collation: tree, Codec: true}, Check: 5, Test: 100, Rare: seldom},
		Campaign{Name: "epochs-varied", Purpose: "replaced quorum systems, all modes and ranks", Options: sim.Options{Quorum: sim.RandomQuorum, Epochs: true},
			Vary: varyEpochs, Check: 32, Test: 160,
			Reach: names(situation.EpochChanged, situation.EpochForced, situation.EpochRepeated, situation.EdictAcrossEpochs)})
}

// uneven returns the campaigns of machines that differ more, and of faults that they
// share: unequal settings, coarse clocks, and everything that strikes all at once.
func uneven() []Campaign {
	all := sim.Options{Roughness: moderate, Unequal: true, Shared: true, Resolution: time.Microsecond}
	with := func(change func(o *sim.Options)) sim.Options {
		o := all
		change(&o)
		return o
	}
	return append(
		fourfold(Campaign{Name: "uneven", Purpose: "unequal settings, coarse clocks, shared faults", Options: all, Check: 10, Test: 150, Long: 4, Rare: seldom}),
		Campaign{Name: "uneven-local", Purpose: "unequal settings, coarse clocks, shared faults, preset local",
			Options: with(func(o *sim.Options) { o.Timing, o.Roughness = timed.Local(), 1 }), Check: 5, Test: 50, Long: 2,
			Rare: append([]situation.Kind{situation.LeaseExpiredProposing}, seldom...)},
		Campaign{Name: "uneven-global", Purpose: "unequal settings, coarse clocks, shared faults, random quorum systems",
			Options: with(func(o *sim.Options) { o.Quorum = sim.RandomQuorum }), Check: 5, Test: 150, Long: 4, Rare: seldom},
		Campaign{Name: "uneven-epochs", Purpose: "unequal settings, coarse clocks, shared faults, replaced quorum systems",
			Options: with(func(o *sim.Options) { o.Quorum, o.Epochs = sim.RandomQuorum, true }), Check: 5, Test: 100, Long: 4, Rare: seldom},
		Campaign{Name: "uneven-broadcast", Purpose: "unequal settings, coarse clocks, shared faults, external references, even groups with a broadcast",
			Options: with(func(o *sim.Options) { o.Broadcast, o.Servers = cast, servers }), Vary: varyEven, Check: 8, Test: 96, Long: 4},
		Campaign{Name: "uneven-broken-clocks", Purpose: "unequal settings, shared faults, clocks that leave ρ",
			Options: with(func(o *sim.Options) { o.BrokenClocks, o.Resolution = true, 0 }), Check: 5, Test: 100, Long: 2, Rare: seldom},
	)
}

// restless returns the campaigns whose leaders give up their leads again and again, with
// what they have asked for, proposed and committed on the way.
func restless() []Campaign {
	all := sim.Options{Roughness: moderate, Restless: true}
	return append(
		fourfold(Campaign{Name: "restless", Purpose: "leaders that resign again and again", Options: all, Check: 5, Test: 100, Long: 4, Rare: seldom}),
		Campaign{Name: "restless-varied", Purpose: "leaders that resign again and again, all that a world can have", Options: all, Vary: varyRestless,
			Check: 24, Test: 144, Long: 4,
			Reach: names(situation.ResignedUnseen, situation.ResignedAtOnce, situation.RequestOvertaken, situation.CommitOvertaken, situation.LedOften, situation.LeaderLeft)})
}

// preempted returns the campaigns whose processes are stopped in the middle of turns.
func preempted() []Campaign {
	all := sim.Options{Roughness: moderate, Preempted: true}
	return append(
		fourfold(Campaign{Name: "preempted", Purpose: "processes that are stopped between a turn and its packets", Options: all, Check: 5, Test: 100, Long: 4, Rare: seldom, Reach: []string{sim.SaidLate, sim.NeverSaid}}),
		Campaign{Name: "preempted-varied", Purpose: "processes that are stopped between a turn and its packets, all that a world can have",
			Options: all, Vary: varyPreempted, Check: 24, Test: 144, Long: 4, Reach: append(names(situation.LeaseExpired, situation.HandedOver, situation.MergedTwo), sim.SaidLate, sim.NeverSaid)})
}

// coarse returns the campaigns whose clocks are coarse for their timing, so that much
// happens at one reading.
func coarse() []Campaign {
	return []Campaign{
		{Name: "drifting", Purpose: "clocks that drift by up to one percent, all that a world can have",
			Options: sim.Options{Timing: loose}, Vary: varyCoarse, Check: 12, Test: 96, Long: 4,
			Reach: names(situation.LeaseExpired, situation.HandedOver, situation.MergedTwo)},
		{Name: "coarse", Purpose: "clocks that show one time again and again, all that a world can have",
			Options: sim.Options{Timing: fine, Resolution: sim.MaxResolution}, Vary: varyCoarse, Check: 24, Test: 144, Long: 4,
			Reach: names(situation.EqualReadings, situation.EqualStamps, situation.RequestAhead, situation.VoteAhead, situation.ResignedAtOnce)},
	}
}

// changes returns the campaigns of views that change while much is under way.
func changes() []Campaign {
	return []Campaign{
		{Name: "late", Purpose: "packets that come minutes late, peers that are taken off lists",
			Options: sim.Options{Broadcast: cast, Roughness: moderate, Duration: 4 * time.Minute}, Vary: varyLate, Check: 1, Test: 16, Long: 2,
			Reach: names(situation.CameMinutesLate, situation.PeerUnlisted, situation.OldBootCame, situation.CastFormerView, situation.CastFormerFlush,
				situation.CastFormerBoot, situation.CastElsewhere)},
		{Name: "loaded-change", Purpose: "views change while windows are full of large payloads, and peers are taken off lists",
			Options: sim.Options{Roughness: moderate, Duration: 20 * time.Second}, Vary: varyLoaded, Check: 4, Test: 32, Long: 2,
			Reach: names(situation.PeerUnlisted, situation.CastFullFrozen, situation.CastFlushed, situation.CastRecovered, situation.CastFragment,
				situation.CastDeciderGone, situation.CastSlowLeft, situation.CastAbsentTwice)},
	}
}

// enduring returns the campaigns whose nodes run for hours and days without a break, as in
// use: what adds up slowly, such as errors of clocks, shows in no other world.
func enduring() []Campaign {
	return []Campaign{
		{Name: "days", Purpose: "hours and days with few faults, all that a world can have", Vary: varyDays, Test: 3, Long: 4},
	}
}

// disks are the situations that disks get into, and losses what becomes of what they lose.
var (
	disks = []string{replicated.Recovered, replicated.Torn, replicated.Failed, replicated.Full, replicated.FullForSnapshot, replicated.Compacted,
		replicated.PowerLost, replicated.EndedEarly, replicated.EndedTogether, replicated.Unread}
	losses = []string{replicated.Forgotten,
		replicated.LostFile + replicated.RefusedAfter, replicated.FlippedBit + replicated.RefusedAfter, replicated.CutFile + replicated.RefusedAfter,
		replicated.OlderFile + replicated.RefusedAfter, replicated.LostFile + replicated.MissedAfter, replicated.CutFile + replicated.MissedAfter,
		replicated.OlderFile + replicated.MissedAfter, replicated.OlderStore + replicated.MissedAfter, replicated.LostStore + replicated.MissedAfter}
)

// states returns the campaigns of replicated state in memory.
func states() []Campaign {
	return []Campaign{
		{Name: "state", Purpose: "replicated state", Play: replicated.Options{}.Play, Check: 15, Test: 100, Long: 1,
			Reach: []string{replicated.Merged, replicated.Restored, replicated.Passed, replicated.Refused, replicated.Cramped, replicated.Continued, replicated.Together}},
		{Name: "state-timed", Purpose: "replicated state, some operations Timed", Play: replicated.Options{Timed: true}.Play, Check: 15, Test: 100, Long: 1,
			Reach: []string{replicated.Merged}},
		{Name: "state-tight", Purpose: "replicated state, little room", Play: replicated.Options{Tight: true}.Play, Check: 15, Test: 100, Long: 1,
			Reach: []string{replicated.StartedOver, replicated.Reused}},
		{Name: "state-quorum", Purpose: "replicated state in quorums", Play: replicated.Options{Quorum: true}.Play, Check: 15, Test: 100, Long: 1,
			Reach: []string{replicated.Restored, replicated.Passed, replicated.Leased, replicated.Lasted, replicated.Continued, replicated.Together, replicated.Waited, replicated.Begun}},
		{Name: "state-limits", Purpose: "replicated state, nodes that do not take states of any size", Play: replicated.Options{Limits: true}.Play, Check: 10, Test: 100, Long: 1,
			Reach: []string{replicated.Merged, replicated.Restored, replicated.DeclinedState, replicated.MissedMerger}},
		{Name: "state-loaded", Purpose: "replicated state, full windows, transfers that end early, peers that are taken off lists",
			Play: replicated.Options{Loaded: true}.Play, Check: 10, Test: 100, Long: 1,
			Reach: []string{replicated.Merged, replicated.Restored, replicated.Filled, replicated.CutShort, replicated.Continued}},
		{Name: "state-loaded-quorum", Purpose: "replicated state in quorums, full windows, transfers that end early, peers that are taken off lists",
			Play: replicated.Options{Loaded: true, Quorum: true}.Play, Check: 10, Test: 100, Long: 1,
			Reach: []string{replicated.Restored, replicated.Passed, replicated.Lasted, replicated.Filled, replicated.CutShort}},
		{Name: "state-apart", Purpose: "replicated state, a node that meets all others in more incarnations than are remembered", Play: replicated.Options{Apart: true}.Play, Check: 2, Test: 20, Long: 1,
			Reach: []string{replicated.Merged, replicated.Restored}},
		{Name: "state-apart-quorum", Purpose: "replicated state in quorums, nodes that meet others that have forgotten them",
			Play: replicated.Options{Apart: true, Quorum: true}.Play, Check: 10, Test: 100, Long: 1,
			Reach: []string{replicated.Restored, replicated.Lasted}},
		{Name: "state-clocks", Purpose: "replicated state, clocks that one time server slews beyond ρ", Play: replicated.Options{Clocks: true}.Play, Check: 5, Test: 100, Long: 1,
			Reach: append(names(situation.ClockFaulty, situation.AllSuspended), replicated.Merged, replicated.Restored, replicated.Continued)},
		{Name: "state-clocks-quorum", Purpose: "replicated state in quorums, clocks that one time server slews beyond ρ",
			Play: replicated.Options{Clocks: true, Quorum: true}.Play, Check: 5, Test: 100, Long: 1,
			Reach: append(names(situation.ClockFaulty, situation.AllSuspended), replicated.Restored, replicated.Lasted, replicated.Continued)},
		{Name: "state-preempted", Purpose: "replicated state on disks, processes that are stopped between a turn and its packets",
			Play: replicated.Options{Disks: true, Preempted: true}.Play, Check: 5, Test: 100, Long: 1, Reach: []string{replicated.Merged, replicated.Restored, sim.SaidLate, sim.NeverSaid}},
		{Name: "state-preempted-quorum", Purpose: "replicated state on disks in quorums, processes that are stopped between a turn and its packets",
			Play: replicated.Options{Disks: true, Quorum: true, Preempted: true}.Play, Check: 5, Test: 100, Long: 1, Reach: []string{replicated.Restored, replicated.Lasted, sim.SaidLate, sim.NeverSaid}},
		{Name: "state-corrupt", Purpose: "replicated state, snapshots that are damaged on the way", Play: replicated.Options{Corrupt: true}.Play, Check: 10, Test: 100, Long: 1,
			Reach: []string{replicated.Merged, replicated.Restored, replicated.Damaged, replicated.Corrupt}},
	}
}

// stored returns the campaigns of replicated state on disks, and of sessions and changes of the
// quorum system, most of which are too.
func stored() []Campaign {
	return []Campaign{
		{Name: "state-disks", Purpose: "replicated state on disks", Play: replicated.Options{Disks: true}.Play, Check: 10, Test: 200, Long: 1,
			Reach: append([]string{replicated.Merged, replicated.Restored, replicated.Lasted, replicated.Unconfirmed}, disks...)},
		{Name: "state-disks-quorum", Purpose: "replicated state on disks, in quorums", Play: replicated.Options{Disks: true, Quorum: true}.Play, Check: 10, Test: 400, Long: 1,
			Reach: append([]string{replicated.Restored, replicated.Passed, replicated.Leased, replicated.Lasted}, disks...)},
		{Name: "state-disks-timed", Purpose: "replicated state on disks, some operations Timed", Play: replicated.Options{Disks: true, Timed: true}.Play, Check: 5, Test: 100, Long: 1,
			Reach: []string{replicated.Merged, replicated.Recovered, replicated.PowerLost, replicated.EndedTogether}},
		{Name: "state-disks-timed-quorum", Purpose: "replicated state on disks, in quorums, some operations Timed", Play: replicated.Options{Disks: true, Timed: true, Quorum: true}.Play, Check: 5, Test: 60, Long: 1,
			Reach: []string{replicated.Recovered, replicated.PowerLost, replicated.EndedTogether}},
		{Name: "state-parts", Purpose: "replicated state on disks, with little room, and processes that end in the middle of a transfer",
			Play: replicated.Options{Disks: true, Parts: true}.Play, Check: 5, Test: 100, Long: 1,
			Reach: []string{replicated.Merged, replicated.Restored, replicated.Reused, replicated.PartFound, replicated.PartDamaged}},
		{Name: "state-parts-quorum", Purpose: "replicated state on disks, in quorums, with little room, and processes that end in the middle of a transfer",
			Play: replicated.Options{Disks: true, Parts: true, Quorum: true}.Play, Check: 5, Test: 100, Long: 1,
			Reach: []string{replicated.Restored, replicated.Lasted, replicated.Reused, replicated.PartFound, replicated.PartDamaged}},
		{Name: "state-disks-lost", Purpose: "replicated state on disks that lose files", Play: replicated.Options{Disks: true, Damage: true}.Play, Check: 5, Test: 200, Long: 1,
			Reach: losses},
		{Name: "state-disks-lost-quorum", Purpose: "replicated state on disks that lose files, in quorums",
			Play: replicated.Options{Disks: true, Damage: true, Quorum: true}.Play, Check: 5, Test: 300, Long: 1, Reach: append([]string{replicated.Begun, replicated.FlippedBit + replicated.MissedAfter, replicated.NoticedRollback, replicated.MissedRollback}, losses...)},
		{Name: "state-change", Purpose: "replicated state on disks, in quorums whose system is replaced",
			Play: replicated.Options{Disks: true, Quorum: true, Change: true}.Play, Check: 5, Test: 200, Long: 1,
			Reach: append([]string{replicated.Restored, replicated.Lasted, replicated.Changed}, disks...)},
		{Name: "state-change-memory", Purpose: "replicated state in quorums whose system is replaced",
			Play: replicated.Options{Quorum: true, Change: true}.Play, Check: 5, Test: 400, Long: 1,
			Reach: []string{replicated.Restored, replicated.Lasted, replicated.Leased, replicated.Begun, replicated.Changed, replicated.Declared}},
		{Name: "state-change-lost", Purpose: "replicated state on disks that lose files, in quorums whose system is replaced",
			Play: replicated.Options{Disks: true, Damage: true, Quorum: true, Change: true}.Play, Check: 5, Test: 300, Long: 1,
			Reach: append([]string{replicated.Begun, replicated.Changed}, losses...)},
		{Name: "state-change-forced", Purpose: "replicated state on disks, in quorums that are lost and replaced by force",
			Play: replicated.Options{Disks: true, Quorum: true, Change: true, Force: true}.Play, Check: 5, Test: 100, Long: 1,
			Reach: []string{replicated.Restored, replicated.Lasted, replicated.Changed, replicated.Forced, replicated.Declared, replicated.LostWithDead,
				replicated.Inherited, replicated.CameBack, replicated.CameBackEmpty, replicated.Discarded}},
		{Name: "state-wiped", Purpose: "replicated state on disks, in quorums whose machines lose everything, and operators that let some members go on",
			Play: replicated.Options{Disks: true, Quorum: true, Wipes: true}.Play, Check: 5, Test: 200, Long: 1,
			Reach: []string{replicated.Restored, replicated.Lasted, replicated.Discarded, replicated.Wiped, replicated.Begun, replicated.DeclaredApart, replicated.DeclaredAgain, replicated.MissedWord}},
		{Name: "state-wiped-memory", Purpose: "replicated state in quorums whose processes end, and operators that let some members go on",
			Play: replicated.Options{Quorum: true, Wipes: true}.Play, Check: 5, Test: 200, Long: 1,
			Reach: []string{replicated.Restored, replicated.Lasted, replicated.Discarded, replicated.Begun, replicated.DeclaredApart, replicated.DeclaredAgain, replicated.MissedWord}},
		{Name: "state-wiped-change", Purpose: "replicated state on disks that lose everything, in quorums whose system is replaced, and operators that let some members go on",
			Play: replicated.Options{Disks: true, Quorum: true, Change: true, Wipes: true}.Play, Check: 5, Test: 200, Long: 1,
			Reach: []string{replicated.Restored, replicated.Lasted, replicated.Changed, replicated.Wiped, replicated.Begun, replicated.DeclaredApart, replicated.DeclaredAgain, replicated.MissedWord}},
		{Name: "sessions", Purpose: "clients' sessions on replicated state", Play: replicated.Options{Sessions: true, Disks: true}.Play, Check: 10, Test: 50, Long: 1,
			Reach: []string{replicated.Merged, replicated.Recovered, replicated.Repeated, replicated.Expired}},
		{Name: "sessions-quorum", Purpose: "clients' sessions in quorums", Play: replicated.Options{Sessions: true, Quorum: true}.Play, Check: 10, Test: 100, Long: 1,
			Reach: []string{replicated.Restored, replicated.Discarded, replicated.Lasted, replicated.Repeated, replicated.Expired}},
	}
}

func names(all ...situation.Kind) (out []string) {
	for _, s := range all {
		out = append(out, s.String())
	}
	return out
}
