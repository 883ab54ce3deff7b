package replica

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/fields"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

const (
	viewBytes = 8 + 1 + 8
	nameBytes = 16 + viewBytes + 8
	copyBytes = nameBytes + 16 + 8
	maxCopies = 255 // limit of a list of snapshots in a report

	ancestorBytes = 16 + viewBytes + 8

	// reportBytes is the size of the largest report without its lists: kind, view,
	// standing, memory, promise, two labels, rank, end, load, mates, base, and the lists' lengths.
	reportBytes = 1 + viewBytes + 1 + 1 + 8 + 2*16 + 8 + nameBytes + 8 + 1 + timed.MaxNodes + nameBytes + 3
)

// errMessage rejects a payload that is not a message of this package.
var errMessage = errors.New("replica: not a message of the replicated state")

// AppendOp appends the payload of an operation in its envelope. Broadcast it as Total
// or Timed, and all members apply the operation.
func AppendOp(dst, op []byte) []byte { return append(append(dst, byte(kindOp)), op...) }

// operation returns the operation in a payload of AppendOp.
func operation(payload []byte) (op []byte, ok bool) {
	if len(payload) == 0 || kind(payload[0]) != kindOp {
		return nil, false
	}
	return payload[1:], true
}

// AppendBeside appends a payload of the application that is not an operation. Broadcast it in
// any order to get a [Beside] effect at all members.
func AppendBeside(dst, payload []byte) []byte {
	return append(append(dst, byte(kindBeside)), payload...)
}

// AppendBarrier appends the payload of a barrier. Broadcast it as Total to get a [Barrier]
// effect at its position in the order. It changes no state: after a split with barriers only,
// no merge is needed.
func AppendBarrier(dst []byte) []byte { return append(dst, byte(kindBarrier)) }

// AppendBootstrap appends the payload by which an operator lets a view continue without
// members that remember the state. said is when, by a wall clock. Broadcast it as Total.
func AppendBootstrap(dst []byte, view membership.ViewID, said time.Time) []byte {
	return binary.BigEndian.AppendUint64(appendView(append(dst, byte(kindBootstrap)), view), generationOf(said))
}

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}

func appendName(b []byte, n Name) []byte {
	b = appendView(append(b, n.Label[:]...), n.View)
	return binary.BigEndian.AppendUint64(b, n.Position)
}

func appendPoint(b []byte, p Point) []byte {
	return binary.BigEndian.AppendUint64(appendView(b, p.View), p.Position)
}

func appendCopies(b []byte, cs []copyOf) []byte {
	b = append(b, byte(len(cs)))
	for i := range cs {
		b = append(appendName(b, cs[i].name), cs[i].digest[:]...)
		b = binary.BigEndian.AppendUint64(b, cs[i].got)
	}
	return b
}

func appendAncestors(b []byte, line []Ancestor) []byte {
	b = append(b, byte(len(line)))
	for i := range line {
		b = appendView(append(b, line[i].Label[:]...), line[i].View)
		b = binary.BigEndian.AppendUint64(b, line[i].Reached)
	}
	return b
}

// encode returns a message's payload.
func encode(m *message) []byte {
	u64 := binary.BigEndian.AppendUint64
	b := make([]byte, 1, ChunkOverhead)
	b[0] = byte(m.kind)
	switch m.kind {
	case kindReport:
		r := &m.report
		b = append(appendView(b, r.view), byte(r.standing), flag(r.remembers))
		b = u64(b, r.promised)
		first, second := r.lineage.Label, r.awaits
		if r.standing == Pending {
			first, second = second, first
		}
		b = append(append(b, first[:]...), second[:]...)
		b = appendAncestors(appendName(u64(b, r.lineage.Rank), r.lineage.End), r.lineage.Line)
		b = append(u64(b, r.load), byte(r.mates.Len()))
		for id := range r.mates.All() {
			b = append(b, byte(id))
		}
		b = appendCopies(appendCopies(appendName(b, r.base), r.held), r.parts)
	case kindReady:
		b = append(appendView(b, m.view), m.digest[:]...)
	case kindAsk, kindHolds, kindRetry, kindPromised:
		b = appendView(b, m.view)
	case kindBootstrap:
		b = u64(appendView(b, m.view), m.generation)
	case kindRefuse:
		b = appendName(appendView(b, m.view), m.name)
	case kindBlocks:
		b = append(b, m.body...)
	case kindChunk, kindSame:
		b = append(appendName(b, m.name), m.digest[:]...)
		b = append(u64(u64(b, m.offset), m.size), m.body...)
	case kindGot:
		b = u64(append(appendName(b, m.name), m.digest[:]...), m.offset)
		if m.rewind && m.offset > 0 { // wire version 4 has no such byte
			b = append(b, flag(true))
		}
	case kindHash:
		b = u64(appendPoint(b, m.at), m.sum)
	case kindStored:
		b = appendPoint(b, m.at)
	case kindEpoch:
		b = u64(u64(u64(appendView(b, m.view), m.epochs.now), m.epochs.system), m.epochs.state.Epoch)
		b = append(b, m.epochs.state.System...)
	case kindDisks:
		b = append(appendPoint(appendView(b, m.view), m.at), byte(len(m.confirmed)))
		for _, c := range m.confirmed {
			b = appendPoint(append(b, byte(c.node)), c.at)
		}
	case kindGeneration:
		b = append(appendView(b, m.view), byte(len(m.confirmed)))
		for _, c := range m.confirmed {
			b = u64(append(b, byte(c.node)), c.in)
		}
	case kindSettings:
		b = u64(append(appendView(b, m.view), flag(m.own.stored)), m.own.hashEvery)
	}
	return b
}

