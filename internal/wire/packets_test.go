package wire

import (
	"math"
	"time"

	"pgregory.net/rapid"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Packets for the tests of the codec: realistic ones of every kind, and random ones.

const second = timed.Instant(1e9)

// bootOf returns a boot id that takes nine bytes on the wire, as random ones do.
func bootOf(id timed.NodeID) timed.BootID { return 0xf00d_0000_0000_0000 | timed.BootID(id)<<8 | 1 }

func incarnationOf(id timed.NodeID) timed.Incarnation {
	return timed.Incarnation{Node: id, Boot: bootOf(id)}
}

func viewOf(sequence uint64, by timed.NodeID) membership.ViewID {
	return membership.ViewID{Sequence: sequence, Leader: by, Boot: bootOf(by)}
}

// basePacket is a keepalive from node 1 to node 2, days after both booted.
func basePacket() Packet {
	now := 3_000_000 * second
	t := timed.LAN()
	return Packet{
		Header: datagram.Header{Version: Version, Group: 0x1234_5678_9abc_def0,
			Source: 1, Destination: 2, Boot: bootOf(1), Counter: 7_000_000, Stamp: now,
			Echo: datagram.Echo{Boot: bootOf(2), Sent: now - second, Received: now - second, Latest: now, Heard: now}},
		MaxDrift: t.MaxDrift, FastThreshold: t.FastThreshold, KeepalivePeriod: t.KeepalivePeriod,
		State: leader.State{Contender: true, LockedTo: incarnationOf(1), MaxLock: t.MaxLockTime},
	}
}

func requestPacket() Packet {
	p := basePacket()
	now := p.Header.Stamp
	p.State.Leading, p.State.Support = true, 5
	p.Frames = FrameRequest
	p.Request = leader.Request{Number: now, LockTime: timed.LAN().LockTime}
	return p
}

// renewalPacket is the packet that a leader sends most often.
func renewalPacket() Packet {
	p := requestPacket()
	now := p.Header.Stamp
	p.Frames |= FrameLine
	p.Part = membership.Part{Kind: membership.Renew, ID: viewOf(41, 1), Until: now + second, Answered: now - second}
	p.Line = clocksync.Line{Timeline: clocksync.TimelineID{Leader: 1, Boot: bootOf(1), Sequence: 3},
		Parent: clocksync.TimelineID{Leader: 2, Boot: bootOf(2), Sequence: 1},
		Base:   now - 100*second, Shown: 1_790_000_000_000_000_000, Until: now + second}
	return p
}

// replyPacket is the packet that a follower sends most often.
func replyPacket() Packet {
	p := basePacket()
	p.Frames = FrameReply
	p.Reply = leader.Reply{Number: p.Header.Stamp, Support: true}
	p.Report = membership.Report{Acknowledged: viewOf(41, 1), Installed: viewOf(41, 1), Sequence: 41}
	return p
}

func proposePacket(n int) Packet {
	p := requestPacket()
	p.Part = membership.Part{Kind: membership.Propose, ID: viewOf(42, 1), View: viewWith(42, n, nil)}
	return p
}

// commitPacket announces a view of n members. previous gives their lineage.
func commitPacket(n int, previous func(timed.NodeID) membership.ViewID) Packet {
	p := renewalPacket()
	p.Part = membership.Part{Kind: membership.Commit, ID: viewOf(42, 1), Until: p.Header.Stamp + second,
		View: viewWith(42, n, previous)}
	return p
}

func viewWith(sequence uint64, n int, previous func(timed.NodeID) membership.ViewID) *membership.View {
	v := &membership.View{ID: viewOf(sequence, 1)}
	for i := range n {
		id := timed.NodeID(i + 1)
		m := membership.Member{Incarnation: incarnationOf(id)}
		if previous != nil {
			m.Previous = previous(id)
		}
		v.Members, v.Set = append(v.Members, m), v.Set.With(id)
	}
	return v
}

// Lineages of the members of a view.
func fromOneView(timed.NodeID) membership.ViewID { return viewOf(40, 200) }

func fromOwnViews(id timed.NodeID) membership.ViewID { return viewOf(uint64(id)*3, id) }

func fromStrangers(id timed.NodeID) membership.ViewID {
	return membership.ViewID{Sequence: membership.MaxSequence - uint64(id), Leader: 255, Boot: bootOf(id) + 9}
}

// samples returns packets with every kind of frame.
func samples() map[string]Packet {
	inUse := basePacket()
	inUse.Header.Echo = datagram.Echo{Heard: datagram.NotHeard}
	inUse.State = leader.State{}
	inUse.Frames, inUse.InUse, inUse.InUseAge = FrameInUse, bootOf(2), time.Millisecond
	goodbye := basePacket()
	goodbye.Frames = FrameRelease | FrameResign | FrameDropped | FrameLeaving
	goodbye.Release, goodbye.Resign, goodbye.Dropped = goodbye.Header.Stamp, viewOf(40, 1), viewOf(39, 2)
	refusal := replyPacket()
	refusal.Reply.Support = false
	refusal.Reply.LockedTo, refusal.Reply.Prefers = incarnationOf(3), 4
	global := requestPacket()
	global.State.Global = true
	global.Frames |= FrameQuorum | FrameStamp | FrameQuestion | FrameAnswer | FrameSuccessor
	global.Quorum, global.Stamp = leader.QuorumID{Epoch: 3, Digest: 1 << 63}, leader.VoteStamp{Counter: 9, At: global.Header.Stamp}
	global.Question, global.Successor = leader.Question{Asked: global.Header.Stamp}, 3
	global.Answer = leader.Answer{Asked: global.Header.Stamp, Asker: bootOf(2), Local: time.Second, Global: time.Millisecond}
	both := commitPacket(3, fromOwnViews)
	both.Frames |= FrameReply | FrameRelease
	both.Reply, both.Report = refusal.Reply, refusal.Report
	branch, planted := basePacket(), renewalPacket()
	branch.Frames = FrameCollated
	branch.Collated = &Collated{Leader: incarnationOf(2), Number: both.Reply.Number, Replies: []Relayed{
		{incarnationOf(5), replyPacket().Reply, replyPacket().Report}, {incarnationOf(6), replyPacket().Reply, replyPacket().Report},
		{incarnationOf(7), refusal.Reply, refusal.Report}}}
	planted.Frames |= FrameTree
	planted.Request.Tree = leader.Tree{Fanout: 4, Target: timed.SetOf(2, 3, 64, 254)}
	change := replyPacket()
	change.Frames |= FrameEpoch | FrameStamp
	change.Stamp, change.Epoch = leader.VoteStamp{Counter: 9, At: change.Header.Stamp}, notedState()
	return map[string]Packet{
		"vote of a node that has noted a proposal": change,
		"collated replies":                         branch, "request with a tree": planted,
		"keepalive": basePacket(), "global": global, "in use": inUse, "goodbye": goodbye, "request": requestPacket(),
		"renewal": renewalPacket(), "reply": replyPacket(), "refusal": refusal,
		"proposal": proposePacket(5), "commit after a crash": commitPacket(5, fromOneView),
		"commit of nodes from nowhere": commitPacket(5, nil), "commit of loners": commitPacket(5, fromOwnViews),
		"commit of strangers": commitPacket(5, fromStrangers), "everything": both,
	}
}

// Random packets.

var (
	drawNode = rapid.Custom(func(t *rapid.T) timed.NodeID { return timed.NodeID(rapid.Uint8Range(1, 255).Draw(t, "id")) })
	drawBoot = rapid.Custom(func(t *rapid.T) timed.BootID {
		return timed.BootID(rapid.Uint64Range(1, math.MaxUint64).Draw(t, "boot"))
	})
	drawStamp = rapid.Custom(func(t *rapid.T) timed.Instant {
		return timed.Instant(rapid.Int64Range(1, int64(datagram.MaxStamp)).Draw(t, "stamp"))
	})
	drawInstant = rapid.Custom(func(t *rapid.T) timed.Instant {
		return timed.Instant(rapid.Int64Range(0, int64(datagram.MaxStamp)).Draw(t, "instant"))
	})
	drawIncarnation = rapid.Custom(func(t *rapid.T) timed.Incarnation {
		if !rapid.Bool().Draw(t, "some incarnation") {
			return timed.Incarnation{}
		}
		return timed.Incarnation{Node: drawNode.Draw(t, "node"), Boot: drawBoot.Draw(t, "boot")}
	})
	drawSomeView = rapid.Custom(func(t *rapid.T) membership.ViewID {
		return membership.ViewID{Sequence: rapid.Uint64Range(1, membership.MaxSequence).Draw(t, "sequence"),
			Leader: drawNode.Draw(t, "leader"), Boot: drawBoot.Draw(t, "boot")}
	})
	drawViewID = rapid.Custom(func(t *rapid.T) membership.ViewID {
		if !rapid.Bool().Draw(t, "some view") {
			return membership.ViewID{}
		}
		return drawSomeView.Draw(t, "view")
	})
	drawDuration = rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(0, int64(timed.MaxDuration)).Draw(t, "duration"))
	})
)

