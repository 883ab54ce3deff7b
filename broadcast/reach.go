package broadcast

import "github.com/failaware/failaware/membership"

// Reach says how far a member is in its view. The numbers of decisions begin at 1.
type Reach struct {
	View membership.ViewID
	// Have is the last decision that this member may have acknowledged. Each
	// regular Strict message that any member has delivered was ordered and became
	// deliverable by this decision or an earlier one, because all members had acknowledged it.
	Have uint64
	// Delivered is the last decision by which this member is complete: it has delivered
	// everything that members deliver by that decision or an earlier one.
	Delivered uint64
	// Position is that of the last ordered delivery, or 0.
	Position uint64
}

// Reach returns how far this member is. Everything that it has acknowledged in packets so
// far is part of it.
func (s *Service) Reach() Reach {
	if s.view == nil {
		return Reach{}
	}
	return Reach{View: s.view.ID, Have: s.have, Delivered: s.cursor.next - 1, Position: s.position}
}
