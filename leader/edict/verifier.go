package edict

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Limits of a [Verifier].
const (
	// MaxNames is how many names a verifier remembers an edict for.
	MaxNames = 4096
	// MaxName is the length in bytes of the longest name.
	MaxName = 255
)

// Errors to compare with [errors.Is].
var (
	// ErrStale: a later edict was obeyed before.
	ErrStale = errors.New("edict: stale")
	// ErrIncomparable: the edict and the one obeyed last do not tell which is the
	// later one.
	ErrIncomparable = errors.New("edict: incomparable")
	// ErrPayload: the edict was made for another payload.
	ErrPayload = errors.New("edict: made for another payload")
	// ErrName: the name is empty or too long, or there are too many.
	ErrName = errors.New("edict: the name cannot be fenced")
)

// RefusedError says why a verifier refused an edict. It matches [ErrStale] or
// [ErrIncomparable].
type RefusedError struct {
	Name     string
	Held     Edict    // the edict obeyed last
	Offered  Edict    // the one that was refused
	Relation Relation // of Offered to Held
}

func (e *RefusedError) Error() string {
	if e.Relation.Order == Before {
		return fmt.Sprintf("edict: refused for %q: a later edict was obeyed before", e.Name)
	}
	return fmt.Sprintf("edict: refused for %q: it and the edict obeyed last are %v", e.Name, e.Relation)
}

// Is reports whether target is the kind of refusal that this is.
func (e *RefusedError) Is(target error) bool {
	return e.Relation.Order == Before && target == ErrStale || e.Relation.Order == Incomparable && target == ErrIncomparable
}

// Verdict says how an edict was accepted.
type Verdict uint8

const (
	// Refused comes with an error.
	Refused Verdict = iota
	// Obey: the edict is later than all before.
	Obey
	// Repeated: it is the edict that was obeyed last, once more. Its sender has
	// seen no answer, or the store stopped between noting the edict and obeying
	// it. What does the same when it is done twice may be done again; what does
	// not needs a note, made together with its effect, of what was done last.
	Repeated
)

func (v Verdict) String() string {
	switch v {
	case Obey:
		return "obey"
	case Repeated:
		return "repeated"
	}
	return "refused"
}

// Verifier is the fence of a store: for each name (of a table, a volume, a
// device: whatever has one leader at a time) it remembers the latest edict
// obeyed, and refuses those that are not later. It is for one goroutine, and
// forgets everything with the process; package fence keeps it in a file.
//
// The first edict for a name is accepted whatever it is.
type Verifier struct{ entries []Entry } // sorted by name

// Entry is what a [Verifier] remembers.
type Entry struct {
	Name  string
	Edict Edict
}

// Accept decides on an edict for the named resource: the caller may obey what
// payload, of the given digest, says if the error is nil, and must have obeyed it
// before it offers another edict for that name. A refusal changes nothing; the
// error is a [*RefusedError], or matches [ErrPayload], [ErrName] or
// [ErrMalformed].
func (v *Verifier) Accept(name string, e *Edict, payload Digest) (Verdict, error) {
	if err := e.Validate(); err != nil {
		return Refused, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if e.Digest != payload {
		return Refused, ErrPayload
	}
	i, found := v.find(name)
	if !found {
		if err := v.checkName(name); err != nil {
			return Refused, err
		}
		v.entries = slices.Insert(v.entries, i, Entry{name, e.Clone()})
		return Obey, nil
	}
	held := &v.entries[i].Edict
	r := Relate(e, held)
	switch {
	case r.Order == Same:
		return Repeated, nil
	case r.Order == After:
		*held = e.Clone()
		return Obey, nil
	}
	return Refused, &RefusedError{name, held.Clone(), e.Clone(), r}
}

// Latest returns the edict obeyed last for a name.
func (v *Verifier) Latest(name string) (Edict, bool) {
	i, found := v.find(name)
	if !found {
		return Edict{}, false
	}
	return v.entries[i].Edict.Clone(), true
}

// Entries returns what is remembered, sorted by name.
func (v *Verifier) Entries() []Entry {
	all := slices.Clone(v.entries)
	for i := range all {
		all[i].Edict = all[i].Edict.Clone()
	}
	return all
}

// Remember makes the edict the latest one for a name, whatever was before: it
// is how a verifier gets back what was written down.
func (v *Verifier) Remember(name string, e *Edict) error {
	if err := e.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	i, found := v.find(name)
	if found {
		v.entries[i].Edict = e.Clone()
		return nil
	}
	if err := v.checkName(name); err != nil {
		return err
	}
	v.entries = slices.Insert(v.entries, i, Entry{name, e.Clone()})
	return nil
}

// Forget drops what is remembered for a name: that of a resource which is gone.
// The next edict for it is accepted whatever it is.
func (v *Verifier) Forget(name string) {
	if i, found := v.find(name); found {
		v.entries = slices.Delete(v.entries, i, i+1)
	}
}

func (v *Verifier) find(name string) (int, bool) {
	return slices.BinarySearchFunc(v.entries, name, func(e Entry, name string) int { return strings.Compare(e.Name, name) })
}

// checkName checks a name that is not known yet.
func (v *Verifier) checkName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrName)
	case len(name) > MaxName:
		return fmt.Errorf("%w: its %d bytes are more than %d", ErrName, len(name), MaxName)
	case len(v.entries) >= MaxNames:
		return fmt.Errorf("%w: there are %d already", ErrName, MaxNames)
	}
	return nil
}