// reader reads a payload.
type reader struct{ fields.Reader }

func (r *reader) view() (v membership.ViewID) {
	v.Sequence, v.Leader, v.Boot = r.Uint64(), timed.NodeID(r.Byte()), timed.BootID(r.Uint64())
	return v
}

func (r *reader) sum() (s [16]byte) {
	copy(s[:], r.Take(len(s)))
	return s
}

func (r *reader) point() Point { return Point{r.view(), r.Uint64()} }

func (r *reader) name() (n Name) {
	n.Label, n.View, n.Position = r.sum(), r.view(), r.Uint64()
	return n
}

func (r *reader) copies() (cs []copyOf) {
	for range r.Byte() {
		c := copyOf{r.name(), r.sum(), r.Uint64()}
		if r.Bad {
			return nil
		}
		cs = append(cs, c)
	}
	return cs
}

func (r *reader) ancestors() (line []Ancestor) {
	for range r.Byte() {
		a := Ancestor{r.sum(), r.view(), r.Uint64()}
		if r.Bad {
			return nil
		}
		line = append(line, a)
	}
	return line
}

func (r *reader) confirmed() (cs []confirmed) {
	for range r.Byte() {
		c := confirmed{node: timed.NodeID(r.Byte()), at: r.point()}
		if r.Bad {
			return nil
		}
		cs = append(cs, c)
	}
	return cs
}

func (r *reader) dates() (cs []confirmed) {
	for range r.Byte() {
		cs = append(cs, confirmed{node: timed.NodeID(r.Byte()), in: r.Uint64()})
	}
	return cs
}

func (r *reader) marks() (ms []broadcast.Mark) {
	for range r.Uint16() {
		m := broadcast.Mark{Node: timed.NodeID(r.Byte()), Boot: timed.BootID(r.Uint64()), Sequence: r.Uint64()}
		if r.Bad {
			return nil
		}
		ms = append(ms, m)
	}
	return ms
}

// decode reads a payload. The message's body points into it.
func decode(b []byte, m *message) error {
	r := reader{fields.Reader{Rest: b}}
	*m = message{kind: kind(r.Byte())}
	switch m.kind {
	case kindOp, kindBeside, kindBlocks:
		m.body = r.All()
	case kindReport:
		p := &m.report
		p.view, p.standing, p.remembers = r.view(), Standing(r.Byte()), r.Flag()
		p.promised = r.Uint64()
		p.lineage.Label, p.awaits = r.sum(), r.sum()
		if p.standing == Pending {
			p.lineage.Label, p.awaits = p.awaits, p.lineage.Label
		}
		p.lineage.Rank, p.lineage.End, p.lineage.Line, p.load = r.Uint64(), r.name(), r.ancestors(), r.Uint64()
		for range r.Byte() {
			p.mates.Add(timed.NodeID(r.Byte()))
		}
		p.base, p.held, p.parts = r.name(), r.copies(), r.copies()
		r.Bad = r.Bad || p.standing > Pending
	case kindReady:
		m.view, m.digest = r.view(), r.sum()
	case kindAsk, kindHolds, kindRetry, kindPromised:
		m.view = r.view()
	case kindGeneration:
		m.view, m.confirmed = r.view(), r.dates()
	case kindBootstrap:
		if m.view = r.view(); len(r.Rest) > 0 { // earlier builds say no generation
			m.generation = r.Uint64()
		}
	case kindBarrier:
	case kindRefuse:
		m.view, m.name = r.view(), r.name()
	case kindChunk, kindSame:
		m.name, m.digest, m.offset, m.size = r.name(), r.sum(), r.Uint64(), r.Uint64()
		m.body = r.All()
		r.Bad = r.Bad || m.offset > m.size || m.kind == kindChunk && uint64(len(m.body)) > m.size-m.offset
	case kindGot:
		m.name, m.digest, m.offset = r.name(), r.sum(), r.Uint64()
		m.rewind = m.offset == 0 || len(r.Rest) > 0 && r.Flag()
	case kindHash:
		m.at, m.sum = r.point(), r.Uint64()
	case kindStored:
		m.at = r.point()
	case kindDisks:
		m.view, m.at, m.confirmed = r.view(), r.point(), r.confirmed()
	case kindEpoch:
		m.view = r.view()
		m.epochs = epochs{r.Uint64(), r.Uint64(), Era{r.Uint64(), string(r.All())}}
		r.Bad = r.Bad || m.epochs.now == 0 || len(m.epochs.state.System) > maxSystem
	case kindSettings:
		m.view, m.own = r.view(), settings{r.Flag(), r.Uint64()}
	default:
		return errMessage
	}
	if !r.End() {
		return errMessage
	}
	return nil
}
