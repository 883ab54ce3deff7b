package check

import (
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

// Hash is a hash of a sequence of values.
type Hash uint64

// Mix adds a value to the hash.
func (h *Hash) Mix(x uint64) { *h = (*h ^ Hash(x)) * 1099511628211 }

func (c *Checker) foldSet(s timed.Set) {
	for _, w := range s.Words() {
		c.digest.Mix(w)
	}
}

// foldLeases adds the claims of a process about its lead, its vote and its view.
func (c *Checker) foldLeases(cl *Claims) {
	c.digest.Mix(uint64(cl.expiration))
	c.foldSet(cl.Support)
	c.digest.Mix(uint64(cl.LockedTo.Node)<<56 ^ uint64(cl.LockEnd))
	c.digest.Mix(uint64(cl.valid))
	if v := cl.View; v != nil {
		c.digest.Mix(v.ID.Sequence ^ uint64(v.ID.Leader)<<56)
		c.foldSet(v.Set)
	}
}

func (c *Checker) foldReading(r *clocksync.Reading) {
	c.digest.Mix(uint64(r.Time) ^ uint64(r.Deviation)<<20 ^ uint64(r.UTCBound)<<40 ^ uint64(r.Status))
}

// Digest returns a hash of all claims of processes so far, and of the counts of situations.
// It may differ between runs with the same packets.
func (c *Checker) Digest() uint64 {
	d := c.digest
	d.Mix(c.Counts.Views<<32 ^ c.Counts.Elections)
	for _, n := range c.Counts.Situations {
		d.Mix(n)
	}
	return uint64(d)
}
