package api

import (
	"cmp"
	"os"
	"slices"
	"sort"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/brief"
	"github.com/failaware/failaware/timed"
)

// Conversions of the node's answers to their wire forms.

func bootText(b failaware.BootID) string {
	if b == 0 {
		return ""
	}
	return b.String()
}

func setOf(s failaware.Set) []int {
	ids := []int{} // not null
	for id := range s.All() {
		ids = append(ids, int(id))
	}
	return ids
}

// known returns a duration unless it stands for an unknown one.
func known(d, unknown time.Duration) *int64 {
	if d == unknown {
		return nil
	}
	ns := int64(d)
	return &ns
}

// leaderOf returns the wire form of an answer. It ignores the name if there is no leader.
func leaderOf(a failaware.LeaderAnswer, name string) Leader {
	if a.Leader == failaware.NoNode {
		name = ""
	}
	return Leader{Leader: int(a.Leader), Name: name, Boot: bootText(a.Boot), Leads: a.Leads,
		UpToDate: a.UpToDate, AtMostNS: int64(a.AtMost), AsOfNS: int64(a.AsOf), SinceNS: int64(a.Since), Support: setOf(a.Support)}
}

func viewOf(a failaware.ViewAnswer) View {
	v := View{Members: []Member{}, UpToDate: a.UpToDate, AtMostNS: int64(a.AtMost), AsOfNS: int64(a.AsOf)}
	if a.View.ID.None() {
		return v
	}
	id := a.View.ID
	v.ID, v.Sequence, v.Leader, v.LeaderBoot = idText(id), id.Sequence, int(id.Leader), bootText(id.Boot)
	v.Members = membersOf(a.View)
	return v
}

// idText returns the text of the id of a view or a timeline, or "" for none.
func idText[T interface {
	None() bool
	String() string
}](id T) string {
	if id.None() {
		return ""
	}
	return id.String()
}

func membersOf(v *failaware.View) []Member {
	members := []Member{}
	if v == nil {
		return members
	}
	for i := range v.Members {
		m := &v.Members[i]
		members = append(members, Member{int(m.Node), bootText(m.Boot), idText(m.Previous)})
	}
	return members
}

func clockOf(r failaware.Reading, cfg *failaware.Config) Clock {
	return Clock{TimeNS: int64(r.Time), Time: r.Time.Go().Format(time.RFC3339Nano),
		DeviationNS: known(r.Deviation, clocksync.UnknownBound),
		UTCBoundNS:  known(r.UTCBound, clocksync.UnknownBound),
		Status:      r.Status.String(), Timeline: idText(r.Timeline), Holdover: r.Holdover, Leap: r.Leap.String(),
		UpToDate:   r.Status != clocksync.Unsynchronized,
		ValidForNS: int64(syncedFor(r, cfg.Clock.MaxDeviation, cfg.Timing.MaxDrift)), Problem: clockProblem(r, cfg)}
}

// clockProblem says that a clock is not synchronized because of a setting, or is "".
func clockProblem(r failaware.Reading, cfg *failaware.Config) string {
	if r.Status != clocksync.Unsynchronized || r.Deviation == clocksync.UnknownBound || r.Deviation <= cfg.Clock.MaxDeviation {
		return ""
	}
	return "its deviation is above --max-deviation, " + brief.Duration(cfg.Clock.MaxDeviation)
}

// withUTC returns the reading with what the knowledge of UTC lacks.
func (c Clock) withUTC(k clocksync.Knowledge) Clock {
	c.UTCProblem = utcProblem(k)
	return c
}

// utcProblem says what the knowledge of UTC lacks, or is "".
func utcProblem(k clocksync.Knowledge) string {
	if k.Lack == clocksync.LackNothing {
		return ""
	}
	return k.String()
}

