package wire

import (
	"math"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// Lengths of the messages' arrays of quorum systems and hand-over.
const (
	quorumLen    = 2
	stampLen     = 2
	questionLen  = 1
	answerLen    = 4
	successorLen = 1
)

// Flags of the sender's state that the hello holds in one number.
const (
	flagGlobal = 1 << iota
	flagNamed
	flagQuorate
	flagLate
	stateFlags = flagGlobal | flagNamed | flagQuorate | flagLate
)

func flagsOf(s *leader.State) (v uint64) {
	if s.Global {
		v |= flagGlobal
	}
	if s.Named {
		v |= flagNamed
	}
	if s.Quorate {
		v |= flagQuorate
	}
	if s.Late {
		v |= flagLate
	}
	return v
}

func setFlags(s *leader.State, v uint64) {
	s.Global, s.Named, s.Quorate, s.Late = v&flagGlobal != 0, v&flagNamed != 0, v&flagQuorate != 0, v&flagLate != 0
}

// quorumFrames writes the frames of quorum systems and hand-over.
func (w *writer) quorumFrames(p *Packet) {
	if p.Frames&(FrameQuorum|FrameStamp|FrameQuestion|FrameAnswer|FrameSuccessor) == 0 {
		return
	}
	if p.Has(FrameQuorum) {
		w.open(typeQuorum, quorumLen)
		w.uint(p.Quorum.Epoch, 0, math.MaxUint64)
		w.uint(p.Quorum.Digest, 0, math.MaxUint64)
		w.close()
	}
	if p.Has(FrameStamp) {
		w.open(typeStamp, stampLen)
		w.stamp(p.Stamp)
		w.close()
	}
	if p.Has(FrameQuestion) {
		w.open(typeQuestion, questionLen)
		w.instant(p.Question.Asked)
		w.close()
	}
	if p.Has(FrameAnswer) {
		w.open(typeAnswer, answerLen)
		w.instant(p.Answer.Asked)
		w.uint(uint64(p.Answer.Asker), 1, math.MaxUint64)
		w.duration(p.Answer.Local)
		w.duration(p.Answer.Global)
		w.close()
	}
	if p.Has(FrameSuccessor) {
		w.open(typeSuccessor, successorLen)
		w.uint(uint64(p.Successor), 1, timed.MaxNodes)
		w.close()
	}
}

func (w *writer) stamp(s leader.VoteStamp) {
	w.uint(s.Counter, 0, math.MaxUint64)
	w.instant(s.At)
}

func (r *reader) stamp() leader.VoteStamp {
	return leader.VoteStamp{Counter: r.uint(0, math.MaxUint64), At: r.instant()}
}

// quorumFrame reads a frame of quorum systems or hand-over.
func (r *reader) quorumFrame(kind byte, p *Packet) {
	switch kind {
	case typeQuorum:
		r.array(quorumLen, quorumLen)
		p.Quorum = leader.QuorumID{Epoch: r.uint(0, math.MaxUint64), Digest: r.uint(0, math.MaxUint64)}
	case typeStamp:
		r.array(stampLen, stampLen)
		p.Stamp = r.stamp()
	case typeQuestion:
		r.array(questionLen, questionLen)
		p.Question.Asked = r.instant()
	case typeAnswer:
		r.array(answerLen, answerLen)
		p.Answer = leader.Answer{Asked: r.instant(), Asker: timed.BootID(r.uint(1, math.MaxUint64)),
			Local: r.duration(), Global: r.duration()}
	case typeSuccessor:
		r.array(successorLen, successorLen)
		p.Successor = r.node(1)
	}
}
