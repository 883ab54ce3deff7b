package claim

import (
	"github.com/failaware/failaware/timed"
)

// Duel decides between two processes with one id that hear each other. A peer that hears
// both decides by itself (package datagram), so a process in company stays. One that hears
// nobody but its rival gives way: it may have got the other's id by mistake, and then
// nobody else would tell. Of two that are alone, the one with the larger boot id gives way
// first. The zero value is that of a process without a rival. It is for one goroutine.
type Duel struct {
	since, latest timed.Instant // of the packets of living rivals; since is 0 without any
}

// Limits of a duel, in units of Timing.Expires. Peers have time to be heard, and the rival
// to give way.
const (
	yield   = 2 // how long a process hears its rival before it gives way
	outlast = 6 // the same for the smaller boot id: the rival is in company
	gap     = 3 // after so long without a packet it is over
)

// NoteRival takes a packet in which a living rival shows that it hears this process.
// alone says that no peer is alive. It reports whether this process gives way.
func (d *Duel) NoteRival(t *timed.Timing, now timed.Instant, self, rival timed.BootID, alone bool) bool {
	if !alone {
		*d = Duel{}
		return false
	}
	if !d.Open(t, now) {
		d.since = now
	}
	d.latest = now
	patience := yield * t.Expires
	if self < rival {
		patience = outlast * t.Expires
	}
	return now.Sub(d.since) >= patience
}

// Open reports whether the duel goes on: this process must ask whether the rival lives.
func (d *Duel) Open(t *timed.Timing, now timed.Instant) bool {
	return d.since != 0 && now.Sub(d.latest) <= gap*t.Expires
}
