package loop

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/stack"
)

// counts are the loop's counters.
type counts struct {
	version, damaged, malformed, foreign, sealed, insecure, early, tooMany uint64 // packets received
	unsealed, key, forged, replayed, limited                               uint64 // likewise, with keys

	unresolved, unencoded, unproved uint64 // packets not sent
	byCallers                       uint64 // turns that callers took
	tooLong                         uint64 // packets that the log has mentioned
	inconsistent                    uint64 // incarnations that ended because an invariant was broken

	// Of earlier incarnations.
	dropped stack.Dropped
	cast    broadcast.Dropped
}

// add adds the counters of an incarnation.
func (c *counts) add(s *stack.Stack) {
	x := s.Dropped
	c.dropped.Foreign += x.Foreign
	c.dropped.Mismatch += x.Mismatch
	c.dropped.Unknown += x.Unknown
	c.dropped.Unaccepted += x.Unaccepted
	c.dropped.Impossible += x.Impossible
	c.dropped.Faulty += x.Faulty
	if b := s.BroadcastState(); b != nil {
		c.cast.OtherView += b.Dropped.OtherView
		c.cast.Stranger += b.Dropped.Stranger
		c.cast.Overflow += b.Dropped.Overflow
		c.cast.Invalid += b.Dropped.Invalid
	}
}

// Counter is a named number that only grows.
type Counter struct {
	Name  string
	Value uint64
}

func (d *driver) counters() []Counter {
	c := d.count
	if d.stack != nil {
		c.add(d.stack)
	}
	list := []Counter{
		{"dropped_version", c.version},
		{"dropped_damaged", c.damaged},
		{"dropped_malformed", c.malformed},
		{"dropped_foreign", c.foreign + c.dropped.Foreign},
		{"dropped_sealed", c.sealed},
		{"dropped_insecure", c.insecure},
		{"dropped_unsealed", c.unsealed},
		{"dropped_key", c.key},
		{"dropped_forged", c.forged},
		{"dropped_replayed", c.replayed},
		{"dropped_limited", c.limited},
		{"dropped_waiting", c.early},
		{"dropped_mismatch", c.dropped.Mismatch},
		{"dropped_impossible", c.dropped.Impossible},
		{"dropped_unknown", c.dropped.Unknown},
		{"dropped_unaccepted", c.dropped.Unaccepted},
		{"dropped_faulty", c.dropped.Faulty},
		{"peers_over_limit", c.tooMany},
		{"unsent_unresolved", c.unresolved},
		{"unsent_unencoded", c.unencoded},
		{"unsent_unproved", c.unproved},
		{"inconsistent", c.inconsistent},
	}
	if d.msgs != nil {
		list = append(list,
			Counter{"broadcast_other_view", c.cast.OtherView},
			Counter{"broadcast_stranger", c.cast.Stranger},
			Counter{"broadcast_overflow", c.cast.Overflow},
			Counter{"broadcast_invalid", c.cast.Invalid},
			Counter{"turns_lent", c.byCallers})
	}
	for _, x := range d.l.cfg.Conn.Stats() {
		list = append(list, Counter(x))
	}
	return list
}
