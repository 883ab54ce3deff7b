package broadcast

import (
	"slices"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Service is the state of one incarnation in the broadcast. It is a pure machine
// for one goroutine.
//
// Broadcast and HandlePacket only take notice; Act does what follows, so that a
// batch of packets or of messages costs one decision, one acknowledgement, and
// one batch of deliveries. What effects point to is valid until Reclaim; Borrow keeps
// payloads longer.
type Service struct {
	cfg Config

	// Kept over views.
	streams [timed.MaxNodes + 1]*[classes]stream
	marks   [classes][timed.MaxNodes + 1]Mark // ordered, or delivered, through
	arena   arena
	own     [classes]uint64 // the last sequence given
	sent    [classes]uint64 // the last sequence sent in this view
	stamp   clocksync.Time  // of the last own message
	floor   clocksync.Time  // the largest promised

	// The view.
	view    *membership.View
	members []member
	me      int
	quorate bool
	log     decisionLog
	known   uint64
	have    uint64
	decider int // index of who may issue decision known+1
	habit   habit
	urgent  bool   // have moved over messages for which it is to be said at once
	quiet   int    // bytes received since this node last said what it has
	told    uint64 // what it had then
	ordered clocksync.Time
	since   timed.Instant // when this node became the decider
	full    uint64        // the last decision that orders anything

	// Stability and delivery.
	stable    [Strict + 1]uint64 // decisions that enough members have, by atomicity
	heard     [Strict + 1]uint64 // the same, as others say
	scratch   []uint64
	covered   [Strict + 1]uint64 // decisions whose Unordered ranges were taken notice of
	cursor    cursor
	asides    asides
	position  uint64
	released  uint64
	moved     bool // something may have become deliverable
	logGap    gap
	gapDue    timed.Instant
	asking    []*Packet
	answers   []answer
	freeze    freeze
	committed []*Commit // terms, in pieces, of the view that this node led to
	slow      slowness
	joined    *chunk // messages put together from fragments
	lent      int    // bytes of the chunks with payloads that the application has

	// Of the turn under way.
	deliveries []Delivery
	kept       []*chunk // with the payloads of deliveries
	packets    []*Packet
	packetsOut int

	// Dropped counts what was of no use.
	Dropped Dropped
}

// Dropped counts parts of packets that were of no use, by reason.
type Dropped struct {
	OtherView uint64 // headers and decisions of another view
	Stranger  uint64 // messages of who is no member
	Overflow  uint64 // messages beyond the window
	Invalid   uint64
}

// member is one member of the view.
type member struct {
	timed.Incarnation
	st      *[classes]stream
	ack     uint64
	known   uint64
	waiting int // messages put aside
	// The promise that the member made last, and the largest one that holds for
	// all that is not ordered yet.
	promise, usable clocksync.Time
	promiseTail     uint64
}

// New returns the broadcast of one incarnation, without a view. The configuration
// must be valid.
func New(cfg Config) *Service {
	s := &Service{cfg: cfg.WithDefaults(), gapDue: timed.Never, ordered: minTime, floor: minTime, stamp: minTime}
	// Who lags by more than half of the Backlog is not in the steady state.
	s.arena.most = 2*s.cfg.Window + s.cfg.Backlog/2
	return s
}

// View returns the view that messages are exchanged in, or nil.
func (s *Service) View() *membership.View { return s.view }

// Frozen reports whether the node keeps still, for a view to come.
func (s *Service) Frozen() bool { return s.freeze.on }

// stream returns what is held of a member's class.
func (m *member) stream(c Class) *stream { return &m.st[c] }

// streamsOf returns the streams of an id, which are made at its first view.
func (s *Service) streamsOf(id timed.NodeID) *[classes]stream {
	if s.streams[id] == nil {
		s.streams[id] = new([classes]stream)
	}
	return s.streams[id]
}

// index returns the position of an incarnation in the view, or -1.
func (s *Service) index(i timed.Incarnation) int {
	for j := range s.members {
		if s.members[j].Incarnation == i {
			return j
		}
	}
	return -1
}

// fits reports whether the window has room: this node's share of it, or all of
// the share for one message that is larger.
func (s *Service) fits(st *stream, n, frags int) bool {
	class := s.streamsOf(s.cfg.Self.Node)
	if int(st.top-st.floor)+frags > s.cfg.MaxMessages {
		return false
	}
	used := class[ClassUnordered].bytes + class[ClassOrdered].bytes
	return used == 0 || used+n+frags*perMessage <= s.share()
}

// share is how many bytes of the window are this node's.
func (s *Service) share() int { return s.cfg.Window / max(1, len(s.members)) }

// limit is how many bytes this node holds of one sender at most.
func (s *Service) limit() int {
	return s.cfg.Window + s.cfg.MaxPayload + s.cfg.fragments(s.cfg.MaxPayload)*perMessage
}

// Pending reports whether Act has something to do right away.
func (s *Service) Pending() bool {
	return s.moved || s.urgent || len(s.answers) > 0 || s.freeze.news || !s.freeze.on && (s.unsent() || s.mayDecide())
}

// Awaits reports whether ordered messages wait for a word from another member, of
// which each says at once what it has to say: a decision, or acknowledgements.
func (s *Service) Awaits() bool {
	if s.view == nil || s.still() {
		return false
	}
	if s.cursor.next <= s.known {
		return true
	}
	for i := range s.members {
		if st := s.members[i].stream(ClassOrdered); st.whole > st.ordered && s.decider != s.me {
			return true
		}
	}
	return false
}

// unsent reports whether own messages wait to be sent.
func (s *Service) unsent() bool {
	return s.view != nil && (s.sent[ClassUnordered] < s.own[ClassUnordered] || s.sent[ClassOrdered] < s.own[ClassOrdered])
}

// Deadline returns when Act is next due, if nothing is pending.
func (s *Service) Deadline() timed.Instant {
	d := timed.Earlier(s.gapDue, s.freeze.due)
	if !s.freeze.on {
		d = s.gapDue
		if s.turning() {
			d = timed.Earlier(d, s.since.Add(s.cfg.Timing.ElectionPeriod))
		}
	}
	return timed.Earlier(d, s.slow.due())
}

// Reclaim says that what effects point to is of no more use.
func (s *Service) Reclaim() {
	clear(s.deliveries) // they must not keep chunks from the collector
	s.deliveries = s.deliveries[:0]
	for _, c := range s.kept {
		s.arena.drop(c)
	}
	clear(s.kept)
	s.kept, s.packetsOut = s.kept[:0], 0
}

// Act does what has become due or possible. reading is what the node's clock
// shows at now.
func (s *Service) Act(now timed.Instant, reading clocksync.Reading, out []Effect) []Effect {
	out = s.answer(reading, out)
	out = s.checkSlow(now, out)
	if s.view == nil || s.freeze.on {
		out = s.actFrozen(now, reading, out)
	}
	if s.view == nil || s.still() {
		return out
	}
	n := len(out)
	out = s.sendOwn(reading, out)
	out = s.decide(now, reading, out)
	if len(out) == n && (s.urgent || s.tooQuiet()) && len(s.members) > 1 {
		out = append(out, Effect{Kind: Send, Packet: s.Blank(reading)})
	}
	if len(out) > n {
		s.urgent, s.quiet, s.told = false, 0, s.have
	}
	if len(s.members) == 1 {
		s.urgent = false
	}
	out = s.deliver(out)
	return s.ask(now, reading, out)
}

// tooQuiet reports whether the others are to hear what this node has, although
// nothing is urgent: senders wait when the window is full, and the decider when the
// log is.
func (s *Service) tooQuiet() bool {
	return s.quiet > s.cfg.Window/(4*len(s.members)) || s.have-s.told > logSize/4
}

// Blank returns an empty packet with this node's header, valid until Reclaim.
func (s *Service) Blank(reading clocksync.Reading) *Packet {
	p := s.take()
	p.Header = s.Header(reading)
	return p
}

// take returns a packet that is valid until Reclaim.
func (s *Service) take() *Packet {
	if s.packetsOut == len(s.packets) {
		s.packets = append(s.packets, new(Packet))
	}
	p := s.packets[s.packetsOut]
	s.packetsOut++
	p.Reset()
	return p
}

// Header returns what every packet of this node says.
func (s *Service) Header(reading clocksync.Reading) Header {
	if s.view == nil {
		return Header{Floor: minTime}
	}
	h := Header{View: s.view.ID, Known: s.known, Have: s.said(), Stable: s.stableSaid(), Tails: s.sent, Floor: s.promiseNow(reading)}
	if h.Known < h.Have {
		h.Known = h.Have
	}
	return h
}

// mark returns how far this node has come in the messages of an id.
func (s *Service) mark(c Class, id timed.NodeID) Mark { return s.marks[c][id] }

// setMark notes it. Another boot id replaces what was known.
func (s *Service) setMark(c Class, m Mark) {
	old := &s.marks[c][m.Node]
	if old.Boot == m.Boot {
		m.Sequence = max(m.Sequence, old.Sequence)
	}
	*old = m
}

// settleMarks brings the marks of the view's members up to date.
func (s *Service) settleMarks() {
	for i := range s.members {
		m := &s.members[i]
		s.setMark(ClassOrdered, Mark{m.Node, m.Boot, m.stream(ClassOrdered).through})
		u := m.stream(ClassUnordered)
		u.reach = max(u.reach, u.delivered, u.through)
		s.setMark(ClassUnordered, Mark{m.Node, m.Boot, u.reach})
	}
}

// listMarks returns all marks of a class.
func (s *Service) listMarks(c Class) []Mark {
	var out []Mark
	for id := range s.marks[c] {
		if m := s.mark(c, timed.NodeID(id)); m.Boot != 0 && m.Sequence > 0 {
			out = append(out, m)
		}
	}
	return slices.Clip(out)
}

// Holds reports whether this node holds a message, or has held it and let go of
// it because it was of no more use.
func (s *Service) Holds(id ID) bool {
	sts := s.streams[id.Sender]
	return sts != nil && sts[id.Class].boot == id.Boot && (id.Sequence <= sts[id.Class].floor || sts[id.Class].has(id.Sequence))
}
