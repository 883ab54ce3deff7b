package kv

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/failaware/failaware/clocksync"
)

// A snapshot begins with one of these formats. The second one is that of a state that was told
// what a Tick had seen. Builds that do not know its rules do not know it.
const format, toldFormat = "failaware kv 1", "failaware kv 2"

// Lengths of arrays of a snapshot.
const (
	snapshotLen = 12
	leaseLen    = dotLen + 1 + 3 + 1
	entryLen    = 2 + versionLen + 1 + dotLen + readingLen + dotLen + 1
	changeLen   = 4
	writerLen   = 3
	conflictLen = 1 + dotLen + versionLen + 2
)

// Snapshot writes the state down. Equal states give equal bytes.
func (s *State) Snapshot(to io.Writer) error {
	b := bufio.NewWriter(to)
	w := writer{e: msgpack.NewEncoder(b)}
	w.array(snapshotLen)
	if s.told {
		w.text(toldFormat)
	} else {
		w.text(format)
	}
	w.uint(uint64(s.kind))
	w.uint(s.revision)
	w.uint(s.chain)
	w.array(4)
	w.timeline(s.clock.timeline)
	w.int(int64(s.clock.now))
	w.array(3)
	w.uint(s.counts.Expired)
	w.uint(s.counts.Overtaken)
	w.uint(s.counts.Forgotten)
	w.array(s.leases.n)
	for _, l := range s.leases.all() {
		w.array(leaseLen)
		w.dot(l.id)
		w.int(int64(l.ttl))
		w.timeline(l.timeline)
		w.int(int64(l.end))
	}
	w.array(s.keys.n)
	for _, e := range s.keys.all() {
		w.entry(e)
	}
	w.history(&s.history)
	w.dots(&s.seen)
	w.array(len(s.void))
	for _, d := range s.void {
		w.array(dotLen)
		w.dot(d)
	}
	w.array(s.conflicts.n)
	for _, c := range s.conflicts.all() {
		w.array(conflictLen)
		w.entry(c.Lost)
		w.dot(c.Kept)
		w.version(c.KeptVersion)
		w.uint(c.Revision)
		w.bool(c.resolved)
	}
	w.keep(b.Flush())
	return w.err
}

func (w *writer) entry(e *Entry) {
	w.array(entryLen)
	w.text(e.Key)
	w.bytes(e.Value)
	w.version(e.Version)
	w.uint(e.Created)
	w.dot(e.Dot)
	w.reading(&e.At)
	w.dot(e.Lease)
	w.bool(e.Deleted)
}

func (w *writer) history(h *history) {
	w.array(3)
	w.uint(h.base)
	w.uint(h.chain)
	w.array(len(h.changes))
	for i := range h.changes {
		c := &h.changes[i]
		w.array(changeLen)
		w.entry(c.Entry)
		w.uint(c.Revision)
		w.bool(c.Expired)
		w.uint(c.chain)
	}
}

func (w *writer) dots(s *dots) {
	w.array(2)
	w.uint(s.clock)
	w.array(s.writers.n)
	for name, k := range s.writers.all() {
		w.array(writerLen)
		w.uint(name)
		w.uint(k.used)
		w.array(2 * len(k.spans))
		for _, n := range k.spans {
			w.uint(n.first)
			w.uint(n.last)
		}
	}
}

