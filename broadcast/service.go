package broadcast

import (
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Service is the state of one incarnation in the broadcast. It is a pure machine for one
// goroutine.
//
// Broadcast and HandlePacket only change the state. HandleTimeout returns the effects, so
// that a batch of packets or messages costs one decision, one acknowledgement, and one
// batch of deliveries. Everything that effects point to is valid until Reclaim. Borrow
// keeps payloads longer.
type Service struct {
	cfg Config

	// Kept over views.
	streams      [timed.MaxNodes + 1]*[classes]stream
	marks        [classes]positions // ordered or delivered through
	arena        arena
	own          [classes]uint64 // the last sequence of own messages
	reservations [classes]reservation
	sent         [classes]uint64 // the last sequence sent in this view
	shown        [classes]uint64 // the last sequence sent in earlier views
	stamp        clocksync.Time  // of the last own message
	floor        clocksync.Time  // the largest promise

	// The view.
	view      *membership.View
	members   []member
	me        int
	leader    int
	quorate   bool
	log       decisionLog
	known     uint64
	have      uint64
	decider   int // index of the member that may issue decision known+1
	predictor predictor
	urgent    bool   // have has passed a decision that needs an acknowledgement at once
	unacked   int    // bytes received since this node last sent its header
	ackedHave uint64 // have at that time
	ordered   clocksync.Time
	since     timed.Instant // when this node became the decider
	full      uint64        // the last decision that orders messages

	// Stability and delivery.
	stable    [atomicities]uint64 // decisions that enough members have, by atomicity
	reported  [atomicities]uint64 // the same as other members report it
	scratch   []uint64
	covered   [atomicities]uint64 // decisions whose Unordered ranges are noted
	cursor    cursor
	deferred  deferredHeap
	farthest  clocksync.Time // the latest stamp of all messages that were deferred in the view
	cut       uint64         // the last known decision that cuts stamps
	ahead     []Effect       // about stamps that were cut
	position  uint64
	released  uint64
	moved     bool // messages may have become deliverable
	logGap    gap
	gapDue    timed.Instant
	requests  []*Packet
	answers   []answer
	freeze    freeze
	committed []*Commit // terms, in pieces, of the view that this node led to
	served    int       // index of the member that gets them next
	slow      backpressure
	joined    *chunk // for messages joined from fragments
	lent      int    // bytes of the lent chunks

	// The present turn.
	deliveries []Delivery
	kept       []*chunk // with the payloads of deliveries
	packets    []*Packet
	packetsOut int

	// Dropped counts the parts of packets that were dropped.
	Dropped Dropped

	audit audit
}

// Dropped counts dropped parts of packets by reason.
type Dropped struct {
	OtherView uint64 // headers and decisions of another view
	Stranger  uint64 // messages from non-members
	Overflow  uint64 // messages beyond the window
	Invalid   uint64 // impossible decisions
}

// member is one member of the view.
type member struct {
	timed.Incarnation
	st      *[classes]stream
	ack     uint64
	known   uint64
	waiting int  // deferred messages
	here    bool // it has shown that it has installed the view
	// promise is the member's last promise. usable is its largest promise that holds
	// for all its messages that are not ordered yet.
	promise, usable clocksync.Time
	promiseTail     uint64
	latest          clocksync.Time // stamp of the member's last message that was deferred
	told            bool           // an effect has said that such a stamp was cut
}

// New returns the broadcast of one incarnation, without a view. The configuration must be
// valid.
func New(cfg Config) *Service {
	s := &Service{cfg: cfg.WithDefaults(), gapDue: timed.Never, ordered: minTime, floor: minTime, stamp: minTime}
	// An application that lags by more than half of Backlog is not in the steady state.
	s.arena.most = 2*s.cfg.Window + s.cfg.Backlog/2
	return s
}

// View returns the view in which messages are exchanged, or nil.
func (s *Service) View() *membership.View { return s.view }

// stream returns the stream of a member's class.
func (m *member) stream(c Class) *stream { return &m.st[c] }

// streamsOf returns the streams of an id. It allocates them for its first view.
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

// limit returns the limit of bytes that this node holds of one sender.
func (s *Service) limit() int {
	return s.cfg.Window + s.cfg.MaxPayload + s.cfg.fragments(s.cfg.MaxPayload)*perMessage
}

// Pending reports whether HandleTimeout is due at once.
func (s *Service) Pending() bool {
	return s.moved || s.urgent || len(s.answers) > 0 || s.freeze.news || !s.freeze.on && (s.unsent() || s.mayDecide())
}

// Awaits reports whether ordered messages wait for a decision or for the acknowledgements
// of other members, which send them at once.
func (s *Service) Awaits() bool {
	if s.view == nil || s.frozen() {
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

// Deadline returns when HandleTimeout is next due unless it is Pending.
func (s *Service) Deadline() timed.Instant {
	d := s.gapDue
	switch {
	case s.freeze.on:
		d = timed.Earlier(d, s.freeze.due)
	case s.turning():
		d = timed.Earlier(d, s.since.Add(s.cfg.Timing.ElectionPeriod))
	}
	return timed.Earlier(d, s.slow.due())
}

// Reclaim takes back everything that effects point to.
func (s *Service) Reclaim() {
	clear(s.deliveries) // so that they keep no chunk alive
	s.deliveries = s.deliveries[:0]
	for _, c := range s.kept {
		s.arena.drop(c)
	}
	clear(s.kept)
	s.kept, s.packetsOut = s.kept[:0], 0
}

// HandleTimeout does the work that has become due or possible. reading is the node's clock
// reading at now.
func (s *Service) HandleTimeout(now timed.Instant, reading clocksync.Reading, out []Effect) []Effect {
	out = s.answer(reading, out)
	out = s.checkSlow(now, out)
	if s.view == nil || s.freeze.on {
		out = s.actFrozen(now, reading, out)
	}
	if s.view == nil || s.frozen() {
		return out
	}
	n := len(out)
	out = s.sendOwn(reading, out)
	out = s.decide(now, reading, out)
	if len(out) == n && (s.urgent || s.tooQuiet()) && len(s.members) > 1 {
		out = append(out, Effect{Kind: Send, Packet: s.Blank(reading)})
	}
	if len(out) > n {
		s.urgent, s.unacked, s.ackedHave = false, 0, s.have
	}
	if len(s.members) == 1 {
		s.urgent = false
	}
	out = s.deliver(out)
	return s.ask(now, reading, out)
}

// tooQuiet reports whether an acknowledgement is needed although nothing is urgent:
// senders wait when the window is full, and the decider waits when the log is full.
func (s *Service) tooQuiet() bool {
	return s.unacked > s.cfg.Window/(4*len(s.members)) || s.have-s.ackedHave > logSize/4
}

// Blank returns an empty packet with this node's header, valid until Reclaim.
func (s *Service) Blank(reading clocksync.Reading) *Packet {
	p := s.take()
	p.Header = s.header(reading)
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

// header returns the header of this node's packets.
func (s *Service) header(reading clocksync.Reading) Header {
	if s.view == nil {
		return Header{Floor: minTime}
	}
	return Header{View: s.view.ID, Known: s.known, Have: s.acknowledged(), Stable: s.stableNow(), Tails: s.sent, Floor: s.promiseNow(reading)}
}

// updateMarks updates the marks of the view's members.
func (s *Service) updateMarks() {
	for i := range s.members {
		m := &s.members[i]
		s.marks[ClassOrdered].set(Mark{m.Node, m.Boot, m.stream(ClassOrdered).through})
		u := m.stream(ClassUnordered)
		u.reach = max(u.reach, u.delivered, u.through)
		s.marks[ClassUnordered].set(Mark{m.Node, m.Boot, u.reach})
	}
	for c := range classes {
		s.shown[c] = max(s.shown[c], s.sent[c])
	}
}

// Resting returns how many messages or fragments of the view's members, and how many
// decisions, this node keeps. Both are 0 when the group has come to rest.
func (s *Service) Resting() (messages, decisions uint64) {
	for i := range s.members {
		for c := range classes {
			st := s.members[i].stream(c)
			messages += st.top - st.floor
		}
	}
	return messages, s.known - s.released
}

// Holds reports whether this node holds a message, or has held it and dropped it when it
// was no longer needed.
func (s *Service) Holds(id ID) bool {
	sts := s.streams[id.Sender]
	return sts != nil && sts[id.Class].boot == id.Boot && (id.Sequence <= sts[id.Class].floor || sts[id.Class].has(id.Sequence))
}
