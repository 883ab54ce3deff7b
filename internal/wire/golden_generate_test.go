package wire

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// golden generates packets from a seed. Its random numbers are its own, so that
// no library can change the packets.
type golden struct {
	version uint8
	state   uint64
	mode    goldenMode
}

// goldenMode chooses the numbers of a packet: random ones of every width, or the
// extremes of every range.
type goldenMode uint8

const (
	goldenRandom goldenMode = iota
	goldenLeast
	goldenMost
)

// next is SplitMix64.
func (g *golden) next() uint64 {
	g.state += 0x9e3779b97f4a7c15
	z := g.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number below n, whatever the mode.
func (g *golden) below(n int) int { return int(g.next() % uint64(n)) }

// uint returns a number in [least, most]. All widths are equally likely.
func (g *golden) uint(least, most uint64) uint64 {
	switch g.mode {
	case goldenLeast:
		return least
	case goldenMost:
		return most
	}
	width := uint64(1)<<g.below(bits.Len64(most-least)+1) - 1
	return least + min(g.next()&width, most-least)
}

// int returns a number in [-most, most].
func (g *golden) int(most int64) int64 {
	v := int64(g.uint(0, uint64(most)))
	if g.mode == goldenLeast {
		return -most
	}
	if g.mode == goldenRandom && g.below(2) == 0 {
		return -v
	}
	return v
}

func (g *golden) bool() bool { return g.uint(0, 1) == 1 }

func (g *golden) node() timed.NodeID { return timed.NodeID(g.uint(1, timed.MaxNodes)) }

func (g *golden) boot() timed.BootID { return timed.BootID(g.uint(1, math.MaxUint64)) }

func (g *golden) instant() timed.Instant { return timed.Instant(g.uint(0, uint64(datagram.MaxStamp))) }

func (g *golden) stamp() timed.Instant { return timed.Instant(g.uint(1, uint64(datagram.MaxStamp))) }

func (g *golden) duration() time.Duration { return time.Duration(g.uint(0, uint64(timed.MaxDuration))) }

func (g *golden) incarnation() timed.Incarnation {
	return timed.Incarnation{Node: g.node(), Boot: g.boot()}
}

func (g *golden) maybeIncarnation() timed.Incarnation {
	if !g.bool() {
		return timed.Incarnation{}
	}
	return g.incarnation()
}

func (g *golden) viewID() membership.ViewID {
	return membership.ViewID{Sequence: g.uint(1, membership.MaxSequence), Leader: g.node(), Boot: g.boot()}
}

func (g *golden) maybeViewID() membership.ViewID {
	if !g.bool() {
		return membership.ViewID{}
	}
	return g.viewID()
}

func (g *golden) timeline() clocksync.TimelineID {
	return clocksync.TimelineID{Leader: g.node(), Boot: g.boot(), Sequence: g.uint(1, membership.MaxSequence)}
}

// nodes returns n different nodes.
func (g *golden) nodes(n int) (set timed.Set) {
	if n > timed.MaxNodes/2 {
		for id := timed.NodeID(timed.MaxNodes); set.Len() < n; id-- {
			set.Add(id)
		}
		return set
	}
	for set.Len() < n {
		set.Add(timed.NodeID(1 + g.below(timed.MaxNodes)))
	}
	return set
}

func (g *golden) header() datagram.Header {
	h := datagram.Header{Version: g.version, Group: g.uint(0, math.MaxUint64), Boot: g.boot(),
		Counter: g.uint(0, math.MaxUint64), Stamp: g.stamp(), Echo: datagram.Echo{Heard: datagram.NotHeard}}
	h.Source = timed.NodeID(g.uint(1, timed.MaxNodes-1))
	h.Destination = h.Source + 1
	if g.bool() {
		h.Suite, h.KeyID = 1, uint32(g.uint(0, math.MaxUint32))
	}
	if g.bool() {
		h.Echo = datagram.Echo{Boot: g.boot(), Sent: g.stamp(), Received: g.stamp(), Latest: g.stamp(), Heard: datagram.NotHeard}
		if g.bool() {
			h.Echo.Heard = g.stamp()
		}
	}
	return h
}

func (g *golden) hello(p *Packet) {
	p.Header = g.header()
	p.MaxDrift = timed.Drift(g.uint(0, uint64(timed.MaxDrift)))
	p.FastThreshold = g.duration()
	p.State = leader.State{Leading: g.bool(), Contender: g.bool(), Global: g.bool(), Named: g.bool(), Quorate: g.bool(), Late: g.bool(),
		Support: uint8(g.uint(0, timed.MaxNodes)), Weight: uint16(g.uint(0, math.MaxUint16)),
		LockedTo: g.maybeIncarnation(), MaxLock: g.duration()}
	if g.version >= WithPeriod {
		p.KeepalivePeriod = g.duration()
	}
}

// view returns a view of n members. lineage chooses where they come from.
func (g *golden) view(n int, lineage bool) *membership.View {
	v := &membership.View{Set: g.nodes(n)}
	for id := range v.Set.All() {
		v.Members = append(v.Members, membership.Member{Incarnation: timed.Incarnation{Node: id, Boot: g.boot()}})
	}
	by := v.Members[g.below(n)].Incarnation
	v.ID = membership.ViewID{Sequence: g.uint(1, membership.MaxSequence), Leader: by.Node, Boot: by.Boot}
	if !lineage {
		return v
	}
	for i := range v.Members {
		previous := &v.Members[i].Previous
		switch g.below(4) {
		case 0:
			if i > 0 {
				*previous = v.Members[i-1].Previous
			}
		case 1:
			m := v.Members[g.below(n)].Incarnation
			*previous = membership.ViewID{Sequence: g.uint(1, membership.MaxSequence), Leader: m.Node, Boot: m.Boot}
		case 2:
			*previous = g.viewID()
		}
	}
	return v
}

func (g *golden) inUse(p *Packet) {
	if p.InUse, p.InUseAge = g.boot(), datagram.Unknown; g.version >= WithHeard {
		p.InUseAge = g.duration()
	}
}

func (g *golden) request(p *Packet, kind membership.PartKind, members int) {
	p.Request = leader.Request{Number: g.instant(), LockTime: g.duration()}
	p.Part = membership.Part{Kind: kind}
	switch kind {
	case membership.Renew:
		p.Part.ID, p.Part.Until = g.viewID(), g.instant()
		if g.version >= WithAnswered {
			p.Part.Answered = min(g.instant(), p.Part.Until)
		}
	case membership.Propose:
		p.Part.View = g.view(members, false)
		p.Part.ID = p.Part.View.ID
	case membership.Commit:
		p.Part.View = g.view(members, true)
		p.Part.ID, p.Part.Until = p.Part.View.ID, g.instant()
	}
}

func (g *golden) line(p *Packet) {
	const shown = 1 << 62
	p.Line = clocksync.Line{Timeline: g.timeline(), Base: g.instant(), Shown: clocksync.Time(g.int(shown)),
		Rate: g.int(clocksync.MaxSlewLimit), Bend: g.instant(), Next: g.int(clocksync.MaxSlewLimit), Until: g.instant()}
	if g.bool() {
		p.Line.Parent = g.timeline()
	}
}

func (g *golden) low() clocksync.Time {
	return clocksync.Time(g.int(1<<62 - 1 - 2*int64(clocksync.MaxError)))
}

func (g *golden) leap() clocksync.Leap {
	return clocksync.Leap(g.uint(0, uint64(clocksync.LeapDelete)))
}

func (g *golden) utc(p *Packet) {
	p.UTC = clocksync.UTC{State: clocksync.UTCDisputed}
	if g.below(4) > 0 {
		p.UTC = clocksync.UTC{State: clocksync.UTCKnown, At: g.instant(), Low: g.low(), Leap: g.leap()}
		p.UTC.High = p.UTC.Low + clocksync.Time(g.uint(0, 2*uint64(clocksync.MaxError)))
		if g.version >= WithProof {
			if p.UTC.Proved = uint8(g.uint(0, clocksync.MaxReferences)); p.UTC.Proved > 0 {
				p.UTC.ProofAge = time.Duration(g.uint(0, maxProofAge)) * time.Second
			}
		}
	}
}

// proof is what is said of UTC where it is unknown.
func (g *golden) proof(p *Packet) {
	p.UTC.Proved = uint8(g.uint(1, clocksync.MaxReferences))
	p.UTC.ProofAge = time.Duration(g.uint(0, maxProofAge)) * time.Second
}

func (g *golden) samples(p *Packet) {
	p.Samples.Count = uint8(g.uint(1, clocksync.MaxForwarded))
	for i := range p.Samples.Samples() {
		s := clocksync.Sample{Source: clocksync.SourceID(g.uint(1, math.MaxUint64)), At: g.instant(), Low: g.low(), Leap: g.leap()}
		s.High = s.Low + clocksync.Time(g.uint(0, 2*uint64(clocksync.MaxError)))
		p.Samples.List[i] = s
	}
}

func (g *golden) reply() leader.Reply {
	return leader.Reply{Number: g.instant(), Support: g.bool(), LockedTo: g.maybeIncarnation(), Prefers: timed.NodeID(g.uint(0, timed.MaxNodes))}
}

func (g *golden) report() membership.Report {
	return membership.Report{Acknowledged: g.maybeViewID(), Installed: g.maybeViewID(), Sequence: g.uint(0, membership.MaxSequence)}
}

func (g *golden) voteStamp() leader.VoteStamp {
	return leader.VoteStamp{Counter: g.uint(0, math.MaxUint64), At: g.instant()}
}

func (g *golden) tree(p *Packet) {
	p.Request.Tree = leader.Tree{Fanout: uint8(g.uint(leader.MinFanout, leader.MaxFanout)), Target: g.nodes(2 + g.below(60))}
}

// collated returns the replies of n voters, many of them alike.
func (g *golden) collated(n int) *Collated {
	c := &Collated{Leader: g.incarnation(), Number: g.instant()}
	for i := range n {
		v := Relayed{Voter: g.incarnation(), Reply: g.reply(), Report: g.report()}
		if i > 0 && g.below(3) > 0 {
			v.Reply, v.Report = c.Replies[i-1].Reply, c.Replies[i-1].Report
		}
		v.Reply.Number, v.Reply.Stamp = c.Number, leader.VoteStamp{}
		if g.below(2) == 0 {
			v.Reply.Stamp = g.voteStamp()
		}
		c.Replies = append(c.Replies, v)
	}
	return c
}

// epoch returns the state of a node in one of the phases of a change.
func (g *golden) epoch(phase epoch.Phase, voters int) *epoch.State {
	text := func() string {
		var ids []string
		for id := range g.nodes(1 + voters).All() {
			ids = append(ids, strconv.Itoa(int(id)))
		}
		return "majority:" + strings.Join(ids, ",")
	}
	s := &epoch.State{Epoch: g.uint(1, math.MaxUint64), System: text(), Phase: phase}
	if phase == epoch.Idle {
		return s
	}
	s.Next = text()
	if phase >= epoch.Chosen {
		if s.Agreed = g.bool(); !s.Agreed {
			s.Dead = g.nodes(1 + voters)
		}
		return s
	}
	s.Edict = edict.Edict{Epoch: s.Epoch, Counter: g.uint(0, math.MaxUint64), Digest: edict.Sum(epoch.Proposal(s.Epoch, s.Next))}
	for id := range g.nodes(1 + voters).All() {
		s.Edict.Stamps = append(s.Edict.Stamps, edict.Stamp{Node: id, Counter: g.uint(0, math.MaxUint64), Boot: g.boot(), At: g.instant()})
	}
	return s
}

func (g *golden) sequence() uint64 { return g.uint(0, broadcast.MaxSequence) }

func (g *golden) pair() [2]uint64 { return [2]uint64{g.sequence(), g.sequence()} }

func (g *golden) time() clocksync.Time { return clocksync.Time(g.int(int64(broadcast.MaxTime))) }

func (g *golden) castHeader() broadcast.Header {
	return broadcast.Header{View: g.maybeViewID(), Known: g.sequence(), Have: g.sequence(), Stable: g.pair(), Tails: g.pair(), Floor: g.time()}
}

// run returns n messages of up to size bytes; even says that all are of one size.
func (g *golden) run(n, size int, even bool) broadcast.Run {
	r := broadcast.Run{Sender: g.node(), Boot: g.boot(), Begins: g.bool(), Ends: g.bool(), Count: n, Stamp: g.time(),
		First: g.uint(1, broadcast.MaxSequence-uint64(n)), Deviation: time.Duration(g.uint(0, math.MaxInt64))}
	r.Options = broadcast.Options{Order: broadcast.Order(optionOf[g.below(3)]), Atomicity: broadcast.Atomicity(optionOf[g.below(3)])}
	r.Class = r.Options.Order.Class()
	total := n * size
	if even {
		r.Size = uint32(size)
	} else {
		total = 0
		for range n {
			k := g.below(size + 1)
			r.Sizes = append(r.Sizes, uint32(k))
			total += k
		}
	}
	for range total {
		r.Payload = append(r.Payload, byte(g.next()))
	}
	return r
}

func (g *golden) decision(ranges int) broadcast.Decision {
	d := broadcast.Decision{Number: g.uint(1, broadcast.MaxSequence), Next: uint8(g.uint(0, timed.MaxNodes)), Urgent: g.bool(), Floor: g.time(), Leeway: g.duration()}
	for range ranges {
		d.Ranges = append(d.Ranges, broadcast.Range{Member: uint8(g.uint(0, timed.MaxNodes)), Class: broadcast.Class(g.uint(0, 1)), To: g.uint(1, broadcast.MaxSequence)})
	}
	return d
}

func (g *golden) want() broadcast.Want {
	w := broadcast.Want{Sender: g.node(), Boot: g.boot(), Class: broadcast.Class(g.uint(0, 1)), From: g.uint(1, broadcast.MaxSequence)}
	w.To = g.uint(w.From, broadcast.MaxSequence)
	return w
}

func (g *golden) marks(n int) (out []broadcast.Mark) {
	for range n {
		out = append(out, broadcast.Mark{Node: g.node(), Boot: g.boot(), Sequence: g.sequence()})
	}
	return out
}

func (g *golden) piece() broadcast.Piece {
	of := g.uint(1, broadcast.MaxPieces)
	return broadcast.Piece{Of: uint16(of), Number: uint16(g.uint(0, of-1))}
}

func (g *golden) castReport(n int) *broadcast.Report {
	return &broadcast.Report{Piece: g.piece(), Proposal: g.viewID(), Previous: g.maybeViewID(), Have: g.sequence(), Stable: g.pair(), Sent: g.pair(),
		Acks: g.marks(n), Ordered: g.marks(n), Unordered: g.marks(n / 2)}
}

func (g *golden) castPlan(groups, n int) *broadcast.Plan {
	p := &broadcast.Plan{Piece: g.piece(), Proposal: g.viewID()}
	for range groups {
		b := broadcast.Group{Previous: g.viewID(), End: g.sequence(), Source: g.node()}
		for range n {
			b.Lack = append(b.Lack, broadcast.Lack{Node: g.node(), Have: g.sequence()})
			b.Fill = append(b.Fill, broadcast.Fill{Member: g.node(), Holder: g.node(), Sender: g.node(), Boot: g.boot(), From: g.sequence(), To: g.sequence()})
		}
		p.Groups = append(p.Groups, b)
	}
	return p
}

func (g *golden) castCommit(branches, n int) *broadcast.Commit {
	c := &broadcast.Commit{Piece: g.piece(), Proposal: g.viewID(), Ordered: g.marks(n), Unordered: g.marks(n)}
	for range branches {
		c.Branches = append(c.Branches, broadcast.Branch{Previous: g.viewID(), End: g.sequence(), Stable: g.pair(), Acks: g.marks(n)})
	}
	return c
}