func drawTimeline(t *rapid.T) clocksync.TimelineID {
	v := drawSomeView.Draw(t, "timeline")
	return clocksync.TimelineID{Leader: v.Leader, Boot: v.Boot, Sequence: v.Sequence}
}

func drawView(t *rapid.T, lineage bool) *membership.View {
	var set timed.Set
	for range rapid.IntRange(1, 40).Draw(t, "members") {
		set.Add(drawNode.Draw(t, "member"))
	}
	v := &membership.View{Set: set}
	for id := range set.All() {
		v.Members = append(v.Members, membership.Member{Incarnation: timed.Incarnation{Node: id, Boot: drawBoot.Draw(t, "boot")}})
	}
	anyone := func() timed.Incarnation {
		return v.Members[rapid.IntRange(0, len(v.Members)-1).Draw(t, "which")].Incarnation
	}
	by := anyone()
	v.ID = membership.ViewID{Sequence: rapid.Uint64Range(1, membership.MaxSequence).Draw(t, "sequence"), Leader: by.Node, Boot: by.Boot}
	if !lineage {
		return v
	}
	for i := range v.Members {
		prev := &v.Members[i].Previous
		switch rapid.IntRange(0, 3).Draw(t, "lineage") {
		case 0:
			if i > 0 {
				*prev = v.Members[i-1].Previous
			}
		case 1:
			m := anyone()
			*prev = membership.ViewID{Sequence: rapid.Uint64Range(1, 9).Draw(t, "sequence"), Leader: m.Node, Boot: m.Boot}
		case 2:
			*prev = drawSomeView.Draw(t, "previous")
		}
	}
	return v
}

