package exhaust

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// axis names the clock of an instant.
type axis uint8

const (
	ownClock    axis = iota
	peerClock        // of the node whose entry of a table it is in
	lockedClock      // of the node to which the vote is bound
)

// Fields are named by the type that owns them and the path from there.

// axes lists the instants of other clocks than the node's own. One that is
// missing here would make states with different futures look alike, which the
// tests of this package notice.
var axes = map[string]axis{
	"datagram.peer.current.best.Sent":          peerClock,
	"datagram.peer.current.helper.Received":    peerClock,
	"datagram.peer.current.latest":             peerClock,
	"datagram.peer.current.hearingStamp":       peerClock,
	"datagram.peer.challenger.best.Sent":       peerClock,
	"datagram.peer.challenger.helper.Received": peerClock,
	"datagram.peer.challenger.latest":          peerClock,
	"datagram.peer.challenger.hearingStamp":    peerClock,
	"leader.Election.lockRequest":              lockedClock,

	// In packets, the sender's clock is the own one, and the receiver's the peer's.
	"wire.Packet.Header.Echo.Sent":   peerClock,
	"wire.Packet.Header.Echo.Latest": peerClock,
	"wire.Packet.Reply.Number":       peerClock,
	"wire.Packet.Answer.Asked":       peerClock,
}

// noState lists the fields that do not influence the next turns of a node, with the
// reason. All others do, including future ones.
var noState = map[string]string{
	"stack.Stack.out":                 "nothing between turns",
	"stack.Stack.outbox":              "a turn resets the flags, without which no other field is read",
	"stack.Stack.events":              "emptied by each turn",
	"stack.Stack.packets":             "emptied by each turn; what no frame carries is not sent",
	"stack.Stack.broadcastOut":        "nodes of the model do not broadcast",
	"stack.Stack.cfg.Quorum":          "nodes of the model have no quorum system",
	"leader.Election.cfg.Quorum":      "nodes of the model have no quorum system",
	"stack.Stack.epochs":              "nodes of the model have no quorum system",
	"stack.Stack.order":               "nodes of the model do not broadcast",
	"stack.Stack.epochal":             "nodes of the model have no quorum system",
	"stack.Stack.versions":            "nodes of the model speak one version",
	"wire.Packet.Epoch":               "nodes of the model have no quorum system",
	"stack.Stack.electionOut":         "emptied before use",
	"stack.Stack.viewsOut":            "emptied before use",
	"stack.Stack.clockOut":            "emptied before use",
	"datagram.peer.current.recent":    "packets of the model have no counters",
	"datagram.peer.challenger.recent": "packets of the model have no counters",
	"wire.Packet.Members":             "nodes of the model know each other",
	"stack.Stack.NewPacket":           "belongs to the driver",
	"stack.Stack.Dropped":             "counted, and never read",
	"wire.Packet.UTC":                 "nodes of the model have no references",
	"wire.Packet.Samples":             "nodes of the model have no references",
	"wire.Packet.Line.Bend":           "lines bend for references only",
	"wire.Packet.Line.Next":           "lines bend for references only",
	"clocksync.Sync.line.Bend":        "lines bend for references only",
	"clocksync.Sync.line.Next":        "lines bend for references only",
	"clocksync.Sync.snap.bend":        "lines bend for references only",
	"clocksync.Sync.snap.next":        "lines bend for references only",
	"clocksync.Sync.snap.utc":         "nodes of the model have no references",
	"stack.Stack.lastPacket":          "an answer about the last turn, which no turn reads",
	"stack.Stack.datagramOut":         "emptied before use",
}

// betweenTurns lists what audits keep: what they compare the next turn with, and what
// they found. A state is loaded without it, because the last turn was another state's.
var betweenTurns = map[string]bool{
	"leader.Election.audit":    true,
	"membership.Service.audit": true,
	"clocksync.Sync.audit":     true,
	"stack.Stack.inconsistent": true,
}

// onlyFuture lists instants that are compared with the present and with other
// such instants: once they are past, it does not matter for how long.
var onlyFuture = map[string]string{
	"leader.Election.readyAt":    "being ready means that it is past",
	"leader.Election.quietUntil": "bounds the next request from below",
	"leader.Election.youngUntil": "a view is handed over once it is past",
}

// tables lists the slices that are indexed by node id and end with the last id
// that had something to say, and why an entry that is missing is a zero one: all
// entries of nodes that exist can then be there. Other slices are lists.
var tables = map[string]string{
	"leader.Election.peers": "what is not there reads as the zero peer",
}

// field is one scalar of a node's state.
type field struct {
	at     unsafe.Pointer
	kind   fieldKind
	axis   axis
	node   timed.NodeID // in whose entry of a table it is
	future bool
	name   string
	list   *list          // that it is an element of, or the length of
	index  int            // of the element, or -1: the length
	target unsafe.Pointer // of a fixed pointer
}

// stays panics if a pointer has changed since the layout was made: its new target would
// not be part of the state.
func (f *field) stays() {
	if *(*unsafe.Pointer)(f.at) != f.target {
		panic("exhaust: " + f.name + " points to something new")
	}
}

