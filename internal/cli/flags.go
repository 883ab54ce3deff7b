package cli

import (
	"fmt"
	"strings"
)

// Value is a flag whose text is parsed when it is set.
type Value[T any] struct {
	Text  string
	Value T
	kind  string
	parse func(string) (T, error)
}

// NewValue returns a flag with a default text, which must parse. kind is the value's
// name in help texts.
func NewValue[T any](text, kind string, parse func(string) (T, error)) *Value[T] {
	v := &Value[T]{kind: kind, parse: parse}
	if err := v.Set(text); err != nil {
		panic(err)
	}
	return v
}

// String implements pflag.Value.
func (v *Value[T]) String() string { return v.Text }

// Type implements pflag.Value.
func (v *Value[T]) Type() string { return v.kind }

// Set implements pflag.Value.
func (v *Value[T]) Set(text string) error {
	value, err := v.parse(text)
	if err == nil {
		v.Text, v.Value = text, value
	}
	return err
}

// Choice is a value with a name.
type Choice[T any] struct {
	Name  string
	Value T
}

// OneOf returns a function for [NewValue] that accepts the names of choices.
func OneOf[T any](choices ...Choice[T]) func(string) (T, error) {
	return func(text string) (none T, err error) {
		var names []string
		for _, c := range choices {
			if c.Name == text {
				return c.Value, nil
			}
			names = append(names, c.Name)
		}
		return none, fmt.Errorf("it is none of %s", strings.Join(names, ", "))
	}
}

// Names returns choices whose values are their names.
func Names[T ~string](names ...T) (choices []Choice[T]) {
	for _, n := range names {
		choices = append(choices, Choice[T]{string(n), n})
	}
	return choices
}

// ListOf returns a function for [NewValue] that accepts values separated by commas.
func ListOf[T any](parse func(string) (T, error)) func(string) ([]T, error) {
	return func(text string) (all []T, err error) {
		for part := range strings.SplitSeq(text, ",") {
			v, err := parse(part)
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
		return all, nil
	}
}
