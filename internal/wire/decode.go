package wire

import (
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// frame reads the message of a frame of a known type into p. The fields come in
// the order in which writer writes them.
func (r *reader) frame(kind byte, p *Packet) {
	switch kind {
	case wireHello:
		r.hello(p)
	case wireInUse:
		r.array(inUseLen, inUseLen)
		p.InUse = timed.BootID(r.uint(1, anyUint))
	case wireRelease:
		r.array(releaseLen, releaseLen)
		p.Release = r.instant()
	case wireResign:
		p.Resign = r.view()
	case wireDropped:
		p.Dropped = r.view()
	case wireRequest:
		r.request(p)
	case wireLine:
		r.line(&p.Line)
	case wireReply:
		r.reply(p)
	case wireLeaving:
		r.array(0, 0)
	case wireCast:
		r.cast(p.Broadcast)
	case wireUTC:
		r.utc(&p.UTC)
	case wireSamples:
		r.samples(&p.Samples)
	case wireTree:
		r.tree(p)
	case wireCollated:
		r.collated(p.Collated)
	case wireEpoch:
		p.Epoch = r.epoch()
	default:
		r.global(kind, p)
	}
}

func (r *reader) hello(p *Packet) {
	r.array(helloLen, helloLen)
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
	standing := r.uint(0, standingAll)
	p.State.Global, p.State.Named, p.State.Say = standing&standingGlobal != 0, standing&standingNamed != 0, standing&standingSay != 0
}

// view reads a frame that names a view.
func (r *reader) view() membership.ViewID {
	r.array(viewIDLen, viewIDLen)
	id := r.viewID()
	if id.None() {
		r.fail(ErrRange)
	}
	return id
}

func (r *reader) request(p *Packet) {
	n := r.array(requestLen, commitLen)
	p.Request = leader.Request{Number: r.instant(), LockTime: r.duration()}
	kind := membership.PartKind(r.uint(uint64(membership.NoPart), uint64(membership.Commit)))
	want := requestLen
	switch kind {
	case membership.Renew:
		want = renewLen
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
	sequence, i := r.sequenced()
	return clocksync.TimelineID{Leader: i.Node, Boot: i.Boot, Sequence: sequence}
}

func (r *reader) reply(p *Packet) {
	r.array(replyLen, replyLen)
	r.answer(&p.Reply, &p.Report)
}

// answer reads the replyLen values of a reply and its report.
func (r *reader) answer(m *leader.Reply, v *membership.Report) {
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