// Restore replaces the state by one that Snapshot has written for a store of the same
// kind. The error matches [ErrDamaged]; then the state has not changed.
func (s *State) Restore(from io.Reader) error {
	in := bufio.NewReader(from)
	r := reader{d: msgpack.NewDecoder(in)}
	n := State{stray: true}
	r.array(snapshotLen, snapshotLen)
	f := r.text(len(format))
	if n.told = f == toldFormat; r.err == nil && !n.told && f != format {
		r.fail(fmt.Errorf("the format %q", f))
	}
	n.kind = Kind(r.uint(uint64(Partitionable)))
	if r.err == nil && n.kind != s.kind {
		return fmt.Errorf("this store is %v, and the state is of one that is %v", s.kind, n.kind)
	}
	n.revision, n.chain = r.uint(math.MaxUint64), r.uint(math.MaxUint64)
	r.array(4, 4)
	n.clock.timeline = r.timeline()
	n.clock.now = clocksync.Time(r.int())
	r.array(3, 3)
	n.counts = Counts{r.uint(math.MaxUint64), r.uint(math.MaxUint64), r.uint(math.MaxUint64)}
	r.leases(&n)
	r.keys(&n)
	r.history(&n)
	r.dots(&n.seen)
	for range r.array(0, maxVoid) {
		r.array(dotLen, dotLen)
		n.void = append(n.void, r.dot())
	}
	for range r.array(0, MaxConflicts) {
		r.array(conflictLen, conflictLen)
		c := &Conflict{Lost: r.entry(), Kept: r.dot(), KeptVersion: r.version(), Revision: r.uint(math.MaxUint64), resolved: r.bool()}
		n.report(c)
	}
	if r.err == nil {
		if _, err := in.ReadByte(); err == nil {
			r.fail(errors.New("bytes follow the state"))
		} else if err != io.EOF {
			r.fail(err)
		}
	}
	if err := r.end(); err != nil {
		return err
	}
	*s = n
	return nil
}

func (r *reader) leases(s *State) {
	for range r.array(0, maxItems) {
		r.array(leaseLen, leaseLen)
		l := &lease{id: r.dot(), ttl: r.duration(), timeline: r.timeline(), end: clocksync.Time(r.int())}
		s.leases.set(l.id.String(), l)
	}
}

func (r *reader) keys(s *State) {
	last := ""
	for range r.array(0, maxItems) {
		e := r.entry()
		if r.err != nil {
			return
		}
		if e.Key <= last || e.Deleted && s.kind == Linearizable {
			r.fail(fmt.Errorf("the key %q follows %q", e.Key, last))
			return
		}
		last = e.Key
		s.link(e)
	}
}

func (r *reader) entry() *Entry {
	r.array(entryLen, entryLen)
	return &Entry{Key: r.text(MaxKeyBytes), Value: r.bytes(MaxValueBytes), Version: r.version(), Created: r.uint(math.MaxUint64),
		Dot: r.dot(), At: r.reading(), Lease: r.dot(), Deleted: r.bool()}
}

// history reads the changes, whose last one is of the state's revision.
func (r *reader) history(s *State) {
	h := &s.history
	r.array(3, 3)
	h.base, h.chain = r.uint(math.MaxUint64), r.uint(math.MaxUint64)
	h.last, h.at = h.base, h.chain
	for range r.array(0, maxItems) {
		r.array(changeLen, changeLen)
		c := Change{Entry: r.entry(), Revision: r.uint(math.MaxUint64), Expired: r.bool(), chain: r.uint(math.MaxUint64)}
		if r.err != nil {
			return
		}
		if c.Revision < h.last || c.Revision == h.base {
			r.fail(fmt.Errorf("the change of revision %d follows that of %d", c.Revision, h.last))
			return
		}
		h.last, h.at = c.Revision, c.chain
		h.changes = append(h.changes, c)
		h.bytes += c.bytes()
	}
	if r.err == nil && (h.last != s.revision || h.at != s.chain) {
		r.fail(fmt.Errorf("the history ends at revision %d, and the state is of %d", h.last, s.revision))
	}
}

func (r *reader) dots(s *dots) {
	r.array(2, 2)
	s.clock = r.uint(math.MaxUint64)
	for range r.array(0, maxWriters) {
		r.array(writerLen, writerLen)
		name, k := r.uint(math.MaxUint64), &known{used: r.uint(math.MaxUint64)}
		for range r.array(0, 2*maxSpans) / 2 {
			n := span{r.uint(math.MaxUint64), r.uint(math.MaxUint64 - 1)}
			if n.first > n.last || len(k.spans) > 0 && k.spans[len(k.spans)-1].last >= n.first {
				r.fail(fmt.Errorf("the numbers %d to %d of a writer", n.first, n.last))
			}
			k.spans = append(k.spans, n)
		}
		if r.err != nil {
			return
		}
		s.writers.set(name, k)
	}
}
