package wire

import (
	"math"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

// A broadcast frame is an array of the header's values, the set of sections that
// follow, and the sections. A list in a section is an array of arrays.
const (
	broadcastLen = 11 // view (3), known, have, stable (2), tails (2), floor, sections

	sectionRuns = 1 << iota >> 1
	sectionDecisions
	sectionWants
	sectionLog
	sectionDone
	sectionReport
	sectionPlan
	sectionCommit
	sectionEnd
)

// Lengths of the arrays in a broadcast frame.
const (
	runLen      = 10 // sender, boot, class, options, first, count, stamp, deviation, sizes, payload
	decisionLen = 6
	wantLen     = 5
	logLen      = 2
	markLen     = 3
	lackLen     = 2
	fillLen     = 6
	pieceLen    = 2
	reportLen   = pieceLen + 2*viewIDLen + 8
	planLen     = pieceLen + viewIDLen + 1
	groupLen    = viewIDLen + 4
	termsLen    = pieceLen + viewIDLen + 3
	branchLen   = viewIDLen + 4
)

// Limits of the lists in a broadcast frame.
const (
	maxRanges = 2 * timed.MaxNodes
	maxFills  = 8192
	maxMarks  = broadcast.MostIncarnations * timed.MaxNodes
)

// Bits of a run's options.
const (
	runAtomicity = 2 // bits to the left
	runBegins    = 1 << 4
	runEnds      = 1 << 5
	runOptions   = 1<<6 - 1
)

// optionCodes are the codes of orders: on the wire, Unordered is 0. Those of
// atomicities are the same, since WeakAtomicity is 0 there, then StrongAtomicity, then
// StrictAtomicity. optionOf is the inverse; 3 is the code of nothing.
var (
	optionCodes = [...]uint64{broadcast.TotalOrder: 1, broadcast.TimedOrder: 2, broadcast.Unordered: 0}
	optionOf    = [...]uint8{0: uint8(broadcast.Unordered), 1: uint8(broadcast.TotalOrder), 2: uint8(broadcast.TimedOrder), 3: 3}
)

// unknownDeviation stands for [clocksync.UnknownBound] on the wire.
const unknownDeviation = -1

// sections returns the set of a packet's sections and their number.
func sections(p *broadcast.Packet) (set uint64, n int) {
	for i, has := range [...]bool{len(p.Runs) > 0, len(p.Decisions) > 0, len(p.Wants) > 0, p.Log != broadcast.Span{},
		!p.Done.None(), p.Report != nil, p.Plan != nil, p.Commit != nil} {
		if has {
			set |= 1 << i
			n++
		}
	}
	return set, n
}

func (w *writer) broadcast(p *broadcast.Packet) {
	if p == nil {
		w.kind = typeBroadcast
		w.fail(ErrRange)
		return
	}
	set, n := sections(p)
	w.open(typeBroadcast, broadcastLen+n)
	w.viewID(p.View)
	w.sequence(p.Known)
	w.sequence(p.Have)
	w.pair(p.Stable)
	w.pair(p.Tails)
	w.time(p.Floor)
	w.uint(set, 0, sectionEnd-1)
	w.messages(p, set)
	w.change(p, set)
	w.close()
}

// messages writes the sections of messages and their order.
func (w *writer) messages(p *broadcast.Packet, set uint64) {
	if set&sectionRuns != 0 {
		w.list(len(p.Runs), broadcast.MostRuns)
		for i := range p.Runs {
			w.run(&p.Runs[i])
		}
	}
	if set&sectionDecisions != 0 {
		w.list(len(p.Decisions), broadcast.MostDecisions)
		for i := range p.Decisions {
			w.decision(&p.Decisions[i])
		}
	}
	if set&sectionWants != 0 {
		w.list(len(p.Wants), broadcast.MostWants)
		for i := range p.Wants {
			w.want(&p.Wants[i])
		}
	}
	if set&sectionLog != 0 {
		w.array(logLen)
		w.uint(p.Log.From, 1, broadcast.MaxSequence)
		w.uint(p.Log.To, p.Log.From, broadcast.MaxSequence)
	}
}

// change writes the sections of a view change.
func (w *writer) change(p *broadcast.Packet, set uint64) {
	if set&sectionDone != 0 {
		w.array(viewIDLen)
		w.viewID(p.Done)
	}
	if set&sectionReport != 0 {
		w.report(p.Report)
	}
	if set&sectionPlan != 0 {
		w.plan(p.Plan)
	}
	if set&sectionCommit != 0 {
		w.commit(p.Commit)
	}
}

func (w *writer) pair(p [2]uint64) {
	w.sequence(p[0])
	w.sequence(p[1])
}

func (w *writer) sequence(v uint64) { w.uint(v, 0, broadcast.MaxSequence) }

func (w *writer) time(t clocksync.Time) {
	w.int(int64(t), -int64(broadcast.MaxTime), int64(broadcast.MaxTime))
}

// list writes the length of a list, which is at most most.
func (w *writer) list(n, most int) {
	if n > most {
		w.fail(ErrRange)
	}
	w.array(n)
}

// sender writes an incarnation, which must be valid.
func (w *writer) sender(i timed.Incarnation) {
	w.uint(uint64(i.Node), 1, timed.MaxNodes)
	w.uint(uint64(i.Boot), 1, math.MaxUint64)
}

func (w *writer) run(r *broadcast.Run) {
	if !r.Valid() {
		w.fail(ErrRange)
		return
	}
	w.array(runLen)
	w.sender(timed.Incarnation{Node: r.Sender, Boot: r.Boot})
	w.uint(uint64(r.Class), 0, 1)
	options := optionCodes[r.Options.Order] | optionCodes[r.Options.Atomicity]<<runAtomicity
	if r.Begins {
		options |= runBegins
	}
	if r.Ends {
		options |= runEnds
	}
	w.uint(options, 0, runOptions)
	w.uint(r.First, 1, broadcast.MaxSequence)
	w.uint(uint64(r.Count), 1, broadcast.MaxRun)
	w.time(r.Stamp)
	if r.Deviation == clocksync.UnknownBound {
		w.int(unknownDeviation, unknownDeviation, unknownDeviation)
	} else {
		w.int(int64(r.Deviation), 0, math.MaxInt64)
	}
	if r.Sizes == nil {
		w.uint(uint64(r.Size), 0, math.MaxUint32)
	} else {
		w.array(len(r.Sizes))
		for _, n := range r.Sizes {
			w.uint(uint64(n), 0, math.MaxUint32)
		}
	}
	w.bytes(r.Payload)
}

func (w *writer) decision(d *broadcast.Decision) {
	w.array(decisionLen)
	w.uint(d.Number, 1, broadcast.MaxSequence)
	w.uint(uint64(d.Next), 0, timed.MaxNodes)
	w.bool(d.Urgent)
	w.time(d.Floor)
	w.uint(uint64(d.Leeway), 0, uint64(timed.MaxDuration))
	if len(d.Ranges) > maxRanges {
		w.fail(ErrRange)
	}
	w.array(2 * len(d.Ranges))
	for i := range d.Ranges {
		r := &d.Ranges[i]
		w.uint(uint64(r.Member)<<1|uint64(r.Class), 0, 2*timed.MaxNodes+1)
		w.uint(r.To, 1, broadcast.MaxSequence)
	}
}

func (w *writer) want(t *broadcast.Want) {
	w.array(wantLen)
	w.sender(timed.Incarnation{Node: t.Sender, Boot: t.Boot})
	w.uint(uint64(t.Class), 0, 1)
	w.uint(t.From, 1, broadcast.MaxSequence)
	w.uint(t.To, t.From, broadcast.MaxSequence)
}

func (w *writer) marks(marks []broadcast.Mark, most int) {
	w.list(len(marks), most)
	for _, m := range marks {
		w.array(markLen)
		w.sender(timed.Incarnation{Node: m.Node, Boot: m.Boot})
		w.sequence(m.Sequence)
	}
}

// piece writes which part of a report, plan or commit this is.
func (w *writer) piece(p broadcast.Piece) {
	w.uint(uint64(p.Of), 1, broadcast.MaxPieces)
	w.uint(uint64(p.Number), 0, uint64(max(1, p.Of))-1)
}

func (w *writer) report(r *broadcast.Report) {
	w.array(reportLen)
	w.piece(r.Piece)
	w.viewID(r.Proposal)
	w.viewID(r.Previous)
	w.sequence(r.Have)
	w.pair(r.Stable)
	w.pair(r.Sent)
	w.marks(r.Acks, timed.MaxNodes)
	w.marks(r.Ordered, maxMarks)
	w.marks(r.Unordered, maxMarks)
}

func (w *writer) plan(p *broadcast.Plan) {
	w.array(planLen)
	w.piece(p.Piece)
	w.viewID(p.Proposal)
	w.list(len(p.Groups), timed.MaxNodes)
	for i := range p.Groups {
		g := &p.Groups[i]
		w.array(groupLen)
		w.viewID(g.Previous)
		w.sequence(g.End)
		w.uint(uint64(g.Source), 1, timed.MaxNodes)
		w.list(len(g.Lack), timed.MaxNodes)
		for _, l := range g.Lack {
			w.array(lackLen)
			w.uint(uint64(l.Node), 1, timed.MaxNodes)
			w.sequence(l.Have)
		}
		w.list(len(g.Fill), maxFills)
		for _, f := range g.Fill {
			w.array(fillLen)
			w.uint(uint64(f.Member), 1, timed.MaxNodes)
			w.uint(uint64(f.Holder), 1, timed.MaxNodes)
			w.sender(timed.Incarnation{Node: f.Sender, Boot: f.Boot})
			w.sequence(f.From)
			w.sequence(f.To)
		}
	}
}

func (w *writer) commit(c *broadcast.Commit) {
	w.array(termsLen)
	w.piece(c.Piece)
	w.viewID(c.Proposal)
	w.list(len(c.Branches), timed.MaxNodes)
	for i := range c.Branches {
		b := &c.Branches[i]
		w.array(branchLen)
		w.viewID(b.Previous)
		w.sequence(b.End)
		w.pair(b.Stable)
		w.marks(b.Acks, timed.MaxNodes)
	}
	w.marks(c.Ordered, maxMarks)
	w.marks(c.Unordered, maxMarks)
}
