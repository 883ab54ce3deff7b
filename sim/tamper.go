package sim

import (
	"github.com/failaware/failaware/timed"
)

// tamper damages a packet as an unreliable or hostile network does, and adds forged
// packets. It reports whether the packet arrives.
func (w *World) tamper(r *rare, slot int32, to int, at int64) bool {
	f := w.slots[slot]
	if w.net.Chance(r.forge) {
		// A forger that does not see the traffic knows neither boot id.
		x := w.copy(slot)
		h := &w.slots[x].packet.Header
		h.Boot = timed.BootID(w.net.Uint64() | 1)
		h.Echo.Boot = timed.BootID(w.net.Uint64() | 1)
		w.scheduleForged(x, to, at)
	}
	if w.net.Chance(r.foreign) {
		x := w.copy(slot)
		w.slots[x].packet.Header.Group ^= w.net.Uint64() | 1
		w.scheduleForged(x, to, at)
	}
	if w.net.Chance(r.corrupt) {
		return w.replaceDamaged(f, w.codec.flip(&f.packet, w.net, false))
	}
	if w.net.Chance(r.truncate) {
		return w.replaceDamaged(f, w.codec.cutOff(&f.packet, w.net))
	}
	if w.net.Chance(r.damage) {
		w.check.Damaged = true
		return w.replaceDamaged(f, w.codec.flip(&f.packet, w.net, true))
	}
	return true
}

// replaceDamaged replaces a packet by its damaged form in codec.junk, if the decoder
// accepted it.
func (w *World) replaceDamaged(f *flight, accepted bool) bool {
	w.count.Corrupted++
	if accepted {
		f.packet = w.codec.junk
		f.detach()
	}
	return accepted
}

func (w *World) scheduleForged(slot int32, to int, at int64) {
	w.count.Forged++
	f := w.slots[slot]
	f.from, f.payload = nobody, nil
	w.schedule(at+w.net.Below(int64(w.opt.Timing.OneWayTimeout)), eventDeliver, to, slot)
}