// absent reports whether the field is part of an element that a list does not
// have now. Remains of an earlier element are not state.
func (f *field) absent() bool { return f.list != nil && f.index >= f.list.header.len }

// list is a slice whose memory is reused.
type list struct {
	header *sliceHeader
	data   unsafe.Pointer // the memory of all elements that there can be
	name   string
}

// sliceHeader is how a slice lies in memory.
type sliceHeader struct {
	data unsafe.Pointer
	len  int
	cap  int
}

// length returns the length of the list. A list that has moved to other memory is not
// the one of the layout any more.
func (l *list) length() byte {
	if l.header.data != l.data {
		panic("exhaust: " + l.name + " has more elements than there are nodes")
	}
	return byte(l.header.len)
}

// resize gives the list as many elements as a state has of it.
func (l *list) resize(n byte) { l.header.len = int(n) }

type fieldKind uint8

const (
	word8 fieldKind = iota
	word16
	word32
	word64
	instant
	groupTime
	viewPointer
	listLength
	fixedPointer // to a target of this node alone, which the layout covers
)

// layout is how a value lies in memory: its scalars, in order.
type layout struct {
	nodes  int // ids above do not exist
	fields []field
	locked *timed.NodeID   // the process that the vote is bound to
	left   map[string]bool // names of fields that were left out
	reset  []reflect.Value // that loading a state makes zero
}

var (
	typeInstant = reflect.TypeFor[timed.Instant]()
	typeTime    = reflect.TypeFor[clocksync.Time]()
	typeView    = reflect.TypeFor[*membership.View]()
)

// layoutOf finds the scalars of the target of p, in a world of so many nodes.
func layoutOf(p any, nodes int) layout {
	l := layout{nodes: nodes, left: map[string]bool{}}
	v := reflect.ValueOf(p).Elem()
	l.walk(v, v.Type().String(), timed.NoNode)
	return l
}

// walk appends the scalars of a value. node is the index in the table it is in.
func (l *layout) walk(v reflect.Value, name string, node timed.NodeID) {
	if _, skip := noState[name]; skip {
		l.left[name] = true
		return
	}
	if betweenTurns[name] {
		l.left[name] = true
		l.reset = append(l.reset, writable(v))
		return
	}
	f := field{at: v.Addr().UnsafePointer(), node: node, name: name}
	switch v.Type() {
	case typeInstant:
		f.kind = instant
		f.axis = axes[name]
		_, f.future = onlyFuture[name]
	case typeTime:
		f.kind = groupTime
	case typeView:
		f.kind = viewPointer
	default:
		switch v.Kind() {
		case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
			reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			f.kind = map[uintptr]fieldKind{1: word8, 2: word16, 4: word32, 8: word64}[v.Type().Size()]
		case reflect.Struct:
			for i := range v.NumField() {
				l.walk(v.Field(i), name+"."+v.Type().Field(i).Name, node)
			}
			return
		case reflect.Array:
			l.walkArray(v, name, node)
			return
		case reflect.Slice:
			l.walkSlice(v, name, node)
			return
		case reflect.Pointer:
			f.kind, f.target = fixedPointer, v.UnsafePointer()
			l.fields = append(l.fields, f)
			if !v.IsNil() {
				l.walk(v.Elem(), v.Type().Elem().String(), node)
			}
			return
		default:
			panic(fmt.Sprintf("exhaust: %s is a %s, of which the state of a node cannot consist", name, v.Kind()))
		}
	}
	l.note(&f)
	l.fields = append(l.fields, f)
}

// walkArray appends the elements of an array. Tables by node id have entries
// for ids that do not exist; they are never written.
func (l *layout) walkArray(v reflect.Value, name string, node timed.NodeID) {
	n, table := v.Len(), v.Len() == timed.MaxNodes+1
	if table {
		n = l.nodes + 1
	}
	for i := range n {
		if table {
			node = timed.NodeID(i)
		}
		l.walk(v.Index(i), name, node)
	}
}

// walkSlice appends the elements that a slice can have: one for each node at
// most. It makes room for them, so that they stay where they are.
func (l *layout) walkSlice(v reflect.Value, name string, node timed.NodeID) {
	room := reflect.MakeSlice(v.Type(), l.nodes+1, l.nodes+1)
	s := writable(v)
	held := reflect.Copy(room, s)
	_, table := tables[name]
	if table {
		held = room.Len()
	}
	s.Set(room)
	s.SetLen(held)
	of := &list{header: (*sliceHeader)(at(v)), data: room.UnsafePointer(), name: name}
	l.fields = append(l.fields, field{kind: listLength, name: name, list: of, index: -1})
	for i := range room.Len() {
		if table {
			node = timed.NodeID(i)
		}
		first := len(l.fields)
		l.walk(room.Index(i), name, node)
		for k := first; k < len(l.fields); k++ {
			l.fields[k].list, l.fields[k].index = of, i
		}
	}
}

// note keeps the fields that this package itself needs.
func (l *layout) note(f *field) {
	if f.name == "leader.Election.lockedTo.Node" {
		l.locked = (*timed.NodeID)(f.at)
	}
	if f.axis == lockedClock && l.locked == nil {
		panic("exhaust: the vote must stand before " + f.name)
	}
}
