package exhaust

import (
	"reflect"
	"unsafe"

	"github.com/failaware/failaware/timed"
)

// leftovers are fields of the layers whose value is never read again, or which are
// updated only when they matter. They are brought into one form, or a state would depend
// on its history. Tests that compare images cannot notice an error in this; machines
// that are never loaded show that it changes nothing.
type leftovers struct {
	// The reason of a refusal stays until the peer refuses again, and is read only for
	// peers that have refused.
	refusals *timed.Set
	refusal  []reflect.Value // by id

	// The next expiry is looked for again when it is past, and when it would set
	// the timer.
	alive      *timed.Set
	aliveUntil []*timed.Instant // by id; nil: no peer
	nextExpiry *timed.Instant
}

// bind finds the fields in a stack, whose tables are as long as they get.
func (o *leftovers) bind(stack reflect.Value, nodes int) {
	el, dg := stack.FieldByName("election").Elem(), stack.FieldByName("datagrams").Elem()
	o.refusals = (*timed.Set)(at(el, "refusals"))
	o.alive, o.nextExpiry = (*timed.Set)(at(dg, "alive")), (*timed.Instant)(at(dg, "nextExpiry"))
	for id := range nodes + 1 {
		o.refusal = append(o.refusal, writable(el.FieldByName("peers").Index(id).FieldByName("refusal")))
		var until *timed.Instant
		if p := dg.FieldByName("peers").Index(id); !p.IsNil() {
			until = (*timed.Instant)(at(p.Elem(), "aliveUntil"))
		}
		o.aliveUntil = append(o.aliveUntil, until)
	}
}

// normalize brings the fields into the one form.
func (o *leftovers) normalize() {
	for id := range o.refusal {
		if !o.refusals.Has(timed.NodeID(id)) {
			o.refusal[id].SetZero()
		}
	}
	expiry := timed.Never
	for id, until := range o.aliveUntil {
		if until != nil && o.alive.Has(timed.NodeID(id)) {
			expiry = timed.Earlier(expiry, *until)
		}
	}
	// One that is too late would be a mistake, and stays to be seen.
	*o.nextExpiry = timed.Later(*o.nextExpiry, expiry)
}

// at returns where a field of a struct, or of one within, lies.
func at(v reflect.Value, path ...string) unsafe.Pointer {
	for _, name := range path {
		v = v.FieldByName(name)
	}
	return v.Addr().UnsafePointer()
}

// writable returns a value that can be set, although the name of the field
// that it is in is not exported.
func writable(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
}
