package broadcast

import "bytes"

// Loan keeps the payload of a delivery as it is until it is given back. The zero
// value is that of a payload that needs no keeping.
type Loan struct{ home *chunk }

// Borrow keeps the payload of a delivery for the application beyond Reclaim, which
// must not have been called since, until GiveBack. The application reads it, and
// must not write: the bytes may still be sent to other members.
//
// What is lent is where it came to lie when it arrived, so a chunk is kept as long
// as anything in it is lent. An application that takes its deliveries in their
// order keeps little more than them, as a rule; where it would keep more than
// Backlog and lentChunks for each stream, the payload is copied to memory of its own.
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

// GiveBack says that the payloads of n loans that are equal are of no more use.
// They must be of this Service.
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

// lentChunks is how many chunks of a stream may be lent beyond what Backlog counts:
// the first and the last of those in which its messages wait may hold little else.
const lentChunks = 2

// mayLend returns how many bytes of chunks may be lent at a time.
func (s *Service) mayLend() int {
	streams := int(classes)*len(s.members) + 1 // and that of messages put together
	return s.cfg.Backlog + lentChunks*streams*chunkSize
}

// keep keeps a chunk until Reclaim: what entries there were may go before.
func (s *Service) keep(c *chunk) {
	if n := len(s.kept); n == 0 || s.kept[n-1] != c {
		c.refs++
		s.kept = append(s.kept, c)
	}
}

// join puts the fragments of a message together.
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
