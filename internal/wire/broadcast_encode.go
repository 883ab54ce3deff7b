package wire

import (
	"math"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

// MaxBroadcast is the largest packet with a broadcast frame, in bytes, unless
// MaxPacket is larger: what one UDP datagram carries over IPv6.
const MaxBroadcast = 65_000

// A broadcast frame is an array of the header's values, a number that says which
// sections follow, and the sections. A list in a section is an array of arrays.
const (
	castHeader = 11 // view (3), known, have, stable (2), tails (2), floor, sections

	castRuns = 1 << iota >> 1
	castDecisions
	castWants
	castLog
	castDone
	castReport
	castPlan
	castCommit
	castEnd
)

// Lengths of the arrays in a broadcast frame.
const (
	runLen      = 10 // sender, boot, class, options, first, count, stamp, deviation, sizes, payload
	decisionLen = 5
	wantLen     = 5
	markLen     = 3
	lackLen     = 2
	fillLen     = 6
	pieceLen    = 2
)

// Limits of the lists in a broadcast frame.
const (
	mostRuns      = 1024
	mostDecisions = 1024
	mostRanges    = 2 * timed.MaxNodes
	mostWants     = 1024
	mostFills     = 8192
)

// Bits of a run's options.
const (
	runAtomicity = 2 // bits to the left
	runBegins    = 1 << 4
	runEnds      = 1 << 5
	runOptions   = 1<<6 - 1
)

// noBound stands for [clocksync.UnknownBound] on the wire.
const noBound = -1

// sections returns which sections a packet has.
func sections(p *broadcast.Packet) (bits uint64, n int) {
	for i, has := range [...]bool{len(p.Runs) > 0, len(p.Decisions) > 0, len(p.Wants) > 0, p.Log != broadcast.Span{},
		!p.Done.None(), p.Report != nil, p.Plan != nil, p.Commit != nil} {
		if has {
			bits |= 1 << i
			n++
		}
	}
	return bits, n
}

func (w *writer) cast(p *broadcast.Packet) {
	if p == nil {
		w.kind = wireCast
		w.fail(ErrRange)
		return
	}
	bits, n := sections(p)
	w.open(wireCast, castHeader+n)
	w.viewID(p.View)
	w.sequence(p.Known)
	w.sequence(p.Have)
	w.pair(p.Stable)
	w.pair(p.Tails)
	w.time(p.Floor)
	w.uint(bits, 0, castEnd-1)
	if bits&castRuns != 0 {
		w.list(len(p.Runs), mostRuns)
		for i := range p.Runs {
			w.run(&p.Runs[i])
		}
	}
	if bits&castDecisions != 0 {
		w.list(len(p.Decisions), mostDecisions)
		for i := range p.Decisions {
			w.decision(&p.Decisions[i])
		}
	}
	if bits&castWants != 0 {
		w.list(len(p.Wants), mostWants)
		for i := range p.Wants {
			t := &p.Wants[i]
			w.array(wantLen)
			w.sender(timed.Incarnation{Node: t.Sender, Boot: t.Boot})
			w.uint(uint64(t.Class), 0, 1)
			w.uint(t.From, 1, broadcast.MaxSequence)
			w.uint(t.To, t.From, broadcast.MaxSequence)
		}
	}
	if bits&castLog != 0 {
		w.array(2)
		w.uint(p.Log.From, 1, broadcast.MaxSequence)
		w.uint(p.Log.To, p.Log.From, broadcast.MaxSequence)
	}
	if bits&castDone != 0 {
		w.array(viewIDLen)
		w.viewID(p.Done)
	}
	if bits&castReport != 0 {
		w.castReport(p.Report)
	}
	if bits&castPlan != 0 {
		w.castPlan(p.Plan)
	}
	if bits&castCommit != 0 {
		w.castCommit(p.Commit)
	}
	w.close()
}

func (w *writer) pair(p [2]uint64) {
	w.sequence(p[0])
	w.sequence(p[1])
}

func (w *writer) sequence(v uint64) { w.uint(v, 0, broadcast.MaxSequence) }

func (w *writer) time(t clocksync.Time) {
	w.int(int64(t), -int64(broadcast.MaxTime), int64(broadcast.MaxTime))
}

// list writes the length of a list.
func (w *writer) list(n, most int) {
	if n > most {
		w.fail(ErrRange)
	}
	w.array(n)
}

// sender writes an incarnation that is not none.
func (w *writer) sender(i timed.Incarnation) {
	w.uint(uint64(i.Node), 1, timed.MaxNodes)
	w.uint(uint64(i.Boot), 1, anyUint)
}

func (w *writer) run(r *broadcast.Run) {
	if !r.Valid() {
		w.fail(ErrRange)
		return
	}
	w.array(runLen)
	w.sender(timed.Incarnation{Node: r.Sender, Boot: r.Boot})
	w.uint(uint64(r.Class), 0, 1)
	options := uint64(r.Options.Order) | uint64(r.Options.Atomicity)<<runAtomicity
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
		w.int(noBound, noBound, noBound)
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
	if len(d.Ranges) > mostRanges {
		w.fail(ErrRange)
	}
	w.array(2 * len(d.Ranges))
	for i := range d.Ranges {
		r := &d.Ranges[i]
		w.uint(uint64(r.Member)<<1|uint64(r.Class), 0, 2*timed.MaxNodes+1)
		w.uint(r.To, 1, broadcast.MaxSequence)
	}
}

func (w *writer) marks(marks []broadcast.Mark) {
	w.list(len(marks), timed.MaxNodes)
	for _, m := range marks {
		w.array(markLen)
		w.sender(timed.Incarnation{Node: m.Node, Boot: m.Boot})
		w.sequence(m.Sequence)
	}
}

// piece writes which part of a report, plan or commit follows.
func (w *writer) piece(p broadcast.Piece) {
	w.uint(uint64(p.Of), 1, broadcast.MaxPieces)
	w.uint(uint64(p.Number), 0, uint64(max(1, p.Of))-1)
}

func (w *writer) castReport(r *broadcast.Report) {
	w.array(pieceLen + 2*viewIDLen + 6)
	w.piece(r.Piece)
	w.viewID(r.Proposal)
	w.viewID(r.Previous)
	w.sequence(r.Have)
	w.pair(r.Stable)
	w.marks(r.Acks)
	w.marks(r.Ordered)
	w.marks(r.Unordered)
}

func (w *writer) castPlan(p *broadcast.Plan) {
	w.array(pieceLen + viewIDLen + 1)
	w.piece(p.Piece)
	w.viewID(p.Proposal)
	w.list(len(p.Groups), timed.MaxNodes)
	for i := range p.Groups {
		g := &p.Groups[i]
		w.array(viewIDLen + 4)
		w.viewID(g.Previous)
		w.sequence(g.End)
		w.uint(uint64(g.Source), 1, timed.MaxNodes)
		w.list(len(g.Lack), timed.MaxNodes)
		for _, l := range g.Lack {
			w.array(lackLen)
			w.uint(uint64(l.Node), 1, timed.MaxNodes)
			w.sequence(l.Have)
		}
		w.list(len(g.Fill), mostFills)
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

func (w *writer) castCommit(c *broadcast.Commit) {
	w.array(pieceLen + viewIDLen + 3)
	w.piece(c.Piece)
	w.viewID(c.Proposal)
	w.list(len(c.Branches), timed.MaxNodes)
	for i := range c.Branches {
		b := &c.Branches[i]
		w.array(viewIDLen + 4)
		w.viewID(b.Previous)
		w.sequence(b.End)
		w.pair(b.Stable)
		w.marks(b.Acks)
	}
	w.marks(c.Ordered)
	w.marks(c.Unordered)
}