func drawPart(t *rapid.T) membership.Part {
	p := membership.Part{Kind: membership.PartKind(rapid.IntRange(0, 3).Draw(t, "kind"))}
	switch p.Kind {
	case membership.Renew:
		p.ID, p.Until = drawSomeView.Draw(t, "id"), drawInstant.Draw(t, "until")
		p.Answered = min(p.Until, drawInstant.Draw(t, "answered"))
	case membership.Propose:
		p.View = drawView(t, false)
		p.ID = p.View.ID
	case membership.Commit:
		p.View = drawView(t, true)
		p.ID, p.Until = p.View.ID, drawInstant.Draw(t, "until")
	}
	return p
}

func drawHeader(t *rapid.T) datagram.Header {
	h := datagram.Header{Version: Version, Group: rapid.Uint64().Draw(t, "group"),
		Source: drawNode.Draw(t, "source"), Boot: drawBoot.Draw(t, "boot"),
		Counter: rapid.Uint64().Draw(t, "counter"), Stamp: drawStamp.Draw(t, "stamp"),
		Echo: datagram.Echo{Heard: datagram.NotHeard}}
	h.Destination = drawNode.Filter(func(id timed.NodeID) bool { return id != h.Source }).Draw(t, "destination")
	if rapid.Bool().Draw(t, "sealed") {
		h.Suite, h.KeyID = SuiteXAES256GCM, rapid.Uint32().Draw(t, "key")
	}
	if rapid.Bool().Draw(t, "echo") {
		h.Echo.Boot, h.Echo.Sent = drawBoot.Draw(t, "boot"), drawStamp.Draw(t, "sent")
		h.Echo.Received, h.Echo.Latest = drawStamp.Draw(t, "received"), drawStamp.Draw(t, "latest")
		if rapid.Bool().Draw(t, "hears") {
			h.Echo.Heard = drawStamp.Draw(t, "heard")
		}
	}
	return h
}

