package replica

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"iter"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
)

// backlog holds the operations of one view that wait to be applied. Like snapshots, it keeps
// their bytes in Bytes: during the transfer of a large snapshot, more operations may wait than
// fit in memory.
type backlog struct {
	bytes Bytes
	size  int    // of bytes
	tail  []byte // the end, not yet in bytes
	due   int    // the size at which the tail is moved to bytes
	count int    // of the operations
	// weight is how much of Config.MaxQueued the operations take.
	weight int
	// If the node never applies the operations, it reports its own, for which callers may
	// wait, and, with Stored, records how far the messages of each sender are ordered. It needs
	// no payloads for that.
	own     []broadcast.Delivery
	ordered []broadcast.Mark
}

// add adds an operation. While the bytes take no more, it stays in memory.
func (b *backlog) add(d *broadcast.Delivery, cfg *Config) {
	b.count++
	b.weight += len(d.Payload) + PerDelivery
	b.tail = binary.BigEndian.AppendUint32(b.tail, uint32(deliveryBytes+len(d.Payload)))
	b.tail = AppendDelivery(b.tail, d)
	if d.Sender == cfg.Self.Node && d.Boot == cfg.Self.Boot {
		own := *d
		own.Payload = nil // the bytes have it
		b.own = append(b.own, own)
	}
	if cfg.Stored {
		b.ordered = broadcast.AddMark(b.ordered, markOf(d))
	}
	if len(b.tail) < max(b.due, cfg.ChunkBytes) {
		return
	}
	if b.bytes == nil {
		b.bytes = cfg.NewBytes()
	}
	if b.bytes.Append(b.tail) != nil {
		b.due = len(b.tail) + cfg.ChunkBytes
		return
	}
	b.size += len(b.tail)
	b.tail, b.due = b.tail[:0], 0
}

// Each iterates over effects, and over those of a Replay in its place. After an error, which
// is that of a Replay, it continues behind the Replay.
func Each(effects []Effect) iter.Seq2[*Effect, error] {
	return func(yield func(*Effect, error) bool) {
		for i := range effects {
			if effects[i].Kind != ApplyAll {
				if !yield(&effects[i], nil) {
					return
				}
				continue
			}
			for e, err := range effects[i].Replay.Effects() {
				if !yield(&e, err) {
					return
				}
			}
		}
	}
}

// Replay holds operations that have waited for a state. One goroutine reads them, once.
type Replay struct {
	from   *backlog
	view   membership.ViewID // in which they are applied
	before bool              // they are of earlier views: the state with which this one begins has them
	fresh  bool              // they are of this view, so that members can compare hashes
	every  uint64            // Config.HashEvery
}

// Len returns the number of operations.
func (r *Replay) Len() int { return r.from.count }

// Effects returns the effects that the Replay stands for, in order. The error is that of the
// Bytes that keep them.
func (r *Replay) Effects() iter.Seq2[Effect, error] {
	return func(yield func(Effect, error) bool) {
		b := r.from
		in := io.Reader(bytes.NewReader(b.tail))
		if b.bytes != nil {
			in = io.MultiReader((&Content{bytes: b.bytes, size: uint64(b.size)}).Reader(), in)
		}
		for {
			d, err := readDelivery(in)
			if err == io.EOF {
				return
			}
			at := Point{View: r.view}
			if !r.before {
				at.Position = d.Position
			}
			if err != nil {
				yield(Effect{}, fmt.Errorf("replica: operations that waited for a state: %w", err))
				return
			}
			if !yield(Effect{Kind: Apply, Delivery: d, At: at}, nil) {
				return
			}
			if r.fresh && r.every > 0 && d.Position%r.every == 0 && !yield(Effect{Kind: Hash, At: at}, nil) {
				return
			}
		}
	}
}

// readDelivery reads the next operation of a backlog, which ends with io.EOF.
func readDelivery(in io.Reader) (d broadcast.Delivery, err error) {
	var size [4]byte
	if _, err := io.ReadFull(in, size[:]); err != nil {
		return d, err
	}
	record := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(in, record); err != nil {
		return d, fmt.Errorf("cut off: %v", err) // no io.EOF
	}
	return ParseDelivery(record)
}

// wait queues an operation until the state is here.
func (m *Replica) wait(d *broadcast.Delivery) {
	if len(m.queue) == m.earlier {
		m.queue = append(m.queue, new(backlog))
	}
	m.queue[len(m.queue)-1].add(d, &m.cfg)
	m.queued += len(d.Payload) + PerDelivery
}

// overflows reports whether too many deliveries wait. During the transfer of a snapshot, its
// size is the limit if it is larger, because starting over costs as much. Deliveries that
// Bytes refused count as memory.
func (m *Replica) overflows() bool {
	most, memory := m.cfg.MaxQueued, 0
	for _, p := range m.incoming {
		if m.wants(p.name) {
			most = max(most, int(p.size))
		}
	}
	for _, b := range m.queue {
		memory += len(b.tail)
	}
	return m.phase == settled && (m.queued > most || memory > m.cfg.MaxQueued)
}

// replay makes the application apply operations that have waited, before this view or in it.
func (m *Replica) replay(b *backlog, before bool) {
	m.noteAll(b)
	fresh := m.phase == settled && !before
	m.emit(Effect{Kind: ApplyAll, Replay: &Replay{b, m.view.ID, before, fresh, uint64(m.cfg.HashEvery)}})
}

// drain applies the queue.
func (m *Replica) drain() {
	for i, b := range m.queue {
		m.replay(b, i < m.earlier)
	}
	m.dropQueue()
}

// drainBefore applies the operations of earlier views that have waited.
func (m *Replica) drainBefore() {
	for _, b := range m.takeBefore() {
		m.replay(b, true)
	}
}

// takeBefore removes the operations of earlier views from the queue.
func (m *Replica) takeBefore() []*backlog {
	old := m.queue[:m.earlier:m.earlier]
	m.queue, m.earlier = m.queue[m.earlier:], 0
	for _, b := range old {
		m.queued -= b.weight
	}
	return old
}

// dropQueue empties the queue.
func (m *Replica) dropQueue() { m.queue, m.queued, m.earlier = nil, 0, 0 }

// skipQueue empties the queue, whose operations this node will not apply.
func (m *Replica) skipQueue() {
	m.skipAll(m.queue)
	m.dropQueue()
}

// keepNothing drops the queue. Nothing waits for the state of the view any more, until a later
// one is asked for.
func (m *Replica) keepNothing() {
	m.skipQueue()
	m.base, m.overflowed = Name{}, true
}

// skipAll reports this node's own among operations that it will not apply.
func (m *Replica) skipAll(of []*backlog) {
	for _, b := range of {
		m.noteAll(b)
		for i := range b.own {
			m.skip(b.own[i])
		}
	}
}

// noteAll records, with Stored, that operations are ordered.
func (m *Replica) noteAll(b *backlog) {
	for _, mark := range b.ordered {
		m.ordered = broadcast.AddMark(m.ordered, mark)
	}
}
