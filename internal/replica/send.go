package replica

import (
	"slices"
	"time"

	"github.com/failaware/failaware/timed"
)

// burst is the time for which a sender that wakes up late may catch up with its rate.
const burst = 10 * time.Millisecond

// held is a snapshot that this node has made.
type held struct {
	name   Name
	digest Digest
	state  *Content
}

// stream is this node's transfer of one snapshot. A standby stream starts if the source
// fails.
type stream struct {
	name      Name
	standby   bool
	from      *held // nil until the application has made it
	next      uint64
	begun     bool // a chunk was sent; receivers that hold everything wait for one too
	receivers []receiver
}

// receiver is how much of a snapshot one receiver has acknowledged.
type receiver struct {
	id  timed.NodeID
	got uint64
	// early is the same of a snapshot of the source, heard by a standby that has none yet.
	early    uint64
	earlyFor Digest
}

// open begins this node's part of a service.
func (m *Replica) open(s *service) {
	self := m.cfg.Self.Node
	if s.source != self && s.standby != self {
		return
	}
	st := &stream{name: s.name, standby: s.source != self}
	for id := range s.receivers.All() {
		st.receivers = append(st.receivers, receiver{id: id})
	}
	m.streams = append(m.streams, st)
	for i := range m.held {
		if m.held[i].name == s.name {
			m.fill(st, m.held[i])
			return
		}
	}
	if slices.Contains(m.asked, s.name) {
		return
	}
	m.asked = append(m.asked, s.name)
	if !st.standby && len(m.streams) == 1 {
		m.pace.beginSnapshot(m.now, m.seen)
	}
	m.emit(Effect{Kind: Snapshot, Name: s.name})
}

// fill sets the bytes of a stream. Bytes that the receivers have reported are not sent
// again.
func (m *Replica) fill(st *stream, h held) {
	st.from = &h
	for i := range st.receivers {
		r := &st.receivers[i]
		r.got = max(r.got, partOf(m.reportOf(r.id), h.name, h.digest))
		if r.earlyFor == h.digest {
			r.got = max(r.got, r.early)
		}
	}
	st.next = st.confirmed()
}

// confirmed returns the number of bytes that all receivers have acknowledged.
func (s *stream) confirmed() uint64 {
	low := s.from.state.size
	for i := range s.receivers {
		low = min(low, s.receivers[i].got)
	}
	return low
}

func (m *Replica) streamOf(n Name) *stream {
	for _, s := range m.streams {
		if s.name == n {
			return s
		}
	}
	return nil
}

// mayFlow reports whether a stream has a chunk that fits its receivers' window.
func (m *Replica) mayFlow(s *stream) bool {
	if s.standby || s.from == nil || len(s.receivers) == 0 {
		return false
	}
	if s.next == s.from.state.size && s.begun {
		return false
	}
	return s.next-min(s.next, s.confirmed()) < uint64(m.cfg.Window)
}

// pump sends the chunks that window, rate and pace allow.
func (m *Replica) pump() {
	for _, s := range m.streams {
		for m.mayFlow(s) && m.nextAt <= m.now && m.pace.turn(m.now, m.seen, m.cfg.Window, m.confirmed()) {
			m.sendChunk(s)
		}
	}
}

// confirmed reports whether the receivers have acknowledged all that was sent, except for the
// quarter of a window that they may acknowledge later.
func (m *Replica) confirmed() bool {
	for _, s := range m.streams {
		if !s.standby && s.from != nil && s.next-min(s.next, s.confirmed()) >= uint64(m.cfg.Window)/4 {
			return false
		}
	}
	return true
}

// sendChunk sends the next chunk of a stream.
func (m *Replica) sendChunk(s *stream) {
	state := s.from.state
	msg := message{kind: kindChunk, name: s.name, digest: s.from.digest, offset: s.next, size: state.size}
	ids, end := m.nextBlocks(s)
	bytes := len(ids) + ChunkOverhead
	if len(ids) > 0 {
		msg.kind, msg.body = kindSame, ids
		m.emit(Effect{Kind: Broadcast, Options: unordered, bulk: true, Payload: encode(&msg)})
	} else {
		bytes += int(end - s.next)
		m.emit(Effect{Kind: Broadcast, Options: unordered, bulk: true, Piece: &Piece{state, s.next, int(end - s.next)}, Payload: encode(&msg)})
	}
	took := time.Duration(float64(bytes) / float64(m.cfg.Rate) * float64(time.Second))
	m.nextAt = timed.Later(m.nextAt, m.now.Add(-burst)).Add(took)
	m.pace.budget -= bytes
	s.next, s.begun = end, true
}

