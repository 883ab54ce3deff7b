package stack

import (
	"math"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/membership"
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

func (w *writer) castReport(r *broadcast.Report) {
	w.array(2*viewIDLen + 6)
	w.viewID(r.Proposal)
	w.viewID(r.Previous)
	w.sequence(r.Have)
	w.pair(r.Stable)
	w.marks(r.Acks)
	w.marks(r.Ordered)
	w.marks(r.Unordered)
}

func (w *writer) castPlan(p *broadcast.Plan) {
	w.array(viewIDLen + 1)
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
	w.array(viewIDLen + 3)
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

// cast reads a broadcast frame into p, whose memory is used again.
func (r *reader) cast(p *broadcast.Packet) {
	p.Reset()
	n := r.array(castHeader, castHeader+8)
	p.View = r.viewID()
	p.Known, p.Have = r.sequence(), r.sequence()
	p.Stable, p.Tails = r.pair(), r.pair()
	p.Floor = r.time()
	bits := r.uint(0, castEnd-1)
	if bits&castRuns != 0 {
		for range r.array(1, mostRuns) {
			r.run(p)
		}
	}
	if bits&castDecisions != 0 {
		for range r.array(1, mostDecisions) {
			r.decision(p)
		}
	}
	if bits&castWants != 0 {
		for range r.array(1, mostWants) {
			r.array(wantLen, wantLen)
			i := r.sender()
			t := broadcast.Want{Sender: i.Node, Boot: i.Boot, Class: broadcast.Class(r.uint(0, 1)), From: r.uint(1, broadcast.MaxSequence)}
			t.To = r.uint(t.From, broadcast.MaxSequence)
			p.Wants = append(p.Wants, t)
		}
	}
	if bits&castLog != 0 {
		r.array(2, 2)
		p.Log.From = r.uint(1, broadcast.MaxSequence)
		p.Log.To = r.uint(p.Log.From, broadcast.MaxSequence)
	}
	if bits&castDone != 0 {
		p.Done = r.view()
	}
	if bits&castReport != 0 {
		p.Report = r.castReport()
	}
	if bits&castPlan != 0 {
		p.Plan = r.castPlan()
	}
	if bits&castCommit != 0 {
		p.Commit = r.castCommit()
	}
	if has, count := sections(p); has != bits || n != castHeader+count {
		r.fail(ErrLength)
	}
}

func (r *reader) pair() (p [2]uint64) {
	p[0], p[1] = r.sequence(), r.sequence()
	return p
}

func (r *reader) sequence() uint64 { return r.uint(0, broadcast.MaxSequence) }

func (r *reader) time() clocksync.Time {
	return clocksync.Time(r.int(-int64(broadcast.MaxTime), int64(broadcast.MaxTime)))
}

func (r *reader) sender() timed.Incarnation {
	return timed.Incarnation{Node: r.node(1), Boot: timed.BootID(r.uint(1, anyUint))}
}

func (r *reader) run(p *broadcast.Packet) {
	if r.err != nil {
		return
	}
	r.array(runLen, runLen)
	i := r.sender()
	t := broadcast.Run{Sender: i.Node, Boot: i.Boot, Class: broadcast.Class(r.uint(0, 1))}
	options := r.uint(0, runOptions)
	t.Options = broadcast.Options{Order: broadcast.Order(options & 3), Atomicity: broadcast.Atomicity(options >> runAtomicity & 3)}
	t.Begins, t.Ends = options&runBegins != 0, options&runEnds != 0
	t.First = r.uint(1, broadcast.MaxSequence)
	t.Count = int(r.uint(1, broadcast.MaxRun))
	t.Stamp = r.time()
	if t.Deviation = time.Duration(r.int(noBound, math.MaxInt64-1)); t.Deviation == noBound {
		t.Deviation = clocksync.UnknownBound
	}
	if r.isArray() {
		if n := r.array(t.Count, t.Count); n > 0 {
			t.Sizes = p.Lengths(n)
			for j := range t.Sizes {
				t.Sizes[j] = uint32(r.uint(0, math.MaxUint32))
			}
		}
	} else {
		t.Size = uint32(r.uint(0, math.MaxUint32))
	}
	t.Payload = r.bytes()
	if r.err == nil && !t.Valid() {
		r.fail(ErrRange)
	}
	p.Runs = append(p.Runs, t)
}

func (r *reader) decision(p *broadcast.Packet) {
	if r.err != nil {
		return
	}
	r.array(decisionLen, decisionLen)
	d := broadcast.Decision{Number: r.uint(1, broadcast.MaxSequence), Next: uint8(r.uint(0, timed.MaxNodes)), Urgent: r.bool(), Floor: r.time()}
	n := r.array(0, 2*mostRanges)
	if n%2 != 0 {
		r.fail(ErrLength)
	}
	d.Ranges = p.Ranges(n / 2)
	for i := range d.Ranges {
		v := r.uint(0, 2*timed.MaxNodes+1)
		d.Ranges[i] = broadcast.Range{Member: uint8(v >> 1), Class: broadcast.Class(v & 1), To: r.uint(1, broadcast.MaxSequence)}
	}
	p.Decisions = append(p.Decisions, d)
}

func (r *reader) marks() (out []broadcast.Mark) {
	for range r.array(0, timed.MaxNodes) {
		r.array(markLen, markLen)
		i := r.sender()
		out = append(out, broadcast.Mark{Node: i.Node, Boot: i.Boot, Sequence: r.sequence()})
		if r.err != nil {
			return nil
		}
	}
	return out
}

// proposal reads the id of a view that is not none.
func (r *reader) proposal() membership.ViewID {
	id := r.viewID()
	if id.None() {
		r.fail(ErrRange)
	}
	return id
}

func (r *reader) castReport() *broadcast.Report {
	r.array(2*viewIDLen+6, 2*viewIDLen+6)
	return &broadcast.Report{Proposal: r.proposal(), Previous: r.viewID(), Have: r.sequence(), Stable: r.pair(),
		Acks: r.marks(), Ordered: r.marks(), Unordered: r.marks()}
}

func (r *reader) castPlan() *broadcast.Plan {
	r.array(viewIDLen+1, viewIDLen+1)
	p := &broadcast.Plan{Proposal: r.proposal()}
	for range r.array(0, timed.MaxNodes) {
		r.array(viewIDLen+4, viewIDLen+4)
		g := broadcast.Group{Previous: r.proposal(), End: r.sequence(), Source: r.node(1)}
		for range r.array(0, timed.MaxNodes) {
			r.array(lackLen, lackLen)
			g.Lack = append(g.Lack, broadcast.Lack{Node: r.node(1), Have: r.sequence()})
		}
		for range r.array(0, mostFills) {
			r.array(fillLen, fillLen)
			f := broadcast.Fill{Member: r.node(1), Holder: r.node(1)}
			i := r.sender()
			f.Sender, f.Boot, f.From, f.To = i.Node, i.Boot, r.sequence(), r.sequence()
			g.Fill = append(g.Fill, f)
		}
		if r.err != nil {
			return nil
		}
		p.Groups = append(p.Groups, g)
	}
	return p
}

func (r *reader) castCommit() *broadcast.Commit {
	r.array(viewIDLen+3, viewIDLen+3)
	c := &broadcast.Commit{Proposal: r.proposal()}
	for range r.array(0, timed.MaxNodes) {
		r.array(viewIDLen+4, viewIDLen+4)
		b := broadcast.Branch{Previous: r.proposal(), End: r.sequence(), Stable: r.pair(), Acks: r.marks()}
		if r.err != nil {
			return nil
		}
		c.Branches = append(c.Branches, b)
	}
	c.Ordered, c.Unordered = r.marks(), r.marks()
	return c
}
