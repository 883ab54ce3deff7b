package replica

import (
	"slices"

	"github.com/failaware/failaware/broadcast"
)

// A snapshot may be larger than a receiver takes, because each node has a MaxSnapshot of its own.
// The receiver can never have the state, so its node ends, with an event before. Nobody waits for
// it meanwhile: it acknowledges the snapshot and drops its pieces. Members that wait for the state
// of a view end at once, since others have it.
//
// In a merge the node may be the only one that has its state, and the others need that. So it
// announces that it is ready, which says of its inputs no more than their digests, and ends when
// the others are known to merge. That it delivers the last announcement does not say so: markers
// are Weak, and the others may be cut off without it. So the node broadcasts a Strict message
// behind it, and ends when that comes back: no member leaves the view without what is before it.
// At least one member merges, since the source of the largest snapshot takes all.

// exceeds reports whether a snapshot is larger than this node takes.
func (m *Replica) exceeds(p *incoming) bool { return p.size > uint64(m.cfg.MaxSnapshot) }

// decline handles a snapshot that is larger than this node takes, when its transfer begins.
func (m *Replica) decline(p *incoming) {
	if !p.again || !p.seen {
		return
	}
	p.again = false
	m.broadcast(unordered, message{kind: kindGot, name: p.name, digest: p.digest, offset: p.size})
	m.notify(m.tooLarge(p))
	if m.phase == merging {
		m.checkInputs()
		return
	}
	m.withdraw(p)
}

// tooLarge returns the event of a snapshot that is larger than this node takes.
func (m *Replica) tooLarge(p *incoming) Event {
	return Event{Kind: EventTooLarge, View: m.view.ID, Member: p.from, Name: p.name, Bytes: uint64(m.cfg.MaxSnapshot), Total: p.size}
}

// withdraw ends the node for lack of a snapshot.
func (m *Replica) withdraw(p *incoming) {
	e := m.tooLarge(p)
	m.keepNothing()
	m.emit(Effect{Kind: Withdraw, Event: &e})
}

// declined returns an input of the merge that this node declines, or nil.
func (m *Replica) declined() *incoming {
	i := slices.IndexFunc(m.incoming, func(p *incoming) bool { return p.seen && m.exceeds(p) && m.wants(p.name) })
	if i < 0 {
		return nil
	}
	return m.incoming[i]
}

// missMerger begins the end of the node where the others merge. If the node still meets them in
// another view, it has the state that they have merged, and no operation since.
func (m *Replica) missMerger(p *incoming) {
	if m.standing == Holder {
		m.old = Earlier{Lineage: m.lineage}
	}
	m.standing, m.phase, m.lineage = Pending, settled, m.lineage.unnamed()
	m.endMerge(nil)
	m.keepNothing()
	m.missed = p
	m.emit(Effect{Kind: Broadcast, Options: strict, Payload: AppendBarrier(nil)})
}

// othersMerge handles an own message behind a merger that this node misses. If it is known that
// all members have it, this node is not needed any more.
func (m *Replica) othersMerge(d *broadcast.Delivery) {
	m.skip(*d)
	if isStrict(d) {
		m.withdraw(m.missed)
		m.missed = nil
	}
}
