package loop

import (
	"net/netip"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/claim"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// Claim says that the node has chosen its id by itself. The loop claims it before it takes
// part.
type Claim struct {
	// Held says that an earlier process has claimed the id, and kept it.
	Held bool
	// Keep writes down that the node has the id, before it is ready. An error ends the loop.
	Keep func() error
	// Kept is called once after that.
	Kept func()
}

// RefusedError says that the node must choose another id.
type RefusedError struct {
	Used timed.Set // ids that are in use
}

func (e *RefusedError) Error() string { return "loop: the id is in use" }

// claiming is the state of a loop that has chosen its id by itself.
type claiming struct {
	machine *claim.Machine // nil once the id is kept, and between two incarnations
	kept    bool
}

// claim begins to claim the id with a new incarnation, if it is not kept yet.
func (d *driver) claim() {
	c := d.l.cfg.Claim
	d.claims.machine, d.cfg.Tentative = nil, c != nil && !d.claims.kept
	if d.cfg.Tentative {
		d.claims.machine = claim.New(&d.cfg.Timing, d.clock.now)
	}
}

// decideClaim acts on the verdict on the claim.
func (d *driver) decideClaim() {
	m := d.claims.machine
	if m == nil || d.stack == nil {
		return
	}
	switch m.HandleTimeout(d.clock.now) {
	case claim.Refused:
		used := m.Used()
		d.fail(&RefusedError{used.Union(d.routes.known)}, false)
	case claim.Confirmed:
		if !d.persist(d.keepID) {
			return
		}
		d.claims.kept, d.claims.machine = true, nil
		d.stack.Settle(d.clock.now)
		d.report.after(d.l.cfg.Claim.Kept)
	}
}

// keepID writes down that the node has its id.
func (d *driver) keepID() error {
	if err := d.l.cfg.Claim.Keep(); err != nil {
		return err // an id that was not kept leaves no state
	}
	return d.l.cfg.State.Begin()
}

// judgeClaim notes the evidence for or against the claim in a packet to this node.
func (d *driver) judgeClaim(kind datagram.Kind) {
	m, p := d.claims.machine, &d.in.packet
	if m == nil || kind != datagram.Delivered && kind != datagram.Accepted || p.Header.Echo.Boot != d.cfg.Self.Boot {
		return
	}
	switch {
	case !p.Has(wire.FrameInUse):
		m.NoteAcceptance(d.clock.now)
	case d.clock.now.Sub(p.Header.Echo.Latest) <= d.cfg.Timing.Expires/2: // it is not a late packet
		m.NoteRefusal(p.Used)
	}
}

// answerGreeting answers a greeting for an unknown node whose sender has an id that this
// node knows at another address. The sender may be a node that has moved: nothing else
// would reach it there. Or it is another process with the same id, which learns of the
// conflict by the answer.
func (d *driver) answerGreeting(h *datagram.Header, from netip.AddrPort) {
	if d.routes.known.Has(h.Source) && !d.routes.greets(h.Source, from) {
		p := d.greeting(h.Version, h.Source)
		d.challenge(&p, from, h.Source)
	}
}
