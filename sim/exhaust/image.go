package exhaust

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"reflect"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// image is the state of a node after a turn, as bytes. Instants are relative
// to the reading of their clock at that turn, group times relative to the node's reading:
// the images of states that differ by a shift of time are the same.
type image struct {
	bytes []byte
	views []*membership.View // the pointers of the state, which may be aliases
	shown clocksync.Time     // the origin of group times
	hash  digest
}

// digest identifies states: 128 bits of SHA-256, of which no search that fits
// into a computer meets the same twice by chance.
type digest [16]byte

func digestOf(b []byte) (d digest) {
	sum := sha256.Sum256(b)
	copy(d[:], sum[:])
	return d
}

// Codes of instants, and of group times: those values that stand for none are no
// points in time, and do not shift.
const (
	codeNone = iota
	codeNever
	codeLeast
	codeOffset
	codeBits = 2
)

// machine is a stack into which states are loaded, and from which they are taken.
type machine struct {
	layout
	st    *stack.Stack
	self  timed.NodeID
	clock clockFields
	old   leftovers
}

func newMachine(st *stack.Stack, nodes int) *machine {
	m := &machine{layout: layoutOf(st, nodes), st: st, self: st.Self().Node}
	v := reflect.ValueOf(st).Elem()
	m.clock.bind(v.FieldByName("clock").Elem())
	m.old.bind(v, nodes)
	return m
}

// take returns the state of the machine after a turn, when the clocks of the
// nodes, by id, showed clocks.
func (m *machine) take(clocks []timed.Instant) *image {
	now := clocks[m.self]
	m.old.normalize()
	m.clock.normalize(now, m.st.Clock().Read(now).Time)
	img := &image{shown: *m.clock.shown}
	img.take(&m.layout, m.self, clocks)
	return img
}

// take makes the image of the memory that a layout covers. Instants that are not of a
// peer's clock are of own's.
func (img *image) take(l *layout, own timed.NodeID, clocks []timed.Instant) {
	b := make([]byte, 0, len(l.fields)+len(l.fields)/2)
	for i := range l.fields {
		f := &l.fields[i]
		if f.absent() {
			continue
		}
		switch f.kind {
		case word8:
			b = append(b, *(*uint8)(f.at))
		case word16:
			b = binary.AppendUvarint(b, uint64(*(*uint16)(f.at)))
		case word32:
			b = binary.AppendUvarint(b, uint64(*(*uint32)(f.at)))
		case word64:
			b = binary.AppendVarint(b, *(*int64)(f.at))
		case instant:
			at := *(*timed.Instant)(f.at)
			if f.future && at != 0 && at < clocks[own] {
				at = clocks[own]
			}
			b = appendInstant(b, at, clocks[l.clockOf(f, own)])
		case groupTime:
			b = appendInstant(b, timed.Instant(*(*clocksync.Time)(f.at)), timed.Instant(img.shown))
		case viewPointer:
			b = append(b, img.number(*(**membership.View)(f.at)))
		case listLength:
			b = append(b, f.list.length())
		case fixedPointer:
			f.stays()
		}
	}
	img.bytes = b
	for _, v := range img.views {
		b = appendView(b, v)
	}
	img.hash = digestOf(b)
}

// load brings the machine into a state. The clocks may have any readings: the
// machine depends on differences only.
func (m *machine) load(img *image, clocks []timed.Instant) {
	for _, v := range m.reset {
		v.SetZero()
	}
	b := img.bytes
	for i := range m.fields {
		f := &m.fields[i]
		if f.absent() {
			continue
		}
		switch f.kind {
		case word8:
			*(*uint8)(f.at) = b[0]
			b = b[1:]
		case word16:
			*(*uint16)(f.at) = uint16(uvarint(&b))
		case word32:
			*(*uint32)(f.at) = uint32(uvarint(&b))
		case word64:
			*(*int64)(f.at) = varint(&b)
		case instant:
			*(*timed.Instant)(f.at) = readInstant(&b, clocks[m.clockOf(f, m.self)])
		case groupTime:
			*(*clocksync.Time)(f.at) = clocksync.Time(readInstant(&b, timed.Instant(img.shown)))
		case viewPointer:
			*(**membership.View)(f.at) = nil
			if n := b[0]; n > 0 {
				*(**membership.View)(f.at) = img.views[n-1]
			}
			b = b[1:]
		case listLength:
			f.list.resize(b[0])
			b = b[1:]
		}
	}
	if len(b) != 0 {
		panic("exhaust: an image of another machine")
	}
}

// clockOf returns whose clock an instant is of.
func (l *layout) clockOf(f *field, own timed.NodeID) timed.NodeID {
	switch {
	case f.axis == peerClock:
		return f.node
	case f.axis == lockedClock && *l.locked != timed.NoNode:
		return *l.locked
	}
	return own
}

// number returns the number of a view pointer, from 1; 0 is nil.
func (img *image) number(v *membership.View) byte {
	if v == nil {
		return 0
	}
	for i, w := range img.views {
		if v == w {
			return byte(i + 1)
		}
	}
	img.views = append(img.views, v)
	return byte(len(img.views))
}

func appendInstant(b []byte, t, now timed.Instant) []byte {
	switch t {
	case 0:
		return append(b, codeNone)
	case timed.Never:
		return append(b, codeNever)
	case math.MinInt64:
		return append(b, codeLeast)
	}
	d := int64(t - now)
	return binary.AppendUvarint(b, (uint64(d)<<1^uint64(d>>63))<<codeBits|codeOffset)
}

func readInstant(b *[]byte, now timed.Instant) timed.Instant {
	x := uvarint(b)
	switch x & (1<<codeBits - 1) {
	case codeNone:
		return 0
	case codeNever:
		return timed.Never
	case codeLeast:
		return math.MinInt64
	}
	x >>= codeBits
	return now + (timed.Instant(x>>1) ^ -timed.Instant(x&1))
}

func uvarint(b *[]byte) uint64 {
	x, n := binary.Uvarint(*b)
	*b = (*b)[n:]
	return x
}

func varint(b *[]byte) int64 {
	x, n := binary.Varint(*b)
	*b = (*b)[n:]
	return x
}

func appendView(b []byte, v *membership.View) []byte {
	b = appendViewID(b, v.ID)
	b = append(b, byte(len(v.Members)))
	for i := range v.Members {
		m := &v.Members[i]
		b = appendIncarnation(b, m.Incarnation)
		b = appendViewID(b, m.Previous)
	}
	return b
}

func appendViewID(b []byte, id membership.ViewID) []byte {
	b = binary.AppendUvarint(b, id.Sequence)
	return appendIncarnation(b, timed.Incarnation{Node: id.Leader, Boot: id.Boot})
}

func appendIncarnation(b []byte, i timed.Incarnation) []byte {
	return binary.AppendUvarint(append(b, byte(i.Node)), uint64(i.Boot))
}