func drawPacket(t *rapid.T) Packet {
	p := Packet{
		Header:        drawHeader(t),
		MaxDrift:      timed.Drift(rapid.Int64Range(0, int64(timed.MaxDrift)).Draw(t, "drift")),
		FastThreshold: drawDuration.Draw(t, "threshold"), KeepalivePeriod: drawDuration.Draw(t, "keepalive"),
		State: leader.State{Leading: rapid.Bool().Draw(t, "leading"), Contender: rapid.Bool().Draw(t, "contender"),
			Support: rapid.Uint8().Draw(t, "support"), Weight: rapid.Uint16().Draw(t, "weight"),
			LockedTo: drawIncarnation.Draw(t, "locked to"), MaxLock: drawDuration.Draw(t, "max lock"),
			Global: rapid.Bool().Draw(t, "global"), Named: rapid.Bool().Draw(t, "named"), Quorate: rapid.Bool().Draw(t, "say"), Late: rapid.Bool().Draw(t, "late")},
		Frames: Frames(rapid.Uint32Range(0, uint32(AllFrames)).Draw(t, "frames")) &^ (FrameBroadcast | FrameTree | FrameCollated | FrameEpoch | FrameMembers | FrameLabels),
	}
	if rapid.Bool().Draw(t, "collated") {
		p.Frames |= FrameCollated
		p.Collated = drawCollated(t)
	}
	if rapid.Bool().Draw(t, "epoch") {
		p.Frames, p.Epoch = p.Frames|FrameEpoch, notedState()
	}
	if rapid.Bool().Draw(t, "members") {
		p.Frames, p.Members = p.Frames|FrameMembers, drawMembers(t)
	}
	if rapid.Bool().Draw(t, "labels") {
		p.Frames, p.Labels = p.Frames|FrameLabels, drawLabels(t)
	}
	if p.Has(FrameUsed) {
		p.Used = drawSet(t)
	}
	drawPartings(t, &p)
	if p.Has(FrameRequest) {
		drawRequest(t, &p)
	}
	if p.Has(FrameLine) {
		p.Line = clocksync.Line{Timeline: drawTimeline(t), Base: drawInstant.Draw(t, "base"),
			Shown: clocksync.Time(rapid.Int64Range(-maxShown, maxShown).Draw(t, "shown")),
			Rate:  rapid.Int64Range(-clocksync.MaxSlewLimit, clocksync.MaxSlewLimit).Draw(t, "rate"),
			Bend:  drawInstant.Draw(t, "bend"),
			Next:  rapid.Int64Range(-clocksync.MaxSlewLimit, clocksync.MaxSlewLimit).Draw(t, "next"),
			Until: drawInstant.Draw(t, "until")}
		if rapid.Bool().Draw(t, "parent") {
			p.Line.Parent = drawTimeline(t)
		}
	}
	drawGlobal(t, &p)
	if p.Has(FrameReply) {
		p.Reply, p.Report = drawReply(t), drawReport(t)
	}
	if p.Has(FrameUTC) {
		p.UTC = drawUTC(t)
	}
	if p.Has(FrameSamples) {
		p.Samples.Count = uint8(rapid.IntRange(1, clocksync.MaxForwarded).Draw(t, "samples"))
		for i := range p.Samples.Samples() {
			p.Samples.List[i] = drawSample(t)
		}
	}
	return p
}

