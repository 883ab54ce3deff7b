package replica

import (
	"slices"

	"github.com/failaware/failaware/timed"
)

// input returns the snapshot of a branch, if this node has all of it or declines it. Members
// of the branch too use the very bytes that the branch's source sends. So all members merge
// the same bytes even if an application encodes equal states differently.
func (m *Replica) input(b *branch) (*Content, Digest, bool) {
	n := Name{Label: b.label}
	i := m.serviceOf(n)
	if i < 0 {
		return nil, Digest{}, false
	}
	if m.services[i].source == m.cfg.Self.Node {
		if s := m.streamOf(n); s != nil && s.from != nil {
			return s.from.state, s.from.digest, true
		}
		return nil, Digest{}, false
	}
	for _, p := range m.incoming {
		if p.name == n && (p.whole() || m.exceeds(p)) && p.seen {
			return p.data, p.digest, true
		}
	}
	return nil, Digest{}, false
}

// checkInputs announces, once, that this node could merge, or need not be waited for. All
// members agree on the position of the last such announcement in the order, and merge there.
func (m *Replica) checkInputs() {
	if m.phase != merging || m.readySent {
		return
	}
	var all []byte
	for i := range m.branches {
		_, d, ok := m.input(&m.branches[i])
		if !ok {
			return
		}
		all = append(all, d[:]...)
	}
	m.readySent = true
	m.broadcast(marker, message{kind: kindReady, view: m.view.ID, digest: digestOf(all)})
}

// takeReady records that a member could merge.
func (m *Replica) takeReady(from timed.NodeID, msg *message) {
	if m.phase != merging || msg.view != m.view.ID {
		return
	}
	m.ready.Add(from)
	if from == m.cfg.Self.Node {
		m.inputs = msg.digest
	}
	m.claims[m.view.Set.Rank(from)] = msg.digest
	if m.ready == m.view.Set {
		for i, d := range m.claims {
			if d != m.inputs { // one state was encoded in two ways, and transferred twice
				m.notify(Event{Kind: EventDiverged, Member: m.view.Members[i].Node})
			}
		}
		m.merge()
	}
}

// merge happens at the same position of the order at all members. A member that leaves
// the view before it delivers the last announcement follows another branch, with
// another label.
func (m *Replica) merge() {
	if p := m.declined(); p != nil {
		m.missMerger(p)
		return
	}
	e := Effect{Kind: Merge}
	sets := make([]timed.Set, 0, len(m.branches))
	for i := range m.branches {
		b := &m.branches[i]
		state, _, _ := m.input(b)
		e.Branches = append(e.Branches, Branch{b.label, b.members, state})
		sets = append(sets, b.members)
	}
	m.emit(e)
	m.notify(Event{Kind: EventMerged, Branches: sets})
	line := m.lineOf(m.view.Set)
	for i := range m.branches {
		line = appendLine(line, Ancestor{Label: m.branches[i].label}, m.lineage.Rank)
	}
	m.lineage.Label, m.lineage.End, m.lineage.Line = mergedLabel(m.view.ID, m.branches), Name{}, line
	m.standing, m.phase, m.base, m.old = Holder, settled, Name{}, Earlier{}
	m.endMerge(e.Branches)
	m.locate(0)
	m.drain()
	m.checkStored()
}

// endMerge lets go of all that a merge needs, except the branches that the application gets.
func (m *Replica) endMerge(given []Branch) {
	for _, p := range m.incoming {
		if !slices.ContainsFunc(given, func(b Branch) bool { return b.State == p.data }) {
			p.data.Discard()
		}
	}
	m.branches, m.services, m.stuck, m.streams, m.held, m.incoming = nil, nil, nil, nil, nil, nil
	m.dropSpare()
}
