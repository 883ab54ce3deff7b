package failaware

import "github.com/failaware/failaware/timed"

// Published is a state that a node answers from, for an audit: see
// [Config.OnPublish]. Its instants are of the hardware clock, which all processes of
// a machine share.
type Published struct {
	// Turn is the instant of the loop's turn: no earlier answer rests on this state.
	Turn timed.Instant
	// Done is an instant after the state had replaced the previous one: no answer from
	// then on rests on the previous one.
	Done timed.Instant
	// Era counts the suspends of the machine; a lease of another era is void.
	Era  uint32
	Self Incarnation
	// Leading says that the node leads while the clock is before LeadUntil, with the
	// votes of Support.
	Leading   bool
	LeadUntil timed.Instant
	Support   Set
	// Global says that the node leads globally while the clock is before GlobalUntil.
	Global      bool
	GlobalUntil timed.Instant
	// View is the view installed last, or nil. It is up to date while the clock is
	// before ViewUntil. It must not be changed.
	View      *View
	ViewUntil timed.Instant
}
