package wire

import (
	"math"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// broadcast reads a broadcast frame into p and reuses its memory.
func (r *reader) broadcast(p *broadcast.Packet) {
	p.Reset()
	n := r.array(broadcastLen, broadcastLen+8)
	p.View = r.viewID()
	p.Known, p.Have = r.sequence(), r.sequence()
	p.Stable, p.Tails = r.pair(), r.pair()
	p.Floor = r.time()
	set := r.uint(0, sectionEnd-1)
	r.messages(p, set)
	r.change(p, set)
	if has, count := sections(p); has != set || n != broadcastLen+count {
		r.fail(ErrLength)
	}
}

// messages reads the sections of messages and their order.
func (r *reader) messages(p *broadcast.Packet, set uint64) {
	if set&sectionRuns != 0 {
		for range r.array(1, broadcast.MostRuns) {
			r.run(p)
		}
	}
	if set&sectionDecisions != 0 {
		for range r.array(1, broadcast.MostDecisions) {
			r.decision(p)
		}
	}
	if set&sectionWants != 0 {
		for range r.array(1, broadcast.MostWants) {
			p.Wants = append(p.Wants, r.want())
		}
	}
	if set&sectionLog != 0 {
		r.array(logLen, logLen)
		p.Log.From = r.uint(1, broadcast.MaxSequence)
		p.Log.To = r.uint(p.Log.From, broadcast.MaxSequence)
	}
}

// change reads the sections of a view change.
func (r *reader) change(p *broadcast.Packet, set uint64) {
	if set&sectionDone != 0 {
		p.Done = r.viewFrame()
	}
	if set&sectionReport != 0 {
		p.Report = r.report()
	}
	if set&sectionPlan != 0 {
		p.Plan = r.plan()
	}
	if set&sectionCommit != 0 {
		p.Commit = r.commit()
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
	return timed.Incarnation{Node: r.node(1), Boot: timed.BootID(r.uint(1, math.MaxUint64))}
}

func (r *reader) run(p *broadcast.Packet) {
	if r.err != nil {
		return
	}
	r.array(runLen, runLen)
	i := r.sender()
	t := broadcast.Run{Sender: i.Node, Boot: i.Boot, Class: broadcast.Class(r.uint(0, 1))}
	options := r.uint(0, runOptions)
	t.Options = broadcast.Options{Order: broadcast.Order(optionOf[options&3]),
		Atomicity: broadcast.Atomicity(optionOf[options>>runAtomicity&3])}
	t.Begins, t.Ends = options&runBegins != 0, options&runEnds != 0
	t.First = r.uint(1, broadcast.MaxSequence)
	t.Count = int(r.uint(1, broadcast.MaxRun))
	t.Stamp = r.time()
	if t.Deviation = time.Duration(r.int(unknownDeviation, math.MaxInt64-1)); t.Deviation == unknownDeviation {
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
	d := broadcast.Decision{Number: r.uint(1, broadcast.MaxSequence), Next: uint8(r.uint(0, timed.MaxNodes)), Urgent: r.bool(), Floor: r.time(),
		Leeway: time.Duration(r.uint(0, uint64(timed.MaxDuration)))}
	n := r.array(0, 2*maxRanges)
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

func (r *reader) want() broadcast.Want {
	r.array(wantLen, wantLen)
	i := r.sender()
	t := broadcast.Want{Sender: i.Node, Boot: i.Boot, Class: broadcast.Class(r.uint(0, 1)), From: r.uint(1, broadcast.MaxSequence)}
	t.To = r.uint(t.From, broadcast.MaxSequence)
	return t
}

func (r *reader) marks(most int) (out []broadcast.Mark) {
	for range r.array(0, most) {
		r.array(markLen, markLen)
		i := r.sender()
		out = append(out, broadcast.Mark{Node: i.Node, Boot: i.Boot, Sequence: r.sequence()})
		if r.err != nil {
			return nil
		}
	}
	return out
}

// proposal reads the id of a view, which must be valid.
func (r *reader) proposal() membership.ViewID {
	id := r.viewID()
	if id.None() {
		r.fail(ErrRange)
	}
	return id
}

func (r *reader) piece() (p broadcast.Piece) {
	p.Of = uint16(r.uint(1, broadcast.MaxPieces))
	p.Number = uint16(r.uint(0, uint64(max(1, p.Of))-1))
	return p
}

func (r *reader) report() *broadcast.Report {
	r.array(reportLen, reportLen)
	return &broadcast.Report{Piece: r.piece(), Proposal: r.proposal(), Previous: r.viewID(), Have: r.sequence(), Stable: r.pair(),
		Sent: r.pair(), Acks: r.marks(timed.MaxNodes), Ordered: r.marks(maxMarks), Unordered: r.marks(maxMarks)}
}

func (r *reader) plan() *broadcast.Plan {
	r.array(planLen, planLen)
	p := &broadcast.Plan{Piece: r.piece(), Proposal: r.proposal()}
	for range r.array(0, timed.MaxNodes) {
		r.array(groupLen, groupLen)
		g := broadcast.Group{Previous: r.proposal(), End: r.sequence(), Source: r.node(1)}
		for range r.array(0, timed.MaxNodes) {
			r.array(lackLen, lackLen)
			g.Lack = append(g.Lack, broadcast.Lack{Node: r.node(1), Have: r.sequence()})
		}
		for range r.array(0, maxFills) {
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

func (r *reader) commit() *broadcast.Commit {
	r.array(termsLen, termsLen)
	c := &broadcast.Commit{Piece: r.piece(), Proposal: r.proposal()}
	for range r.array(0, timed.MaxNodes) {
		r.array(branchLen, branchLen)
		b := broadcast.Branch{Previous: r.proposal(), End: r.sequence(), Stable: r.pair(), Acks: r.marks(timed.MaxNodes)}
		if r.err != nil {
			return nil
		}
		c.Branches = append(c.Branches, b)
	}
	c.Ordered, c.Unordered = r.marks(maxMarks), r.marks(maxMarks)
	return c
}