// syncedFor returns how long readings surely stay synchronized with the timeline of r, even
// without further messages. Evidence ages at 2ρ, and after the end of the leader's promise
// also at twice the largest slew: the slew of the clock and the rate of the leader's line are
// at most one largest slew each.
func syncedFor(r failaware.Reading, most time.Duration, rho timed.Drift) time.Duration {
	if r.Status == clocksync.Unsynchronized || r.Deviation > min(most, timed.MaxDuration) {
		return 0
	}
	const billion = 1_000_000_000
	growth := time.Duration(2*rho+rho/20) + 4*clocksync.MaxSlewLimit // ppb
	room := min(most, timed.MaxDuration) - r.Deviation
	return min(room/growth*billion+room%growth*billion/growth, timed.MaxDuration)
}

// membersOfNode lists this node and its peers, in the order of ids, peers
// without a known id last.
func membersOfNode(s *failaware.Status, cfg *failaware.Config) []MemberInfo {
	view := s.View.View.Set
	self := MemberInfo{Node: int(s.ID), Name: s.Name, Tags: s.Tags, Self: true, Boot: bootText(s.Boot),
		Address: s.Addr.String(), Alive: !s.Stopped, InView: view.Has(s.ID), Leads: s.Leader.Leads, Late: s.Late,
		SaysLeads: s.Leader.Leads, Fast: true, Support: s.Leader.Support.Len(), Weight: int(cfg.Weight),
		LockedTo: int(s.Leader.Leader), LaggingNS: int64(s.Lagging)}
	zero := int64(0)
	self.DelayNS, self.LastFastNS, self.OffsetLowNS, self.OffsetHighNS = &zero, &zero, &zero, &zero
	var list []MemberInfo
	placed := false
	peers := withUnheard(s)
	for i := range peers {
		p := &peers[i]
		if !placed && (p.ID == failaware.NoNode || p.ID > s.ID) {
			list, placed = append(list, self), true
		}
		list = append(list, peerOf(p, s, view))
	}
	if !placed {
		list = append(list, self)
	}
	return list
}

// withUnheard returns the peers and, in their places, the members of the view that the
// node has never heard, as when only the leader hears both.
func withUnheard(s *failaware.Status) []failaware.PeerStatus {
	peers := slices.Clone(s.Peers)
	if s.View.View == nil {
		return peers
	}
	for _, m := range s.View.View.Members {
		if m.Node != s.ID && !slices.ContainsFunc(s.Peers, func(p failaware.PeerStatus) bool { return p.ID == m.Node }) {
			peers = append(peers, failaware.PeerStatus{ID: m.Node, Boot: m.Boot, Delay: event.UnknownDelay, LastFast: -1})
		}
	}
	sort.SliceStable(peers, func(i, j int) bool { // slices.SortStableFunc takes 8 KB for this type
		return uint8(peers[i].ID-1) < uint8(peers[j].ID-1) // nodes without an id come last
	})
	return peers
}

func peerOf(p *failaware.PeerStatus, s *failaware.Status, view failaware.Set) MemberInfo {
	m := MemberInfo{Node: int(p.ID), Boot: bootText(p.Boot), Listed: p.Listed, Problem: p.Problem, Mismatch: p.Mismatch.String(), Refused: Refusal(s, p), Incompatible: p.Incompatible, Forgot: p.Forgot, LaggingNS: int64(p.Lagging), MissingNS: int64(p.Missing), Unsent: p.Unsent, Ignored: p.Ignored, Foreign: p.Foreign,
		Alive: p.Alive, Fault: p.Fault, Late: p.Late, Fast: p.Fast, Deaf: p.Deaf, Refuses: p.Refuses, SaysLeads: p.Leads, Support: p.Support,
		Weight: int(p.Weight), LockedTo: int(p.LockedTo),
		DelayNS: known(p.Delay, event.UnknownDelay), LastFastNS: known(p.LastFast, -1)}
	if p.ID != failaware.NoNode {
		m.Name, m.Tags = cmp.Or(p.Name, "node-"+p.ID.String()), p.Tags
		m.InView = view.Has(p.ID)
		m.Leads = s.Leader.UpToDate && s.Leader.Leader == p.ID
	}
	if p.Addr.IsValid() {
		m.Address = p.Addr.String()
	}
	if p.OffsetKnown {
		low, high := int64(p.OffsetLow), int64(p.OffsetHigh)
		m.OffsetLowNS, m.OffsetHighNS = &low, &high
	}
	return m
}

