package replica

import "github.com/failaware/failaware/timed"

// due is an operation that must reach disks, and the time since which it waits for them.
type due struct {
	position uint64
	since    timed.Instant // Never: the view has just begun
}

// Unstored returns the members whose disks delay an operation, and since when it waits for
// them. Without a Quorum one full disk is enough, and only its own node reports an error.
func (m *Replica) Unstored() (members timed.Set, since timed.Instant) {
	if !m.cfg.Stored || m.phase != settled || m.lastsTo > m.due.position {
		return timed.Set{}, 0
	}
	for i, s := range m.stored {
		if s <= m.due.position {
			members.Add(m.view.Members[i].Node)
		}
	}
	return members, m.due.since
}

// noteDue begins to wait for the last operation when nothing before it is waited for.
func (m *Replica) noteDue() {
	if m.phase == settled && (m.due.since == timed.Never || m.lastsTo > m.due.position) {
		m.due = due{m.last, m.now}
	}
}
