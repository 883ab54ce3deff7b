package bench

import (
	"encoding/binary"
	"hash/crc32"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// history is the deliveries of a member's application in a form that can be compared
// between members: hashes of the deliveries in each view, and the pauses.
type history struct {
	Stints []castStint
	Pauses []castPause
	// Skips are messages of a sender that were left out although it came along in
	// every view meanwhile. Twice counts those that came again.
	Skips []castSkip
	Twice uint64
	// Elsewhere are own messages that another branch of the group has ordered, as
	// reported to their sender.
	Elsewhere []castSkip
	Messages  uint64
}

// castSkip are messages of one sender's incarnation, by their sequences.
type castSkip struct {
	Sender   timed.NodeID
	Boot     timed.BootID
	From, To uint64
	Messages uint64
	View     membership.ViewID
}

// covers reports whether some ranges together contain a skip. Each lists its sequences
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
	Along timed.Set         // the members that moved together to Next
	Count uint64
	Hash  uint64
	// Marks are the hashes after every markEvery messages.
	Marks []uint64
}

// castPause is a time in which the application got nothing.
type castPause struct{ From, To timed.Instant }

const (
	markEvery = 1024
	// minPause is the shortest pause that is recorded, and maxPauses the number of
	// recorded pauses.
	minPause  = 5 * time.Millisecond
	maxPauses = 4096
	maxSkips  = 1000
	// floodHead is the size of the head of a payload: the number of the message among
	// those of its sender's incarnation.
	floodHead = 8
)

// historyRecorder records a history. It is safe for concurrent use.
type historyRecorder struct {
	mu    sync.Mutex
	h     history
	last  timed.Instant
	heard [timed.MaxNodes + 1]latestMessage
}

// latestMessage is the latest message of a sender.
type latestMessage struct {
	boot     timed.BootID
	number   uint64
	sequence uint64
	parted   bool // it was not along in some view since
}

// note takes deliveries that the application had at now.
func (r *historyRecorder) note(items []failaware.Delivery, now timed.Instant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != 0 && now.Sub(r.last) >= minPause && len(r.h.Pauses) < maxPauses {
		r.h.Pauses = append(r.h.Pauses, castPause{r.last, now})
	}
	for i := range items {
		switch c := items[i].Change.(type) {
		case nil:
			r.message(&items[i])
			r.last = now
		case failaware.ViewChange:
			r.viewChange(items[i].View.ID, c.Along)
		case failaware.NewIncarnation:
			r.h.Stints = nil
			r.heard = [timed.MaxNodes + 1]latestMessage{}
		case failaware.OutcomeLost:
			r.h.Elsewhere = append(r.h.Elsewhere, castSkip{Sender: c.From.Sender, Boot: c.From.Boot, From: c.From.Sequence, To: c.Through.Sequence})
		}
	}
}

func (r *historyRecorder) viewChange(next failaware.ViewID, along timed.Set) {
	if n := len(r.h.Stints); n > 0 {
		r.h.Stints[n-1].Next, r.h.Stints[n-1].Along = next, along
	}
	for id := range r.heard {
		if !along.Has(timed.NodeID(id)) {
			r.heard[id].parted = true
		}
	}
	r.h.Stints = append(r.h.Stints, castStint{View: next})
}

func (r *historyRecorder) message(it *failaware.Delivery) {
	if len(it.Payload) < floodHead || len(r.h.Stints) == 0 {
		return
	}
	r.h.Messages++
	number := binary.BigEndian.Uint64(it.Payload)
	h := &r.heard[it.ID.Sender]
	s := &r.h.Stints[len(r.h.Stints)-1]
	switch {
	case h.boot != it.ID.Boot:
	case number <= h.number:
		r.h.Twice++
	case number > h.number+1 && !h.parted && len(r.h.Skips) < maxSkips:
		r.h.Skips = append(r.h.Skips, castSkip{it.ID.Sender, it.ID.Boot, h.sequence + 1, it.ID.Sequence - 1, number - h.number - 1, s.View})
	}
	*h = latestMessage{boot: it.ID.Boot, number: number, sequence: it.ID.Sequence}

	var b [40]byte
	binary.BigEndian.PutUint64(b[:], s.Hash)
	binary.BigEndian.PutUint64(b[8:], uint64(it.ID.Sender))
	binary.BigEndian.PutUint64(b[16:], uint64(it.ID.Boot))
	binary.BigEndian.PutUint64(b[24:], it.Position)
	binary.BigEndian.PutUint32(b[32:], crc32.ChecksumIEEE(it.Payload))
	sum := fnv.New64a()
	_, _ = sum.Write(b[:]) // a hash never fails
	s.Hash = sum.Sum64()
	if s.Count++; s.Count%markEvery == 0 {
		s.Marks = append(s.Marks, s.Hash)
	}
}

// take returns the history and forgets the pauses and the reports of lost outcomes.
func (r *historyRecorder) take() *history {
	r.mu.Lock()
	defer r.mu.Unlock()
	result := r.h
	result.Stints = slices.Clone(r.h.Stints)
	r.h.Pauses, r.h.Elsewhere = nil, nil
	return &result
}

// longest returns the longest pause that ends after since.
func (h *history) longest(since timed.Instant) (d time.Duration) {
	for _, p := range h.Pauses {
		if p.To > since {
			d = max(d, p.To.Sub(p.From))
		}
	}
	return d
}

// agrees returns how two members' histories contradict each other, or "". Members of a
// view deliver prefixes of one sequence; those that move together deliver the same.
func agrees(a, b *history, aID, bID timed.NodeID) string {
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
		if n := min(len(x.Marks), len(y.Marks)); !slices.Equal(x.Marks[:n], y.Marks[:n]) {
			return "different messages in view " + x.View.String()
		}
		together := !x.Next.None() && x.Next == y.Next && x.Along.Has(bID) && y.Along.Has(aID)
		if together && (x.Count != y.Count || x.Hash != y.Hash) {
			return "they moved on together from view " + x.View.String() + " with different messages"
		}
	}
	return ""
}
