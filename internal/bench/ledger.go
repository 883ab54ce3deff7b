package bench

import (
	"encoding/binary"
	"hash/crc32"
	"hash/fnv"
	"sync"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// castLedger is the deliveries of a member's application in a form that can be compared
// between members: hashes of the deliveries in each view, and the pauses.
type castLedger struct {
	Boot   timed.BootID
	Stints []castStint
	Pauses []castPause
	// Skips are messages of a sender that were left out although it came along in
	// every view meanwhile. Twice counts those that came again.
	Skips []castSkip
	Twice uint64
	// Elsewhere are own messages of which the sender was told that another branch
	// of the group has ordered them.
	Elsewhere []castSkip
	Messages  uint64
	Overruns  int // incarnations that ended because the application was too slow
}

// castSkip are messages of one sender's incarnation, by their sequences.
type castSkip struct {
	Sender   timed.NodeID
	Boot     timed.BootID
	From, To uint64
	Messages uint64
	View     membership.ViewID
}

// covers reports that some ranges together contain a skip. Each lists its sequences
// once, so their numbers add up.
func covers(ranges []castSkip, s castSkip) bool {
	told := uint64(0)
	for _, r := range ranges {
		if from, to := max(r.From, s.From), min(r.To, s.To); r.Boot == s.Boot && from <= to {
			told += to - from + 1
		}
	}
	return told == s.To-s.From+1
}

// castStint is the deliveries in one view.
type castStint struct {
	View  membership.ViewID
	Next  membership.ViewID // none: the view is the current one
	Along idSet             // the members that moved together to Next
	Count uint64
	Hash  uint64
	// Marks are the hashes after every markEvery messages.
	Marks []uint64
}

// castPause is a time in which the application got nothing.
type castPause struct{ From, To timed.Instant }

const (
	markEvery = 1024
	// minPause is from which length on a pause is noted, and maxPauses how many are.
	minPause  = 5 * time.Millisecond
	maxPauses = 4096
	maxSkips  = 1000
	// floodHead is the size of the head of a payload: the number of the message among
	// those of its sender's incarnation.
	floodHead = 8
)

// ledger keeps a castLedger. It is safe for concurrent use.
type ledger struct {
	mu    sync.Mutex
	l     castLedger
	last  timed.Instant
	heard [timed.MaxNodes + 1]heardOf
}

// heardOf is the latest message of a sender.
type heardOf struct {
	boot     timed.BootID
	number   uint64
	sequence uint64
	parted   bool // it was not along in some view since
}

// note takes deliveries that the application had at now.
func (g *ledger) note(items []failaware.Delivery, now timed.Instant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.last != 0 && now.Sub(g.last) >= minPause && len(g.l.Pauses) < maxPauses {
		g.l.Pauses = append(g.l.Pauses, castPause{g.last, now})
	}
	for i := range items {
		switch it := &items[i]; it.Kind {
		case failaware.Message:
			g.message(it)
			g.last = now
		case failaware.ViewChange:
			g.viewChange(it)
		case failaware.NewIncarnation:
			g.l.Overruns++
			g.l.Stints = nil
			g.heard = [timed.MaxNodes + 1]heardOf{}
		case failaware.OutcomeLost:
			g.l.Elsewhere = append(g.l.Elsewhere, castSkip{Sender: it.ID.Sender, Boot: it.ID.Boot, From: it.Change.From, To: it.ID.Sequence})
		}
	}
}

func (g *ledger) viewChange(it *failaware.Delivery) {
	if n := len(g.l.Stints); n > 0 {
		g.l.Stints[n-1].Next, g.l.Stints[n-1].Along = it.View.ID, idSet{it.Change.Along}
	}
	for id := range g.heard {
		if !it.Change.Along.Has(timed.NodeID(id)) {
			g.heard[id].parted = true
		}
	}
	g.l.Stints = append(g.l.Stints, castStint{View: it.View.ID})
}

func (g *ledger) message(it *failaware.Delivery) {
	if len(it.Payload) < floodHead || len(g.l.Stints) == 0 {
		return
	}
	g.l.Messages++
	number := binary.BigEndian.Uint64(it.Payload)
	h := &g.heard[it.ID.Sender]
	s := &g.l.Stints[len(g.l.Stints)-1]
	switch {
	case h.boot != it.ID.Boot:
	case number <= h.number:
		g.l.Twice++
	case number > h.number+1 && !h.parted && len(g.l.Skips) < maxSkips:
		g.l.Skips = append(g.l.Skips, castSkip{it.ID.Sender, it.ID.Boot, h.sequence + 1, it.ID.Sequence - 1, number - h.number - 1, s.View})
	}
	*h = heardOf{boot: it.ID.Boot, number: number, sequence: it.ID.Sequence}

	var b [40]byte
	binary.BigEndian.PutUint64(b[:], s.Hash)
	binary.BigEndian.PutUint64(b[8:], uint64(it.ID.Sender))
	binary.BigEndian.PutUint64(b[16:], uint64(it.ID.Boot))
	binary.BigEndian.PutUint64(b[24:], it.Position)
	binary.BigEndian.PutUint32(b[32:], crc32.ChecksumIEEE(it.Payload))
	sum := fnv.New64a()
	_, _ = sum.Write(b[:]) // a hash takes everything
	s.Hash = sum.Sum64()
	if s.Count++; s.Count%markEvery == 0 {
		s.Marks = append(s.Marks, s.Hash)
	}
}

// take returns the ledger and forgets the pauses and the reports of lost outcomes.
func (g *ledger) take(boot timed.BootID) *castLedger {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.l
	l.Boot = boot
	l.Stints = append([]castStint(nil), g.l.Stints...)
	g.l.Pauses, g.l.Elsewhere = nil, nil
	return &l
}

// longest returns the longest pause that ends after since.
func (l *castLedger) longest(since timed.Instant) (d time.Duration) {
	for _, p := range l.Pauses {
		if p.To > since {
			d = max(d, p.To.Sub(p.From))
		}
	}
	return d
}

// agrees returns how two members' ledgers contradict each other, or "". Members of a
// view deliver prefixes of one sequence; those that move on together deliver the same.
func agrees(a, b *castLedger, aID, bID timed.NodeID) string {
	in := map[membership.ViewID]*castStint{}
	for i := range b.Stints {
		in[b.Stints[i].View] = &b.Stints[i]
	}
	for i := range a.Stints {
		x := &a.Stints[i]
		y := in[x.View]
		if y == nil {
			continue
		}
		for m := range min(len(x.Marks), len(y.Marks)) {
			if x.Marks[m] != y.Marks[m] {
				return "different messages in view " + x.View.String()
			}
		}
		together := !x.Next.None() && x.Next == y.Next && x.Along.Has(bID) && y.Along.Has(aID)
		if together && (x.Count != y.Count || x.Hash != y.Hash) {
			return "they moved on together from view " + x.View.String() + " with different messages"
		}
	}
	return ""
}
