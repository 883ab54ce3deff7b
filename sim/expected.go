package sim

import (
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/sim/situation"
)

// Expected returns the situations that a campaign with these options should reach.
func Expected(o Options) (out []situation.Kind) {
	o = o.withDefaults()
	for s := range situation.Kind(situation.Count) {
		if needs(s, &o) && !(o.Calm && len(o.Faults) == 0) {
			out = append(out, s)
		}
	}
	return out
}

// needs reports whether a situation can come about with the options.
func needs(s situation.Kind, o *Options) bool {
	if s >= situation.EpochChanged {
		return o.Epochs
	}
	if s >= situation.LocalBesideGlobal {
		// In mode strict a leader leaves none of its electors out.
		return o.Quorum != "" && o.Nodes >= 3 && (s != situation.GlobalOutlived || o.Mode == leader.Available)
	}
	if s >= situation.CastUndelivered {
		return needsBroadcast(s, o)
	}
	if collates(s) {
		return o.Collation.Above > 0 && o.Nodes > o.Collation.Above
	}
	switch s {
	case situation.PeerUnlisted, situation.CameMinutesLate:
		return false // random faults do neither
	case situation.EqualStamps, situation.RequestAhead, situation.VoteAhead:
		return false // only clocks that are coarse for their timing show it in a few hundred seeds
	case situation.ResignedUnseen, situation.ResignedAtOnce, situation.RequestOvertaken, situation.CommitOvertaken, situation.LedOften, situation.LeaderLeft:
		return o.Restless && o.Nodes >= 2
	case situation.ClockFaulty, situation.BlamedItself:
		return o.BrokenClocks
	case situation.HeldBack:
		return o.BrokenClocks || o.Unequal
	case situation.LockLowered, situation.LockCut, situation.OlderVersion, situation.RefusedPatiently:
		return o.Unequal
	case situation.AllSuspended:
		return o.Shared
	case situation.EqualReadings:
		return o.Resolution > 0
	case situation.RivalSeen, situation.RivalStopped:
		return !o.Epochs
	case situation.TwinsFound:
		return o.Broadcast == nil && !o.Epochs
	case situation.UTCExternal, situation.UTCDisputed, situation.ServerNamed, situation.LineBent:
		return o.Servers != nil // in other campaigns too few worlds have any
	case situation.MergedTwo, situation.ViewShrank, situation.TwoLeaders, situation.Outranked, situation.ProposalOvertaken, situation.DeafPeer, situation.SocketBatch:
		return o.Nodes >= 2
	case situation.AliveByWord:
		return o.Nodes >= 3 && o.Broadcast == nil
	case situation.StoodBack:
		return o.Nodes >= 3 && o.Mode == leader.Available // in mode strict the best asks alone anyway
	case situation.MergedMore, situation.ThreeLeaders:
		return o.Nodes >= 3
	}
	return true
}

// collates reports whether the situation is one of collated replies.
func collates(s situation.Kind) bool {
	return s == situation.RepliesCollated || s == situation.CollatedLate
}

// needsBroadcast reports whether a situation of the broadcast can come about with
// the options.
func needsBroadcast(s situation.Kind, o *Options) bool {
	b := o.Broadcast
	switch {
	case b == nil || b.Quiet: // no traffic is drawn
		return false
	case s == situation.CastAbsentTwice, s == situation.CastFullFrozen, s == situation.CastEqualStamps:
		return false // few worlds get there
	case s == situation.CastWindowFull, s == situation.CastSlow, s == situation.CastSlowLeft:
		return true
	case s == situation.CastNoQuorum:
		return o.Nodes >= 2 && (b.Config == nil || b.Config.Quorum != nil)
	case s == situation.CastFragment:
		return o.Nodes >= 2 && b.Config == nil
	case s == situation.CastElsewhere, s == situation.CastMerged, s == situation.CastFlushed, s == situation.CastRecovered:
		return o.Nodes >= 3
	case s == situation.CastAhead:
		return o.Nodes >= 2 && b.WrongWalls
	}
	return o.Nodes >= 2
}