func membersAnswer(n *failaware.Node) Members {
	s, cfg := n.Status(), n.Config()
	return Members{Node: int(s.ID), Leader: leaderOf(s.Leader, nameIn(&s, s.Leader.Leader)), View: viewOf(s.View),
		Clock: clockOf(s.Clock, &cfg).withUTC(s.UTC), AgeNS: int64(s.Age), Members: membersOfNode(&s, &cfg)}
}

// nameIn returns the name of a node by a status.
func nameIn(s *failaware.Status, id failaware.NodeID) string {
	if id == s.ID {
		return s.Name
	}
	for i := range s.Peers {
		if p := &s.Peers[i]; p.ID == id && p.Name != "" {
			return p.Name
		}
	}
	return "node-" + id.String()
}

// StatusOf returns the wire form of a status of a node with a configuration.
func StatusOf(s *failaware.Status, cfg *failaware.Config, version string) Status {
	out := Status{Version: version, PID: os.Getpid(), Node: int(s.ID), Name: s.Name, Tags: s.Tags, Group: s.Group,
		Address: s.Addr.String(), Boot: bootText(s.Boot), Incarnations: s.Incarnations, Ready: s.Ready,
		Leaving: s.Leaving, Waiting: string(s.Waiting), Stopped: s.Stopped, Awake: s.Awake, AgeNS: int64(s.Age),
		Alive: setOf(s.Alive), Leader: leaderOf(s.Leader, nameIn(s, s.Leader.Leader)), View: viewOf(s.View), Clock: clockOf(s.Clock, cfg).withUTC(s.UTC),
		Members: membersOfNode(s, cfg), Join: joinOf(s.Join), Bounds: BoundsOf(s.Bounds), Timing: TimingOf(s.Timing),
		Lateness: Lateness{int64(s.Lateness.Max), int64(s.Lateness.Average), int64(s.Lateness.Last),
			s.Lateness.Timers, s.Lateness.Late},
		Counters: map[string]uint64{}}
	if s.Err != nil {
		out.Error = s.Err.Error()
	}
	for _, c := range s.Counters {
		out.Counters[c.Name] = c.Value
	}
	return out
}

func joinOf(list []failaware.JoinStatus) []Join {
	out := []Join{} // not null
	for _, s := range list {
		j := Join{Source: s.Source, Addresses: []string{}, Problem: s.Problem, Self: s.Self, Unsent: s.Unsent}
		for _, a := range s.Addresses {
			j.Addresses = append(j.Addresses, a.String())
		}
		out = append(out, j)
	}
	return out
}

// BoundsOf returns the wire form of bounds.
func BoundsOf(b failaware.Bounds) Bounds {
	return Bounds{int64(b.Ready), int64(b.Notice), int64(b.Depose), int64(b.Elect), int64(b.View), int64(b.Rejoin)}
}

// TimingOf returns the wire form of timing.
func TimingOf(t failaware.Timing) Timing {
	return Timing{MaxDriftPPB: int64(t.MaxDrift), OneWayTimeoutNS: int64(t.OneWayTimeout),
		FastThresholdNS: int64(t.FastThreshold), MinDelayNS: int64(t.MinDelay),
		SchedulingDelayNS: int64(t.SchedulingDelay), ElectionPeriodNS: int64(t.ElectionPeriod),
		KeepalivePeriodNS: int64(t.KeepalivePeriod), ExpiresNS: int64(t.Expires),
		LockTimeNS: int64(t.LockTime), MaxLockTimeNS: int64(t.MaxLockTime)}
}
