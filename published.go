package failaware

import "github.com/failaware/failaware/timed"

// Published is what a node vouches for from some instant on, for an audit: see
// [Config.OnPublish]. Its instants are of the hardware clock, which all processes
// of a machine share.
type Published struct {
	// Turn is the instant of the loop's turn: no answer of before rests on this
	// state.
	Turn timed.Instant
	// Done is an instant after the state had replaced the previous one: no
	// answer from then on rests on the previous one.
	Done timed.Instant
	// Epoch counts the suspends of the machine; a lease of another epoch is void.
	Epoch uint32
	Self  Incarnation
	// Leading tells that the node leads while the clock is before LeadUntil, with
	// the votes of Support.
	Leading   bool
	LeadUntil timed.Instant
	Support   Set
	// Global tells that the node leads globally while the clock is before
	// GlobalUntil.
	Global      bool
	GlobalUntil timed.Instant
	// View is the view installed last, or nil. It is up to date while the clock is
	// before ViewUntil. It must not be changed.
	View      *View
	ViewUntil timed.Instant
}

// audit tells the configured function what was just published.
func (d *driver) audit(s *state) {
	if f := d.n.cfg.OnPublish; f != nil {
		f(Published{Turn: d.now, Done: d.n.clock.Now(), Epoch: s.epoch, Self: s.Self,
			Leading: s.Leading, LeadUntil: s.Expiration, Support: s.Support,
			Global: s.Global, GlobalUntil: s.GlobalUntil,
			View: s.View, ViewUntil: s.ValidUntil})
	}
}
