package claim

import (
	"github.com/failaware/failaware/timed"
)

// Duel decides between two processes with one id that hear each other. A peer that hears
// both decides by itself (package datagram), so a process in company stays. One that hears
// nobody but its rival gives way: it may have got the other's id by mistake, and then
// nobody else would tell. A newcomer gives way before a process that had company once or has
// run for long, and of two alike the one with the larger boot id. It is for one goroutine.
type Duel struct {
	began         timed.Instant // when the process did, or its clock was last distrusted
	since, latest timed.Instant // of the packets of living rivals; since is 0 without any
	settled       bool          // the process has had company, or had run for long by then
}

// Limits of a duel, in units of Timing.Expires.
const (
	yield   = 2   // how long a newcomer hears its rival before it gives way: peers have time to be heard
	outlast = 6   // the same for the smaller boot id: the rival does not give way, and so is no such newcomer
	novice  = 300 // how long a process is a newcomer that hears nobody: it may find its rival late
	longer  = 10  // how many times longer a process waits that is no newcomer
	gap     = 3   // after so long without a packet the duel is over
)

// NewDuel returns the duel of a process that begins at now, and has no rival.
func NewDuel(now timed.Instant) Duel { return Duel{began: now} }

// NoteCompany notes that a peer is alive.
func (d *Duel) NoteCompany() { d.settled, d.since = true, 0 }

// NoteRival takes a packet in which a living rival shows that it hears this process.
// alone says that no peer is alive. It reports whether this process gives way.
func (d *Duel) NoteRival(t *timed.Timing, now timed.Instant, self, rival timed.BootID, alone bool) bool {
	if !alone {
		d.NoteCompany()
		return false
	}
	if !d.Open(t, now) {
		d.since = now
	}
	d.latest = now
	d.noteAge(t, now)
	patience := yield * t.Expires
	if self < rival {
		patience = outlast * t.Expires
	}
	if d.settled {
		patience *= longer
	}
	return now.Sub(d.since) >= patience
}

func (d *Duel) noteAge(t *timed.Timing, now timed.Instant) {
	d.settled = d.settled || now.Sub(d.began) >= novice*t.Expires
}

// Restart continues at now with a clock whose readings until last do not compare with those
// to come.
func (d *Duel) Restart(t *timed.Timing, last, now timed.Instant) {
	d.noteAge(t, last)
	*d = Duel{began: now, settled: d.settled}
}

// Open reports whether the duel goes on: this process must ask whether the rival lives.
func (d *Duel) Open(t *timed.Timing, now timed.Instant) bool {
	return d.since != 0 && now.Sub(d.latest) <= gap*t.Expires
}
