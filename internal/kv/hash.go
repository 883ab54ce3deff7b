package kv

import (
	"hash/crc64"

	"github.com/failaware/failaware/clocksync"
)

// hash is a hash of numbers and texts in their order.
type hash uint64

func (h *hash) add(numbers ...uint64) {
	for _, n := range numbers {
		*h = hash(mix(uint64(*h), n))
	}
}

func (h *hash) timeline(t clocksync.TimelineID) {
	h.add(uint64(t.Leader), uint64(t.Boot), t.Sequence)
}

// Hash returns a number that is the same for equal states. A lease counts while a key has
// it: earlier builds kept one whose key was written again.
func (s *State) Hash() uint64 {
	h := hash(mix(s.chain, s.revision))
	h.add(s.content, uint64(s.keys.n), uint64(s.bytes), uint64(s.clock.now), s.history.base, s.history.chain, uint64(len(s.history.changes)))
	h.add(s.counts.Expired, s.counts.Overtaken, s.counts.Forgotten)
	h.timeline(s.clock.timeline)
	if s.told {
		h.add(1)
	}
	for _, l := range s.leases.all() {
		if l.keys.n > 0 {
			h.add(l.id.Writer, l.id.Number, uint64(l.ttl), uint64(l.end))
			h.timeline(l.timeline)
		}
	}
	for _, c := range s.conflicts.all() {
		h.add(c.Lost.hash(), c.Kept.Writer, c.Kept.Number, c.KeptVersion.Revision, uint64(c.KeptVersion.Mark), c.Revision)
		if c.resolved {
			h.add(1)
		}
	}
	for _, d := range s.void {
		h.add(d.Writer, d.Number)
	}
	h.add(s.seen.clock)
	for name, k := range s.seen.writers.all() {
		h.add(name, k.used, uint64(len(k.spans)))
		for _, n := range k.spans {
			h.add(n.first, n.last)
		}
	}
	return uint64(h)
}

// hash returns the hash of an entry.
func (e *Entry) hash() uint64 {
	if e.sum == 0 {
		h := hash(mix(crc64.Checksum([]byte(e.Key), polynomial), crc64.Checksum(e.Value, polynomial)))
		h.add(e.Version.Revision, uint64(e.Version.Mark), e.Created, e.Dot.Writer, e.Dot.Number, e.Lease.Writer, e.Lease.Number)
		h.add(uint64(e.At.Time), uint64(e.At.Deviation), uint64(e.At.UTCBound), uint64(e.At.Status))
		h.timeline(e.At.Timeline)
		if e.Deleted {
			h.add(1)
		}
		e.sum = uint64(h)
	}
	return e.sum
}
