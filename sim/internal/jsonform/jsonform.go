// Package jsonform writes structs as JSON for people: durations as text such as
// "1.5s", nodes as numbers, and sets of nodes as lists of numbers.
package jsonform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/failaware/failaware/timed"
)

type duration time.Duration

// MarshalText implements [encoding.TextMarshaler].
func (d duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *duration) UnmarshalText(b []byte) error {
	x, err := time.ParseDuration(string(b))
	*d = duration(x)
	return err
}

type set timed.Set

// MarshalJSON implements [json.Marshaler]. A slice of ids, which are bytes, would be
// written as binary data.
func (s set) MarshalJSON() ([]byte, error) {
	numbers := []int{}
	for id := range timed.Set(s).All() {
		numbers = append(numbers, int(id))
	}
	return json.Marshal(numbers)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *set) UnmarshalJSON(b []byte) error {
	var numbers []int
	if err := json.Unmarshal(b, &numbers); err != nil {
		return err
	}
	var x timed.Set
	for _, n := range numbers {
		if n < 1 || n > timed.MaxNodes {
			return fmt.Errorf("node %d: must be 1 to %d", n, timed.MaxNodes)
		}
		x.Add(timed.NodeID(n))
	}
	*s = set(x)
	return nil
}

var (
	typeDuration  = reflect.TypeFor[time.Duration]()
	typeSet       = reflect.TypeFor[timed.Set]()
	typeNode      = reflect.TypeFor[timed.NodeID]()
	typeMarshaler = reflect.TypeFor[json.Marshaler]()
)

// form returns the type with the same memory layout whose durations, nodes and sets
// have the form of this package. Types that marshal themselves stay as they are.
func form(t reflect.Type) reflect.Type {
	switch {
	case t == typeDuration:
		return reflect.TypeFor[duration]()
	case t == typeSet:
		return reflect.TypeFor[set]()
	case t == typeNode:
		return reflect.TypeFor[uint8]()
	case t.Implements(typeMarshaler), reflect.PointerTo(t).Implements(typeMarshaler):
		return t
	}
	switch t.Kind() {
	case reflect.Pointer:
		return reflect.PointerTo(form(t.Elem()))
	case reflect.Slice:
		return reflect.SliceOf(form(t.Elem()))
	case reflect.Struct:
		fields := reflect.VisibleFields(t)
		for i := range fields {
			fields[i].Type = form(fields[i].Type)
		}
		return reflect.StructOf(fields)
	}
	return t
}

// view returns a pointer to the same memory as v, which points to a struct, as a
// pointer to its form.
func view(v any) any {
	x := reflect.ValueOf(v)
	return reflect.NewAt(form(x.Type().Elem()), x.UnsafePointer()).Interface()
}

// Marshal returns the JSON form of the struct that v points to. Its fields, and those
// of structs within, must be exported.
func Marshal(v any) ([]byte, error) { return json.Marshal(view(v)) }

// Unmarshal reads JSON into the struct that v points to. Fields that it does not have
// are errors, as is anything after the object.
func Unmarshal(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(view(v)); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("data after the JSON object at byte %d", d.InputOffset())
	}
	return nil
}
