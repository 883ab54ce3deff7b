package broadcast

import "bytes"

// Loan keeps the payload of a delivery unchanged until it is given back. The zero Loan is
// for payloads that need no loan.
type Loan struct{ home *chunk }

// Borrow keeps the payload of a delivery beyond Reclaim, until GiveBack. It must be called
// before Reclaim. The application must not write to the payload, because its bytes may
// still be sent to other members.
//
// A lent payload stays where it arrived, so its chunk is kept as long as anything in it is
// lent. An application that takes its deliveries in order usually keeps little more than
// the payloads. Borrow copies the payload instead if a loan would keep more than Backlog
// and lentChunks for each stream.
func (s *Service) Borrow(d *Delivery) Loan {
	c := d.home
	if c == nil {
		return Loan{}
	}
	if c.loans == 0 {
		if s.lent+cap(c.buf) > s.mayLend() {
			d.Payload, d.home = bytes.Clone(d.Payload), nil
			return Loan{}
		}
		s.lent += cap(c.buf)
	}
	c.loans++
	c.refs++
	return Loan{c}
}

// GiveBack ends n equal loans of this Service.
func (s *Service) GiveBack(l Loan, n int) {
	c := l.home
	if c == nil {
		return
	}
	if c.loans -= n; c.loans == 0 {
		s.lent -= cap(c.buf)
	}
	c.refs -= n - 1
	s.arena.drop(c)
}

// lentChunks is how many chunks of a stream may be lent beyond Backlog: the first and the
// last chunk of its waiting messages may hold little else.
const lentChunks = 2

// mayLend returns the limit of the bytes of lent chunks.
func (s *Service) mayLend() int {
	streams := int(classes)*len(s.members) + 1 // plus one for joined messages
	return s.cfg.Backlog + lentChunks*streams*chunkSize
}

// keep keeps a chunk until Reclaim, even if its entries are dropped before.
func (s *Service) keep(c *chunk) {
	if n := len(s.kept); n == 0 || s.kept[n-1] != c {
		c.refs++
		s.kept = append(s.kept, c)
	}
}

// join joins the fragments of a message.
func (s *Service) join(st *stream, from, to uint64) (*chunk, []byte) {
	n := 0
	for seq := from; seq <= to; seq++ {
		n += int(st.at(seq).size)
	}
	c := s.joined
	if n > chunkSize {
		c = s.arena.take(n)
	} else {
		c = s.arena.room(c, n)
		s.joined = c
	}
	off := len(c.buf)
	for seq := from; seq <= to; seq++ {
		c.add(st.at(seq).payload())
	}
	return c, c.buf[off : off+n : off+n]
}
