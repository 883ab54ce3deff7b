package wire

import (
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// Lengths of the messages of global leadership.
const (
	quorumLen    = 2
	stampLen     = 2
	questionLen  = 1
	answerLen    = 4
	successorLen = 1
)

// What the hello says of a sender's standing beyond its lead, in one number.
const (
	standingGlobal = 1 << iota
	standingNamed
	standingSay
	standingAll = standingGlobal | standingNamed | standingSay
)

func standingOf(s *leader.State) (v uint64) {
	if s.Global {
		v |= standingGlobal
	}
	if s.Named {
		v |= standingNamed
	}
	if s.Say {
		v |= standingSay
	}
	return v
}

// global writes the frames of global leadership, and of hand-over.
func (w *writer) global(p *Packet) {
	if p.Frames&(FrameQuorum|FrameStamp|FrameQuestion|FrameAnswer|FrameSuccessor) == 0 {
		return
	}
	if p.Has(FrameQuorum) {
		w.open(wireQuorum, quorumLen)
		w.uint(p.Quorum.Epoch, 0, anyUint)
		w.uint(p.Quorum.Digest, 0, anyUint)
		w.close()
	}
	if p.Has(FrameStamp) {
		w.open(wireStamp, stampLen)
		w.stamp(p.Stamp)
		w.close()
	}
	if p.Has(FrameQuestion) {
		w.open(wireQuestion, questionLen)
		w.instant(p.Question.Asked)
		w.close()
	}
	if p.Has(FrameAnswer) {
		w.open(wireAnswer, answerLen)
		w.instant(p.Answer.Asked)
		w.uint(uint64(p.Answer.Asker), 1, anyUint)
		w.duration(p.Answer.Local)
		w.duration(p.Answer.Global)
		w.close()
	}
	if p.Has(FrameSuccessor) {
		w.open(wireSuccessor, successorLen)
		w.uint(uint64(p.Successor), 1, timed.MaxNodes)
		w.close()
	}
}

func (w *writer) stamp(s leader.VoteStamp) {
	w.uint(s.Counter, 0, anyUint)
	w.instant(s.At)
}

func (r *reader) stamp() leader.VoteStamp {
	return leader.VoteStamp{Counter: r.uint(0, anyUint), At: r.instant()}
}

// global reads the frames of global leadership, and of hand-over.
func (r *reader) global(kind byte, p *Packet) {
	switch kind {
	case wireQuorum:
		r.array(quorumLen, quorumLen)
		p.Quorum = leader.QuorumID{Epoch: r.uint(0, anyUint), Digest: r.uint(0, anyUint)}
	case wireStamp:
		r.array(stampLen, stampLen)
		p.Stamp = r.stamp()
	case wireQuestion:
		r.array(questionLen, questionLen)
		p.Question.Asked = r.instant()
	case wireAnswer:
		r.array(answerLen, answerLen)
		p.Answer = leader.Answer{Asked: r.instant(), Asker: timed.BootID(r.uint(1, anyUint)),
			Local: r.duration(), Global: r.duration()}
	case wireSuccessor:
		r.array(successorLen, successorLen)
		p.Successor = r.node(1)
	}
}
