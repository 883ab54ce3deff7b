package epoch

// audit has the values that the last call of Audit compared.
type audit struct {
	epoch uint64
	phase Phase
}

// Audit returns the first invariant that the state breaks, in words, or "". A node with
// such a state must end its incarnation. Call it at the end of each turn: the invariants
// compare the state with that of the last call.
func (m *Machine) Audit() string {
	if m == nil {
		return "" // the quorum system is not replaced
	}
	last := m.audit
	m.audit = audit{m.state.Epoch, m.state.Phase}
	switch {
	case m.state.Epoch < last.epoch:
		return "an older epoch"
	case m.state.Epoch == last.epoch && last.phase == Wedged && m.state.Phase != Wedged:
		return "votes in an epoch in which the node stopped voting"
	}
	return ""
}
