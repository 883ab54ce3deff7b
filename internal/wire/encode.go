package wire

import (
	"math"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Lengths of the messages' arrays.
const (
	releaseLen = 1
	viewIDLen  = 3
	leavingLen = 1
	lineLen    = 12
	replyLen   = 12

	requestLen = 3                          // number, lock time, kind of the part
	proposeLen = requestLen + viewIDLen + 1 // plus view id and members
	commitLen  = requestLen + viewIDLen + 2 // plus view id, end of the lease and members
)

// helloLen returns the length of a hello.
func helloLen(version uint8) int {
	if version >= WithPeriod {
		return 11
	}
	return 10
}

// inUseLen returns the length of the message of a refusal: the incarnation and its age.
func inUseLen(version uint8) int {
	if version >= WithHeard {
		return 2
	}
	return 1
}

// renewLen returns the length of a request that renews a view: a request, the view's id, the
// end of its lease, and the request that all members have answered.
func renewLen(version uint8) int {
	n := requestLen + viewIDLen + 1
	if version >= WithAnswered {
		n++
	}
	return n
}

// maxShown bounds the absolute value of group time on the wire, so that projecting
// a line by the difference of two instants stays within 64 bits.
const maxShown = 1 << 62

// body writes the frames of p in the order of their types, except the broadcast
// frame, which is the last.
func (w *writer) body(p *Packet) {
	if p.Settings != nil {
		w.settings(p.Settings)
		return
	}
	w.hello(p)
	if p.Frames&^AllFrames != 0 {
		w.fail(ErrUnknownFrame)
		return
	}
	if p.Has(FrameInUse) {
		w.inUse(p)
	}
	if p.Has(FrameRelease) {
		w.open(typeRelease, releaseLen)
		w.instant(p.Release)
		w.close()
	}
	if p.Has(FrameResign) {
		w.viewFrame(typeResign, p.Resign)
	}
	if p.Has(FrameDropped) {
		w.viewFrame(typeDropped, p.Dropped)
	}
	if p.Has(FrameRequest) {
		w.request(p)
	}
	if p.Has(FrameLine) {
		w.line(&p.Line)
	}
	if p.Has(FrameReply) {
		w.reply(p)
	}
	if p.Has(FrameLeaving) {
		w.open(typeLeaving, leavingLen)
		w.bool(p.Forget)
		w.close()
	}
	if p.Has(FrameUTC) {
		w.utc(p.Header.Version, &p.UTC)
	}
	if p.Has(FrameSamples) {
		w.samples(&p.Samples)
	}
	w.quorumFrames(p)
	if p.Has(FrameTree) {
		w.tree(p)
	}
	if p.Has(FrameCollated) {
		w.collated(p.Collated)
	}
	if p.Has(FrameEpoch) {
		w.epoch(p.Epoch)
	}
	w.introductionFrames(p)
}

func (w *writer) inUse(p *Packet) {
	w.open(typeInUse, inUseLen(p.Header.Version))
	w.uint(uint64(p.InUse), 1, math.MaxUint64)
	if p.Header.Version >= WithHeard {
		w.duration(p.InUseAge)
	}
	w.close()
}

func (w *writer) hello(p *Packet) {
	w.open(typeHello, helloLen(p.Header.Version))
	w.int(int64(p.MaxDrift), 0, int64(timed.MaxDrift))
	w.duration(p.FastThreshold)
	w.bool(p.State.Leading)
	w.bool(p.State.Contender)
	w.uint(uint64(p.State.Support), 0, timed.MaxNodes)
	w.uint(uint64(p.State.Weight), 0, 1<<16-1)
	w.incarnation(p.State.LockedTo)
	w.duration(p.State.MaxLock)
	w.uint(flagsOf(&p.State), 0, stateFlags)
	if p.Header.Version >= WithPeriod {
		w.duration(p.KeepalivePeriod)
	}
	w.close()
}

// viewFrame writes a frame that consists of a view id.
func (w *writer) viewFrame(kind byte, id membership.ViewID) {
	w.open(kind, viewIDLen)
	if id.None() {
		w.fail(ErrRange)
	}
	w.viewID(id)
	w.close()
}

func (w *writer) request(p *Packet) {
	part := &p.Part
	n := requestLen
	switch part.Kind {
	case membership.Renew:
		n = renewLen(p.Header.Version)
	case membership.Propose:
		n = proposeLen
	case membership.Commit:
		n = commitLen
	}
	w.open(typeRequest, n)
	w.instant(p.Request.Number)
	w.duration(p.Request.LockTime)
	w.uint(uint64(part.Kind), uint64(membership.NoPart), uint64(membership.Commit))
	if err := checkPart(part); err != nil {
		w.fail(err)
		return
	}
	if part.Kind != membership.NoPart {
		w.viewID(part.ID)
	}
	if part.Kind == membership.Renew || part.Kind == membership.Commit {
		w.instant(part.Until)
	}
	if part.Kind == membership.Renew && p.Header.Version >= WithAnswered {
		w.instant(part.Answered)
	}
	if part.View != nil {
		w.members(part.View, part.Kind == membership.Commit)
	}
	w.close()
}

func (w *writer) line(l *clocksync.Line) {
	w.open(typeLine, lineLen)
	if l.Timeline.None() {
		w.fail(ErrRange)
	}
	w.timeline(l.Timeline)
	w.timeline(l.Parent)
	w.instant(l.Base)
	w.int(int64(l.Shown), -maxShown, maxShown)
	w.int(l.Rate, -clocksync.MaxSlewLimit, clocksync.MaxSlewLimit)
	w.instant(l.Bend)
	w.int(l.Next, -clocksync.MaxSlewLimit, clocksync.MaxSlewLimit)
	w.instant(l.Until)
	w.close()
}

func (w *writer) timeline(t clocksync.TimelineID) {
	w.sequencedID(t.Sequence, timed.Incarnation{Node: t.Leader, Boot: t.Boot})
}

func (w *writer) reply(p *Packet) {
	w.open(typeReply, replyLen)
	w.replyValues(&p.Reply, &p.Report)
	w.close()
}

// replyValues writes the replyLen values of a reply and its report.
func (w *writer) replyValues(r *leader.Reply, v *membership.Report) {
	w.instant(r.Number)
	w.bool(r.Support)
	w.incarnation(r.LockedTo)
	w.uint(uint64(r.Prefers), 0, timed.MaxNodes)
	w.viewID(v.Acknowledged)
	w.viewID(v.Installed)
	w.uint(v.Sequence, 0, membership.MaxSequence)
}
