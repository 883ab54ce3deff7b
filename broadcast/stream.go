package broadcast

import (
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

// entry is one message or fragment.
type entry struct {
	home  *chunk
	off   uint32
	size  uint32
	stamp clocksync.Time
	dev   time.Duration
	flags flags
}

// flags of an entry.
type flags uint8

const (
	orderMask   flags = 3
	atomicShift       = 2
	atomicMask  flags = 3 << atomicShift
	begins      flags = 1 << 4
	ends        flags = 1 << 5
	held        flags = 1 << 6
)

func (r *Run) flags() flags {
	f := held | flags(r.Options.Order) | flags(r.Options.Atomicity)<<atomicShift
	if r.Begins {
		f |= begins
	}
	if r.Ends {
		f |= ends
	}
	return f
}

func (f flags) order() Order         { return Order(f & orderMask) }
func (f flags) atomicity() Atomicity { return Atomicity(f & atomicMask >> atomicShift) }
func (f flags) urgent() bool         { return f.atomicity() != WeakAtomicity || f.order() == TimedOrder }

// payload returns the bytes of the entry. Appending to them allocates.
func (e *entry) payload() []byte { return e.home.buf[e.off : e.off+e.size : e.off+e.size] }

// stream holds the messages of one sender in one class: a ring of entries indexed by
// sequence, and chunks for the bytes.
type stream struct {
	boot  timed.BootID
	ring  []entry
	cur   *chunk
	bytes int // of the entries held, with perMessage each

	floor  uint64 // sequences up to here have been dropped
	contig uint64 // held without a gap through
	whole  uint64 // the end of the last message held without a gap
	urgent uint64 // the end of the last such message that is not Weak or is Timed
	top    uint64 // the largest sequence held
	tail   uint64 // the largest sequence that the sender is known to have sent

	ordered uint64 // through here, by the known decisions
	through uint64 // the same by the decisions whose messages are held
	// Unordered only.
	delivered uint64
	reach     uint64 // delivered through here when the view ends
	majority  uint64 // covered by decisions that most members have
	all       uint64 // covered by decisions that all members have

	gap gap
}

// at returns the entry of a sequence after floor and up to top.
func (st *stream) at(seq uint64) *entry { return &st.ring[seq&uint64(len(st.ring)-1)] }

// has reports whether a sequence is held.
func (st *stream) has(seq uint64) bool {
	return seq > st.floor && seq <= st.top && st.at(seq).flags&held != 0
}

// begin assigns the stream to an incarnation and skips its messages up to base.
func (st *stream) begin(a *arena, boot timed.BootID, base uint64) {
	if st.boot != boot {
		st.drop(a, st.top)
		*st = stream{boot: boot, ring: st.ring, cur: st.cur}
	}
	st.skip(a, base)
	st.ordered, st.through, st.delivered, st.reach, st.majority, st.all = base, base, base, base, base, base
	st.tail, st.gap = max(st.tail, base), gap{}
}

// skip drops everything up to base, held or not.
func (st *stream) skip(a *arena, base uint64) {
	st.drop(a, base)
	st.floor = max(st.floor, base)
	st.contig, st.whole, st.top = max(st.contig, base), max(st.whole, base), max(st.top, base)
	st.extend()
}

// drop drops the entries up to a sequence.
func (st *stream) drop(a *arena, to uint64) {
	for to = min(to, st.top); st.floor < to; st.floor++ {
		e := st.at(st.floor + 1)
		if e.flags&held == 0 {
			continue
		}
		st.bytes -= int(e.size) + perMessage
		a.drop(e.home)
		*e = entry{}
	}
}

// reserve makes room in the ring for sequences up to seq. It reports false if the ring
// would need more than most entries.
func (st *stream) reserve(seq uint64, most int) bool {
	need := seq - st.floor
	if need > uint64(most) {
		return false
	}
	if need <= uint64(len(st.ring)) {
		return true
	}
	size := max(64, len(st.ring))
	for uint64(size) < need {
		size *= 2
	}
	old := st.ring
	st.ring = make([]entry, size)
	for seq := st.floor + 1; seq <= st.top && len(old) > 0; seq++ {
		*st.at(seq) = old[seq&uint64(len(old)-1)]
	}
	return true
}

// put copies the messages of a run that are not held yet, and reports whether there were
// any.
func (st *stream) put(a *arena, r *Run, most int) bool {
	last := r.First + uint64(r.Count) - 1
	if last <= st.contig || !st.reserve(last, most) {
		return false
	}
	skip, from := 0, 0
	for r.First+uint64(skip) <= st.contig {
		from += r.size(skip)
		skip++
	}
	c := a.room(st.cur, len(r.Payload)-from)
	st.cur = c
	off := len(c.buf)
	c.add(r.Payload[from:])
	fresh := st.store(c, off, r, skip)
	if !fresh {
		c.buf = c.buf[:off] // duplicates must not take room in a chunk that may be lent
	}
	return fresh
}

// store makes entries for the messages of a run that are not held yet, without the first
// skip messages. Their bytes are in c from off on. It reports whether there were any.
func (st *stream) store(c *chunk, off int, r *Run, skip int) bool {
	f, fresh := r.flags(), false
	for i := skip; i < r.Count; i++ {
		n := r.size(i)
		if e := st.at(r.First + uint64(i)); e.flags&held == 0 {
			*e = entry{home: c, off: uint32(off), size: uint32(n), stamp: r.Stamp, dev: r.Deviation, flags: f}
			st.bytes += n + perMessage
			c.refs++
			fresh = true
		}
		off += n
	}
	st.top = max(st.top, r.First+uint64(r.Count)-1)
	st.extend()
	return fresh
}

// extend advances contig, whole and urgent.
func (st *stream) extend() {
	for st.contig < st.top {
		f := st.at(st.contig + 1).flags
		if f&held == 0 {
			return
		}
		st.contig++
		if f&ends != 0 {
			st.whole = st.contig
		}
		if f.urgent() {
			st.urgent = st.contig
		}
	}
}

// end returns the last sequence of the message that begins with seq, which is held as a
// whole. It panics if the message has no end.
func (st *stream) end(seq uint64) uint64 {
	for st.at(seq).flags&ends == 0 {
		if seq++; seq > st.top {
			panic("broadcast: a message without an end")
		}
	}
	return seq
}
