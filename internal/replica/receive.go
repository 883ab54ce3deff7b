package replica

import (
	"errors"
	"slices"

	"github.com/failaware/failaware/timed"
)

// incoming is the received part of a snapshot.
type incoming struct {
	name         Name
	digest       Digest
	size         uint64
	data         *Content
	from         timed.NodeID // the sender of the last piece
	acknowledged uint64       // bytes acknowledged
	tenths       uint64       // reported progress, in tenths
	wanted       bool         // in some settled view
	again        bool         // repeat the acknowledgement
	seen         bool         // its source continues it in this view
	err          error        // why a piece could not be stored, until one is
}

func (p *incoming) whole() bool { return p.data.size == p.size }

// wants reports whether this node needs a snapshot from others. Until the view is
// settled it may need any, because pieces can overtake the last report.
func (m *Replica) wants(n Name) bool {
	switch m.phase {
	case reporting:
		return true
	case settled:
		return m.standing == Pending && n == m.base
	case merging:
		if slices.ContainsFunc(m.stuck, func(s service) bool { return s.name == n }) {
			return true // pieces can overtake the offer to make it after all
		}
		if i := m.serviceOf(n); i < 0 || m.services[i].source != m.cfg.Self.Node {
			return i >= 0
		}
		// The successor of a refusing source can come before the refusal is
		// delivered here.
		s := m.streamOf(n)
		return s != nil && s.from == nil
	}
	return false
}

// awaits reports whether this node keeps the pieces of a snapshot: of one that it
// wants, and of one whose marker they may have overtaken. At most a window of
// unacknowledged pieces can arrive.
func (m *Replica) awaits(n Name) bool {
	later := n.View == m.view.ID && (m.base.View != n.View || n.Position > m.base.Position)
	return m.wants(n) || later && m.phase == settled && m.standing == Pending
}

// part returns the received part of a snapshot, or nil.
func (m *Replica) part(n Name, d Digest) *incoming {
	for _, p := range m.incoming {
		if p.name == n && p.digest == d {
			return p
		}
	}
	return nil
}

// takeChunk handles a piece of a snapshot. A sender's pieces come in order, so a piece after a
// gap belongs to a transfer that is over.
func (m *Replica) takeChunk(from timed.NodeID, c *message) {
	if from == m.cfg.Self.Node || !m.awaits(c.name) {
		return
	}
	p := m.part(c.name, c.digest)
	if p == nil {
		if c.offset > 0 {
			return
		}
		p = &incoming{name: c.name, digest: c.digest, size: c.size, data: m.cfg.newPart()}
		m.incoming = append(m.incoming, p)
	}
	p.seen = true
	if m.exceeds(p) {
		p.from, p.again = from, p.again || c.offset == 0
		m.proceed(p)
		return
	}
	have, end := p.data.size, c.offset+uint64(len(c.body))
	switch {
	case c.offset > have || c.size != p.size:
		return
	case c.kind == kindSame:
		if !m.takeSame(p, c) {
			return
		}
	case end > have && !m.store(p, c.body[have-c.offset:]):
		return
	}
	// The sender ignores acknowledgements before its view is settled, so a repeated
	// piece is acknowledged again.
	p.again = p.again || p.data.size == have
	p.from = from
	m.proceed(p)
}

// store adds bytes to a received part. If there is no room, it gives up that of the spare, and resume
// asks the sender for them again. If there never will be, the node ends.
func (m *Replica) store(p *incoming, b []byte) bool {
	_, err := p.data.Write(b)
	if _, broken := errors.AsType[*BrokenError](err); broken {
		m.emit(Effect{Kind: Withdraw, Event: &Event{Kind: EventDisk, Err: err}})
		return false
	}
	if (err != nil) != (p.err != nil) {
		p.err = err
		m.notify(Event{Kind: EventDisk, Err: err})
	}
	if err != nil {
		m.dropSpare()
		m.resumeAt = timed.Earlier(m.resumeAt, m.now.Add(retryAfter))
	}
	return err == nil
}

// Full returns why there is no room for a snapshot that this node needs, or nil.
func (m *Replica) Full() error {
	for _, p := range m.incoming {
		if p.err != nil && m.wants(p.name) {
			return p.err
		}
	}
	return nil
}

