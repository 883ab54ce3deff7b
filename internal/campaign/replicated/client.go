package replicated

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/failaware/failaware/internal/session"
)

// client is a client of the group that outlives all nodes. It has a session, and submits
// operations at any node, also those again whose outcome it does not know.
type client struct {
	id      session.ID // of the session; zero: none
	largest uint64     // number
	open    []uint64   // numbers without an answer
}

// attempt is a number of a session, as the command of an operation.
type attempt [17 + 8]byte

func attemptOf(id session.ID, number uint64) (a attempt) {
	a[0] = byte(id.Node)
	binary.BigEndian.PutUint64(a[1:], uint64(id.Boot))
	binary.BigEndian.PutUint64(a[9:], id.Sequence)
	binary.BigEndian.PutUint64(a[17:], number)
	return a
}

func (a attempt) compare(o attempt) int { return bytes.Compare(a[:], o[:]) }

// sent is an operation that a client has submitted. Without a number it opens a session.
type sent struct {
	by     *client
	id     session.ID
	number uint64
}

// clients are the clients of a run.
type clients struct {
	all  []*client
	sent map[opID]sent
	// lasting is the result that an attempt had when it was said to last.
	lasting map[attempt]uint64
}

// mostOpen is how many operations of a client may wait for an answer. It is less than the
// window of its session.
const mostOpen = 3

// request returns the operation of some client, or none, in the form that follows an id.
func (s *run) request(id opID) []byte {
	if s.rand.Chance(0.3) {
		return session.AppendPlain(nil, nil)
	}
	c := s.clients.all[s.rand.Below(int64(len(s.clients.all)))]
	switch {
	case c.id == (session.ID{}):
		s.clients.sent[id] = sent{by: c}
		return session.AppendOpen(nil)
	case len(c.open) == 0 && s.rand.Chance(0.01):
		b := session.AppendClose(nil, c.id)
		*c = client{}
		return b
	}
	number := c.largest + 1
	if n := len(c.open); n == mostOpen || n > 0 && s.rand.Chance(0.5) {
		number = c.open[s.rand.Below(int64(n))]
	} else {
		c.largest, c.open = number, append(c.open, number)
	}
	s.clients.sent[id] = sent{c, c.id, number}
	a := attemptOf(c.id, number)
	return session.AppendUse(nil, c.id, number, a[:])
}

// answered handles the answer to an operation at the node where a client submitted it.
func (s *run) answered(m *member, id opID, answer session.Answer, lasting bool) {
	x, ok := s.clients.sent[id]
	if !ok {
		return // it was no client's, or the client has closed the session
	}
	delete(s.clients.sent, id)
	c := x.by
	switch {
	case x.number == 0 && c.id == (session.ID{}):
		c.id = id.session()
	case x.number == 0, c.id != x.id:
	case answer.Err == session.ErrExpired:
		s.w.Sometimes(Expired)
		*c = client{}
	case answer.Err == session.ErrReused, answer.Err == session.ErrUnknown:
		s.check.fail("session", m, "number %d of session %v: %v", x.number, x.id, answer.Err)
	default:
		c.open = slices.DeleteFunc(c.open, func(n uint64) bool { return n == x.number })
	}
	if answer.Repeated {
		s.w.Sometimes(Repeated)
	}
	if x.number > 0 && answer.Err == nil && lasting {
		s.lasts(m, attemptOf(x.id, x.number), answer.Result.(uint64))
	}
}

// lasts demands, with quorums, that all attempts that last have one result.
func (s *run) lasts(m *member, a attempt, result uint64) {
	if first, ok := s.clients.lasting[a]; ok && first != result && s.opt.Quorum {
		s.check.fail("session", m, "attempt %x has the results %x and %x", a[:], first, result)
	}
	s.clients.lasting[a] = result
}
