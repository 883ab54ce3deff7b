package enum

import "fmt"

// Value is a value of an enumeration of which each has a name of its own.
type Value interface {
	~uint8
	String() string
}

// Unmarshal reads the name of a value, which is one up to last. The error says what the type is.
func Unmarshal[V Value](to *V, text []byte, last V) error {
	for v := V(0); v <= last; v++ {
		if v.String() == string(text) {
			*to = v
			return nil
		}
	}
	return fmt.Errorf("%q is no %T", text, last)
}
