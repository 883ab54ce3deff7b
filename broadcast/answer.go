package broadcast

import (
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

const (
	maxAnswers  = 256     // requests that wait for an answer
	answerBytes = 1 << 18 // bytes of the answers of one turn
)

// answer is a request of a peer that waits for its answer.
type answer struct {
	to   timed.NodeID
	want Want // messages, unless log is set
	log  Span // decisions
	full bool // include the messages of the decisions
}

// handleWant takes a request for messages.
func (s *Service) handleWant(from timed.Incarnation, w Want) {
	if len(s.answers) < maxAnswers && w.Class < classes && w.From > 0 {
		s.answers = append(s.answers, answer{to: from.Node, want: w})
	}
}

// handleLogWant takes a request for decisions.
func (s *Service) handleLogWant(from timed.Incarnation, span Span) {
	if len(s.answers) < maxAnswers {
		s.answers = append(s.answers, answer{to: from.Node, log: span})
	}
}

// answer sends the requested messages and decisions that are held, also while a view
// changes. Peers ask again for those beyond the bytes of one turn.
func (s *Service) answer(reading clocksync.Reading, out []Effect) []Effect {
	if len(s.answers) == 0 {
		return out
	}
	header := s.header(reading)
	left := answerBytes
	for i := range s.answers {
		a := &s.answers[i]
		if a.log.From > 0 {
			out = s.answerLog(a, header, &left, out)
			continue
		}
		sts := s.streams[a.want.Sender]
		if sts == nil || sts[a.want.Class].boot != a.want.Boot {
			continue
		}
		out = s.resend(&sts[a.want.Class], a.want, a.to, header, &left, out)
	}
	s.answers = s.answers[:0]
	return out
}

// resend sends messages of a stream to one member.
func (s *Service) resend(st *stream, w Want, to timed.NodeID, h Header, left *int, out []Effect) []Effect {
	var l openPacket
	for seq := max(w.From, st.floor+1); seq <= min(w.To, st.top) && *left > 0; {
		if !st.has(seq) {
			seq++
			continue
		}
		from := seq
		l, out = s.pack(l, h, to, st, w.Class, w.Sender, &seq, min(w.To, st.top), out)
		*left -= int(seq-from)*perMessage + len(l.p.Runs[len(l.p.Runs)-1].Payload)
	}
	return out
}

// answerLog sends decisions to one member, with their messages if the request says so.
func (s *Service) answerLog(a *answer, h Header, left *int, out []Effect) []Effect {
	var p *Packet
	weight := 0
	last := min(a.log.To, a.log.From+logSize) // whatever the member asks for
	for k := a.log.From; k <= last && *left > 0; k++ {
		if !s.log.has(k) {
			continue
		}
		d := s.log.at(k).Decision
		w := decisionWeight + rangeWeight*len(d.Ranges)
		if p == nil || weight+w > s.cfg.PacketBytes {
			p, weight = s.take(), 0
			p.Header = h
			out = append(out, Effect{Kind: Send, Peer: a.to, Packet: p})
		}
		p.Decisions = append(p.Decisions, d)
		weight += w
		*left -= w
	}
	if !a.full {
		return out
	}
	for k := a.log.From; k <= last; k++ {
		if !s.log.has(k) {
			continue
		}
		d := s.log.at(k)
		for i := range d.Ranges {
			r := &d.Ranges[i]
			m := &s.members[r.Member]
			w := Want{Sender: m.Node, Boot: m.Boot, Class: r.Class, From: r.from, To: r.To}
			out = s.resend(m.stream(r.Class), w, a.to, h, left, out)
		}
	}
	return out
}