// takeGot records how much of a snapshot a receiver has. It drops a snapshot that all
// receivers have. They acknowledge it to all members, so a standby hears of it too.
func (m *Replica) takeGot(from timed.NodeID, msg *message) {
	for _, s := range m.streams {
		if s.name != msg.name || s.from == nil && !s.standby || s.from != nil && s.from.digest != msg.digest {
			continue
		}
		for j := range s.receivers {
			r := &s.receivers[j]
			if r.id != from {
				continue
			}
			if s.from == nil {
				r.early, r.earlyFor = msg.offset, msg.digest
				continue
			}
			if r.got = max(r.got, msg.offset); msg.rewind {
				r.got, s.next = msg.offset, min(s.next, msg.offset)
				m.peerBlocks[m.view.Set.Rank(from)] = nil // it may lack one of its blocks
			}
		}
		if s.from != nil {
			s.next = max(s.next, s.confirmed())
			m.finish(s)
		}
		return
	}
}

// finish ends this node's part of a service once the receivers have the whole snapshot.
func (m *Replica) finish(s *stream) {
	if m.phase == settled && (s.begun || s.standby) && s.complete() {
		m.dropStream(s.name)
	}
}

// complete reports whether all receivers have the whole snapshot. An acknowledgement of
// an empty snapshot looks like none, so empty snapshots are kept until the next view.
func (s *stream) complete() bool {
	return s.from.state.size > 0 && s.confirmed() == s.from.state.size
}

// HandleSnapshot takes the snapshot that a Snapshot effect asked for, or the error that
// prevented it. The snapshot must not be changed any more.
func (m *Replica) HandleSnapshot(now timed.Instant, n Name, state *Content, err error, out []Effect) []Effect {
	return m.turn(now, out, func() {
		m.asked = slices.DeleteFunc(m.asked, func(asked Name) bool { return asked == n })
		st := m.streamOf(n)
		if st == nil { // the view that needed it is over
			if state != nil {
				state.Discard()
			}
			return
		}
		if err == nil && state.size > uint64(m.cfg.MaxSnapshot) {
			state.Discard()
			err = ErrSnapshotTooLarge
		}
		if err != nil {
			m.refuse(n, err)
			return
		}
		h := held{n, state.Digest(), state}
		m.held = append(m.held, h)
		m.fill(st, h)
		m.finish(st)
		m.checkInputs()
	})
}

// dropStream ends this node's part of a service, and drops the snapshot.
func (m *Replica) dropStream(n Name) {
	m.streams = slices.DeleteFunc(m.streams, func(s *stream) bool { return s.name == n })
	m.held = slices.DeleteFunc(m.held, func(h held) bool { return h.name == n })
}

// unserve ends a transfer to one receiver, and the whole transfer with the last one.
func (m *Replica) unserve(n Name, id timed.NodeID) {
	s := m.streamOf(n)
	if s == nil {
		return
	}
	s.receivers = slices.DeleteFunc(s.receivers, func(r receiver) bool { return r.id == id })
	if len(s.receivers) == 0 {
		m.dropStream(n)
	}
}

// restart serves joiners with the state at a later position, where their queues begin.
func (m *Replica) restart(receivers timed.Set, position uint64) {
	b := &m.branches[0]
	n := Name{Label: b.label, View: m.view.ID, Position: position}
	if m.standing == Pending && receivers.Has(m.cfg.Self.Node) {
		m.base, m.basedAt, m.overflowed = n, m.last, false
		m.skipQueue()
		m.dropIncoming(func(p *incoming) bool { return !m.awaits(p.name) })
		m.announce()
		m.proceedAll()
	}
	m.replace(n, b.members, receivers)
}
