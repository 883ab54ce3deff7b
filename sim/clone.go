package sim

import (
	"reflect"
	"unsafe"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/timed"
)

// clone starts a copy of a process with its running memory on another machine,
// whose clock shows the same at first and then drifts by itself.
func (w *World) clone(n *Node) {
	c := w.addProcess(n.proc.ID, len(w.nodes))
	w.check.Cloned = true
	now := n.proc.Clock.Show(w.now)
	c.proc.Clock = hardware.New(w.now, now, hardware.DrawRate(w.clocks, w.opt.Timing.MaxDrift)).Rounded(w.opt.Resolution)
	c.timing, c.newest = n.timing, n.newest
	c.proc.Boot, c.last, c.counter, c.restarted = n.proc.Boot, now, n.counter, w.now
	c.proc.SetTiming(&c.timing)
	c.proc.Up, c.wakeAt, c.armedFor = true, hardware.Forever, timed.Never
	c.proc.Stack = twinOf(n.proc.Stack)
	c.proc.Stack.NewPacket = w.newPacket
	w.arm(c, 0)
}

// twinOf returns a deep copy of a stack.
func twinOf(s *stack.Stack) *stack.Stack {
	c := copier{}
	return c.value(reflect.ValueOf(s)).Interface().(*stack.Stack)
}

// copier copies a graph of values by reflection, so that no layer needs a method for it.
type copier map[unsafe.Pointer]reflect.Value

var typeQuorum = reflect.TypeFor[quorum.System]()

// value returns a deep copy. Functions are shared.
func (c copier) value(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		if to, ok := c[v.UnsafePointer()]; ok && to.Type() == v.Type() {
			return to
		}
		to := reflect.New(v.Type().Elem())
		c[v.UnsafePointer()] = to
		c.fill(to.Elem(), v.Elem())
		return to
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		to := reflect.MakeSlice(v.Type(), v.Len(), v.Cap())
		for i := range v.Len() {
			c.fill(to.Index(i), v.Index(i))
		}
		return to
	case reflect.Interface:
		if v.Type() == typeQuorum {
			return v // never changes
		}
		fallthrough
	case reflect.Map, reflect.Chan:
		if !v.IsNil() {
			panic("sim: a stack holds a " + v.Type().String() + ", which clones do not know")
		}
	}
	return v
}

// fill copies a value into a place, field by field.
func (c copier) fill(to, from reflect.Value) {
	switch from.Kind() {
	case reflect.Struct:
		for i := range from.NumField() {
			c.fill(open(to.Field(i)), open(from.Field(i)))
		}
	case reflect.Array:
		for i := range from.Len() {
			c.fill(to.Index(i), from.Index(i))
		}
	default:
		to.Set(c.value(from))
	}
}

// open returns a field that can be read and set although it is not exported.
func open(f reflect.Value) reflect.Value {
	return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
}
