package loop

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// lag is how long the order of the broadcast has waited for the same members.
type lag struct {
	members  timed.Set
	decision uint64
	since    timed.Instant
	warned   timed.Instant
}

// lagPeriod is the shortest time between two warnings of members that lag.
const lagPeriod = time.Minute

// note takes what lags at now, and reports whether that is worth a warning: nothing has
// changed since an earlier look.
func (l *lag) note(now timed.Instant, members timed.Set, decision uint64) bool {
	if members.Empty() || members != l.members || decision != l.decision {
		*l = lag{members: members, decision: decision, since: now, warned: l.warned}
		return false
	}
	if l.warned != 0 && now.Sub(l.warned) < lagPeriod {
		return false
	}
	l.warned = now
	return true
}

// warnOfLag warns of members that the order of the broadcast waits for. Leaders and views need
// small packets only, so nothing else shows that large ones do not reach a member.
func (d *driver) warnOfLag() {
	if d.stack == nil {
		d.lag = lag{}
		return
	}
	members, decision := d.stack.BroadcastState().Lagging()
	if d.lag.note(d.clock.now, members, decision) {
		d.l.cfg.Sink.Warn("the broadcast waits for members that acknowledge nothing: their applications or disks are slow, or large packets are lost "+
			"on the way to them, as where MaxPacket is not less than the MTU by 28 bytes, by 48 with IPv6",
			"members", members, "for", d.clock.now.Sub(d.lag.since).Round(time.Second), "maxpacket", d.l.cfg.MaxPacket)
	}
}
