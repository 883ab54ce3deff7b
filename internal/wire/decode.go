package wire

import (
	"math"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// frame reads the message of a frame of a known type into p. It reads the fields
// in the order in which writer writes them.
func (r *reader) frame(kind byte, p *Packet) {
	switch kind {
	case typeHello:
		r.hello(p)
	case typeInUse:
		r.inUse(p)
	case typeRelease:
		r.array(releaseLen, releaseLen)
		p.Release = r.instant()
	case typeResign:
		p.Resign = r.viewFrame()
	case typeDropped:
		p.Dropped = r.viewFrame()
	case typeRequest:
		r.request(p)
	case typeLine:
		r.line(&p.Line)
	case typeReply:
		r.reply(p)
	case typeLeaving:
		r.array(leavingLen, leavingLen)
		p.Forget = r.bool()
	case typeBroadcast:
		r.broadcast(p.Broadcast)
	case typeUTC:
		r.utc(p.Header.Version, &p.UTC)
	case typeSamples:
		r.samples(&p.Samples)
	case typeTree:
		r.tree(p)
	case typeCollated:
		r.collated(p.Collated)
	case typeEpoch:
		p.Epoch = r.epoch()
	case typeMembers:
		p.Members = r.memberFrame(p.Members[:0])
	case typeLabels:
		p.Labels = r.labels()
	case typeUsed:
		p.Used = r.used()
	default:
		r.quorumFrame(kind, p)
	}
}

func (r *reader) hello(p *Packet) {
	n := helloLen(p.Header.Version)
	r.array(n, n)
	p.MaxDrift = timed.Drift(r.int(0, int64(timed.MaxDrift)))
	p.FastThreshold = r.duration()
	p.State = leader.State{
		Leading:   r.bool(),
		Contender: r.bool(),
		Support:   uint8(r.uint(0, timed.MaxNodes)),
		Weight:    uint16(r.uint(0, 1<<16-1)),
		LockedTo:  r.incarnation(),
		MaxLock:   r.duration(),
	}
	setFlags(&p.State, r.uint(0, stateFlags))
	if p.Header.Version >= WithPeriod {
		p.KeepalivePeriod = r.duration()
	}
}

// viewFrame reads a frame that consists of a view id.
func (r *reader) viewFrame() membership.ViewID {
	r.array(viewIDLen, viewIDLen)
	id := r.viewID()
	if id.None() {
		r.fail(ErrRange)
	}
	return id
}

func (r *reader) inUse(p *Packet) {
	n := inUseLen(p.Header.Version)
	r.array(n, n)
	p.InUse, p.InUseAge = timed.BootID(r.uint(1, math.MaxUint64)), datagram.Unknown
	if p.Header.Version >= WithHeard {
		p.InUseAge = r.duration()
	}
}

func (r *reader) request(p *Packet) {
	n := r.array(requestLen, commitLen)
	p.Request = leader.Request{Number: r.instant(), LockTime: r.duration()}
	kind := membership.PartKind(r.uint(uint64(membership.NoPart), uint64(membership.Commit)))
	want := requestLen
	switch kind {
	case membership.Renew:
		want = renewLen(p.Header.Version)
	case membership.Propose:
		want = proposeLen
	case membership.Commit:
		want = commitLen
	}
	if n != want {
		r.fail(ErrLength)
	}
	part := &p.Part
	part.Kind = kind
	if kind == membership.NoPart {
		return
	}
	part.ID = r.viewID()
	if kind != membership.Propose {
		part.Until = r.instant()
	}
	if kind == membership.Renew && p.Header.Version >= WithAnswered {
		part.Answered = r.instant()
	}
	if kind != membership.Renew {
		part.View = r.members(part.ID, kind == membership.Commit)
	}
	if r.err == nil {
		r.err = checkPart(part)
	}
}

func (r *reader) line(l *clocksync.Line) {
	r.array(lineLen, lineLen)
	l.Timeline = r.timeline()
	if l.Timeline.None() {
		r.fail(ErrRange)
	}
	l.Parent = r.timeline()
	l.Base = r.instant()
	l.Shown = clocksync.Time(r.int(-maxShown, maxShown))
	l.Rate = r.int(-clocksync.MaxSlewLimit, clocksync.MaxSlewLimit)
	l.Bend = r.instant()
	l.Next = r.int(-clocksync.MaxSlewLimit, clocksync.MaxSlewLimit)
	l.Until = r.instant()
}

func (r *reader) timeline() clocksync.TimelineID {
	sequence, i := r.sequencedID()
	return clocksync.TimelineID{Leader: i.Node, Boot: i.Boot, Sequence: sequence}
}

func (r *reader) reply(p *Packet) {
	r.array(replyLen, replyLen)
	r.replyValues(&p.Reply, &p.Report)
}

// replyValues reads the replyLen values of a reply and its report.
func (r *reader) replyValues(m *leader.Reply, v *membership.Report) {
	*m = leader.Reply{
		Number:   r.instant(),
		Support:  r.bool(),
		LockedTo: r.incarnation(),
		Prefers:  r.node(0),
	}
	*v = membership.Report{
		Acknowledged: r.viewID(),
		Installed:    r.viewID(),
		Sequence:     r.uint(0, membership.MaxSequence),
	}
}
