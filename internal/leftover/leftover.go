// Package leftover helps tests to find what a machine forgets to forget: the state that
// belongs to one view must be gone when the next begins.
package leftover

import (
	"reflect"
	"slices"
	"unsafe"
)

// Fill gives every field of a struct, except those named, a value that no new struct has.
func Fill(of any, except ...string) {
	each(of, except, func(_ string, f reflect.Value) { fill(f) })
}

// Differ returns the fields in which two structs of one type differ, except those named.
func Differ(a, b any, except ...string) (names []string) {
	other := reflect.ValueOf(b).Elem()
	each(a, except, func(name string, f reflect.Value) {
		if !reflect.DeepEqual(f.Interface(), open(other.FieldByName(name)).Interface()) {
			names = append(names, name)
		}
	})
	return names
}

// Apart returns the fields that two structs of any types both have and in which they differ,
// except those named, and how many they share. A number may have a sign in a and none in b.
func Apart(a, b any, except ...string) (names []string, shared int) {
	other := reflect.ValueOf(b).Elem()
	each(a, except, func(name string, f reflect.Value) {
		g := other.FieldByName(name)
		same := false
		switch {
		case !g.IsValid():
			return
		case f.CanInt() && g.CanUint():
			same = uint64(f.Int()) == g.Uint()
		case f.Type() == g.Type():
			same = reflect.DeepEqual(f.Interface(), open(g).Interface())
		default:
			return
		}
		if shared++; !same {
			names = append(names, name)
		}
	})
	return names, shared
}

// Field returns a pointer to a field of the struct that of points to.
func Field(of any, name string) any {
	return open(reflect.ValueOf(of).Elem().FieldByName(name)).Addr().Interface()
}

// each calls do with the fields of the struct that of points to, which may be written.
func each(of any, except []string, do func(name string, f reflect.Value)) {
	v := reflect.ValueOf(of).Elem()
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; !slices.Contains(except, name) {
			do(name, open(v.Field(i)))
		}
	}
}

// open returns a field that may be read and written, whatever its name.
func open(f reflect.Value) reflect.Value {
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

// fill fills a value and its parts. Pointers get a new, empty value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(7)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(7)
	case reflect.String:
		v.SetString("left over")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Struct:
		for _, f := range v.Fields() {
			fill(open(f))
		}
	}
}