// resume asks again for the pieces that could not be stored.
func (m *Replica) resume() {
	if m.now < m.resumeAt {
		return
	}
	m.resumeAt = timed.Never
	for _, p := range m.incoming {
		if p.err != nil {
			m.rewind(p)
		}
	}
}

// rewind asks the sender of a snapshot to continue at the end of the received part.
func (m *Replica) rewind(p *incoming) {
	p.acknowledged = p.data.size
	m.broadcast(unordered, message{kind: kindGot, name: p.name, digest: p.digest, offset: p.acknowledged, rewind: true})
}

// proceed acknowledges the received part, and uses the snapshot once it is whole.
func (m *Replica) proceed(p *incoming) {
	if m.phase == reporting || !m.wants(p.name) {
		return
	}
	p.wanted = true
	if m.exceeds(p) {
		m.decline(p)
		return
	}
	got := p.data.size
	if p.again || got > p.acknowledged && (p.whole() || got-p.acknowledged >= uint64(m.cfg.Window)/4) {
		m.broadcast(unordered, message{kind: kindGot, name: p.name, digest: p.digest, offset: got})
		p.acknowledged, p.again = got, false
	}
	if tenth := got * 10 / max(1, p.size); tenth > p.tenths {
		p.tenths = tenth
		m.notify(Event{Kind: EventProgress, Member: p.from, Name: p.name, Bytes: got, Total: p.size})
	}
	if !p.whole() {
		return
	}
	if p.data.Digest() != p.digest {
		m.notify(Event{Kind: EventCorrupt, Member: p.from, Name: p.name})
		if m.phase == settled {
			m.startOver()
			return
		}
		p.data.Discard()
		p.data, p.tenths = m.cfg.newPart(), 0
		m.rewind(p)
		return
	}
	if m.phase == merging {
		m.checkInputs()
		return
	}
	m.restore(p)
}

// proceedAll is proceed for all received parts. Each of them may be the end of others.
func (m *Replica) proceedAll() {
	for _, p := range slices.Clone(m.incoming) {
		if slices.Contains(m.incoming, p) {
			m.proceed(p)
		}
	}
}

// restore adopts the state of the others, and applies the deliveries since.
func (m *Replica) restore(p *incoming) {
	m.emit(Effect{Kind: Restore, Name: p.name, State: p.data})
	m.notify(Event{Kind: EventRestored, Member: p.from, Name: p.name, Bytes: p.size, Total: p.size})
	m.dropIncoming(func(other *incoming) bool { return other != p })
	m.standing, m.base, m.old, m.incoming = Holder, Name{}, Earlier{}, nil
	m.dropSpare()
	m.remember()
	m.broadcastHolds()
	m.drainBefore()
	at := uint64(0)
	if p.name.View == m.view.ID {
		at = m.basedAt
	}
	m.locate(at)
	m.drain()
	// Disks may have had the operations before this node did. checkStored reports that
	// again, after their effects.
	m.lastsTo = 0
	m.checkStored()
}

// startOver drops the queue, and asks for the state at a later position, which is the
// position of this message.
func (m *Replica) startOver() {
	m.notify(Event{Kind: EventStartedOver, Name: m.base, Bytes: uint64(m.queued)})
	m.keepNothing()
	m.dropIncoming(func(*incoming) bool { return true })
	m.broadcast(marker, message{kind: kindAsk, view: m.view.ID})
	m.announce()
}

// Progress is the progress of the transfer of state to this node.
type Progress struct {
	From         timed.NodeID // the sender, if there is only one
	Bytes, Total uint64       // of all snapshots of which pieces have come
}

// Progress returns the progress of the transfer of state to this node, and whether the node
// waits for a state.
func (m *Replica) Progress() (p Progress, waits bool) {
	for _, in := range m.incoming {
		if m.wants(in.name) {
			p.From, p.Bytes, p.Total = in.from, p.Bytes+in.data.size, p.Total+in.size
		}
	}
	if m.phase == merging && len(m.incoming) > 1 {
		p.From = timed.NoNode
	}
	return p, m.phase == merging || m.phase == settled && m.standing == Pending
}
