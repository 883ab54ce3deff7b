package wire

import (
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// A tree frame goes with a request. It is an array of the fanout and the targets
// as four words of bits, the smallest ids first.
//
// A collated frame is an array of the requester (two values), the number of the
// request, and the replies, an array of arrays:
//
//	[id, boot]         repeats the reply before it
//	[id, boot, reply]  with the values of a reply frame
//
// Each ends with the two values of a stamp frame if the vote has a stamp.
const (
	treeLen     = 1 + 4
	collatedLen = 4
	repeatedLen = 2
	relayedLen  = 2 + replyLen
)

// minTree is how many targets the smallest tree has. With one there is nothing to
// collate.
const minTree = 2

func (w *writer) tree(p *Packet) {
	t := &p.Request.Tree
	w.open(typeTree, treeLen)
	if !p.Has(FrameRequest) || t.Target.Len() < minTree {
		w.fail(ErrRange)
	}
	w.uint(uint64(t.Fanout), leader.MinFanout, leader.MaxFanout)
	w.set(t.Target)
	w.close()
}

func (r *reader) tree(p *Packet) {
	r.array(treeLen, treeLen)
	t := &p.Request.Tree
	t.Fanout = uint8(r.uint(leader.MinFanout, leader.MaxFanout))
	t.Target = r.set()
	if !p.Has(FrameRequest) || t.Target.Len() < minTree {
		r.fail(ErrRange)
	}
}

func (w *writer) collated(c *Collated) {
	w.open(typeCollated, collatedLen)
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
		repeats := i > 0 && v.repeats(&c.Replies[i-1])
		n := relayedLen
		if repeats {
			n = repeatedLen
		}
		if v.hasStamp() {
			n += stampLen
		}
		w.array(n)
		w.sender(v.Voter)
		if !repeats {
			w.replyValues(&v.Reply, &v.Report)
		}
		if v.hasStamp() {
			w.stamp(v.Reply.Stamp)
		}
	}
	w.close()
}

// collated reads a collated frame into c and reuses its memory.
func (r *reader) collated(c *Collated) {
	c.Replies = c.Replies[:0]
	r.array(collatedLen, collatedLen)
	c.Leader, c.Number = r.sender(), r.instant()
	for i := range r.array(1, timed.MaxNodes) {
		n := r.array(repeatedLen, relayedLen+stampLen)
		full, repeats := n >= relayedLen, n == repeatedLen || n == repeatedLen+stampLen
		stamped := n == repeatedLen+stampLen || n == relayedLen+stampLen
		if !full && (!repeats || i == 0) || full && n != relayedLen && !stamped {
			r.fail(ErrLength)
		}
		if r.err != nil {
			return
		}
		c.Replies = append(c.Replies, Relayed{})
		v := &c.Replies[i]
		v.Voter = r.sender()
		if full {
			r.replyValues(&v.Reply, &v.Report)
			if v.Reply.Number != c.Number {
				r.fail(ErrRange)
			}
		} else {
			v.Reply, v.Report = c.Replies[i-1].Reply, c.Replies[i-1].Report
			v.Reply.Stamp = leader.VoteStamp{}
		}
		if stamped {
			if v.Reply.Stamp = r.stamp(); !v.hasStamp() {
				r.fail(ErrRange)
			}
		}
	}
}
