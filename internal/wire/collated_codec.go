package wire

import (
	"math"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// A tree frame is an array of the fanout and the targets as four words of bits,
// the smallest ids first; it goes with a request. A collated frame is an array of the requester (2), the
// number of the request, and the replies, an array of arrays:
//
//	[id, boot]         says the same as the one before it
//	[id, boot, reply]  the values of a reply frame
//
// each with the two values of a stamp frame at its end if the vote has a stamp.
const (
	treeLen      = 1 + 4
	collatedLen  = 4
	relayedAgain = 2
	relayedWhole = 2 + replyLen
)

// TreeBytes is what the tree takes in a request at most.
const TreeBytes = frameHead + 1 + 1 + 4*9

// treeLeast is the smallest tree: one reply has nothing to be collated with.
const treeLeast = 2

func (w *writer) tree(p *Packet) {
	t := &p.Request.Tree
	w.open(wireTree, treeLen)
	if !p.Has(FrameRequest) || t.Target.Len() < treeLeast {
		w.fail(ErrRange)
	}
	w.uint(uint64(t.Fanout), leader.MinFanout, leader.MaxFanout)
	for _, word := range t.Target.Words() {
		w.uint(word, 0, math.MaxUint64)
	}
	w.close()
}

func (r *reader) tree(p *Packet) {
	r.array(treeLen, treeLen)
	t := &p.Request.Tree
	t.Fanout = uint8(r.uint(leader.MinFanout, leader.MaxFanout))
	var words [4]uint64
	for i := range words {
		words[i] = r.uint(0, math.MaxUint64)
	}
	t.Target = timed.SetOfWords(words)
	if !p.Has(FrameRequest) || words[0]&1 != 0 || t.Target.Len() < treeLeast {
		r.fail(ErrRange)
	}
}

func (w *writer) collated(c *Collated) {
	w.open(wireCollated, collatedLen)
	if c == nil || len(c.Replies) == 0 {
		w.fail(ErrRange)
		return
	}
	w.sender(c.Leader)
	w.instant(c.Number)
	w.list(len(c.Replies), timed.MaxNodes)
	for i := range c.Replies {
		v := &c.Replies[i]
		if v.Reply.Number != c.Number {
			w.fail(ErrRange)
		}
		again := i > 0 && v.alike(&c.Replies[i-1])
		n := relayedWhole
		if again {
			n = relayedAgain
		}
		if v.stamped() {
			n += stampLen
		}
		w.array(n)
		w.sender(v.Voter)
		if !again {
			w.answer(&v.Reply, &v.Report)
		}
		if v.stamped() {
			w.stamp(v.Reply.Stamp)
		}
	}
	w.close()
}

// collated reads a collated frame into c, whose memory is used again.
func (r *reader) collated(c *Collated) {
	c.Replies = c.Replies[:0]
	r.array(collatedLen, collatedLen)
	c.Leader, c.Number = r.sender(), r.instant()
	for i := range r.array(1, timed.MaxNodes) {
		n := r.array(relayedAgain, relayedWhole+stampLen)
		whole, again := n >= relayedWhole, n == relayedAgain || n == relayedAgain+stampLen
		stamped := n == relayedAgain+stampLen || n == relayedWhole+stampLen
		if !whole && (!again || i == 0) || whole && n != relayedWhole && !stamped {
			r.fail(ErrLength)
		}
		if r.err != nil {
			return
		}
		c.Replies = append(c.Replies, Relayed{})
		v := &c.Replies[i]
		v.Voter = r.sender()
		if whole {
			r.answer(&v.Reply, &v.Report)
			if v.Reply.Number != c.Number {
				r.fail(ErrRange)
			}
		} else {
			v.Reply, v.Report = c.Replies[i-1].Reply, c.Replies[i-1].Report
			v.Reply.Stamp = leader.VoteStamp{}
		}
		if stamped {
			if v.Reply.Stamp = r.stamp(); !v.stamped() {
				r.fail(ErrRange)
			}
		}
	}
}