// drawPartings draws the frames in which a node refuses or gives something up.
func drawPartings(t *rapid.T, p *Packet) {
	if p.Has(FrameInUse) {
		p.InUse, p.InUseAge = drawBoot.Draw(t, "in use"), drawDuration.Draw(t, "heard")
	}
	if p.Has(FrameRelease) {
		p.Release = drawInstant.Draw(t, "release")
	}
	if p.Has(FrameResign) {
		p.Resign = drawSomeView.Draw(t, "resign")
	}
	if p.Has(FrameDropped) {
		p.Dropped = drawSomeView.Draw(t, "dropped")
	}
}

func drawRequest(t *rapid.T, p *Packet) {
	p.Request.Number = drawInstant.Draw(t, "number")
	p.Request.LockTime = drawDuration.Draw(t, "lock time")
	p.Part = drawPart(t)
	if rapid.Bool().Draw(t, "tree") {
		p.Frames |= FrameTree
		p.Request.Tree = leader.Tree{Fanout: uint8(rapid.IntRange(leader.MinFanout, leader.MaxFanout).Draw(t, "fanout")),
			Target: timed.SetOf(1, 255).With(drawNode.Draw(t, "target"))}
	}
}

func drawGlobal(t *rapid.T, p *Packet) {
	if p.Has(FrameQuorum) {
		p.Quorum = leader.QuorumID{Epoch: rapid.Uint64().Draw(t, "epoch"), Digest: rapid.Uint64().Draw(t, "digest")}
	}
	if p.Has(FrameStamp) {
		p.Stamp = leader.VoteStamp{Counter: rapid.Uint64().Draw(t, "starts"), At: drawInstant.Draw(t, "voted")}
	}
	if p.Has(FrameQuestion) {
		p.Question.Asked = drawInstant.Draw(t, "asked")
	}
	if p.Has(FrameAnswer) {
		p.Answer = leader.Answer{Asked: drawInstant.Draw(t, "asked"), Asker: drawBoot.Draw(t, "asker"),
			Local: drawDuration.Draw(t, "local"), Global: drawDuration.Draw(t, "global")}
	}
	if p.Has(FrameSuccessor) {
		p.Successor = drawNode.Draw(t, "successor")
	}
}

func drawReply(t *rapid.T) leader.Reply {
	return leader.Reply{Number: drawInstant.Draw(t, "number"), Support: rapid.Bool().Draw(t, "support"),
		LockedTo: drawIncarnation.Draw(t, "locked to"), Prefers: timed.NodeID(rapid.Uint8().Draw(t, "prefers"))}
}

func drawReport(t *rapid.T) membership.Report {
	return membership.Report{Acknowledged: drawViewID.Draw(t, "acknowledged"),
		Installed: drawViewID.Draw(t, "installed"), Sequence: rapid.Uint64Range(0, membership.MaxSequence).Draw(t, "known")}
}

func drawCollated(t *rapid.T) *Collated {
	c := &Collated{Leader: timed.Incarnation{Node: drawNode.Draw(t, "leader"), Boot: drawBoot.Draw(t, "boot")},
		Number: drawInstant.Draw(t, "number")}
	for i := range rapid.IntRange(1, 40).Draw(t, "replies") {
		v := Relayed{Voter: timed.Incarnation{Node: drawNode.Draw(t, "voter"), Boot: drawBoot.Draw(t, "boot")}}
		if i > 0 && rapid.Bool().Draw(t, "again") {
			v.Reply, v.Report = c.Replies[i-1].Reply, c.Replies[i-1].Report
		} else {
			v.Reply, v.Report = drawReply(t), drawReport(t)
			v.Reply.Number = c.Number
		}
		if v.Reply.Stamp = (leader.VoteStamp{}); rapid.Bool().Draw(t, "stamped") {
			v.Reply.Stamp = leader.VoteStamp{Counter: rapid.Uint64().Draw(t, "starts"), At: 1 + drawInstant.Draw(t, "voted")/2}
		}
		c.Replies = append(c.Replies, v)
	}
	return c
}
