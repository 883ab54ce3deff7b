package edict

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/failaware/failaware/internal/enum"
)

// Limits of a [Verifier].
const (
	// MaxNames is the largest number of names.
	MaxNames = 4096
	// MaxName is the length of the longest name in bytes.
	MaxName = 255
)

// Errors to compare with [errors.Is].
var (
	// ErrStale means that a later edict has already been obeyed.
	ErrStale = errors.New("edict: stale")
	// ErrIncomparable means that the edict and the latest obeyed one do not show
	// which of them is later.
	ErrIncomparable = errors.New("edict: incomparable")
	// ErrPayload means that the edict was made for another payload.
	ErrPayload = errors.New("edict: made for another payload")
	// ErrName means that a name is empty or too long, or that there are too many.
	ErrName = errors.New("edict: the name cannot be fenced")
)

// RefusedError reports the edicts and their relation if a verifier refuses an
// edict. It matches [ErrStale] or [ErrIncomparable].
type RefusedError struct {
	Name     string
	Held     Edict    // the latest edict obeyed
	Offered  Edict    // the refused edict
	Relation Relation // of Offered to Held
}

func (e *RefusedError) Error() string {
	if e.Relation.Order == Before {
		return fmt.Sprintf("edict: refused for %q: a later edict was obeyed before", e.Name)
	}
	return fmt.Sprintf("edict: refused for %q: this edict and the latest obeyed one are %v", e.Name, e.Relation)
}

// Is reports whether target is [ErrStale] or [ErrIncomparable], as applies.
func (e *RefusedError) Is(target error) bool {
	return e.Relation.Order == Before && target == ErrStale || e.Relation.Order == Incomparable && target == ErrIncomparable
}

// Verdict is the decision on an edict.
type Verdict uint8

const (
	// Refused is returned with an error.
	Refused Verdict = iota
	// Obey: the edict is later than all previous ones.
	Obey
	// Repeated: the edict equals the latest one. Its sender did not receive the
	// answer, or the store crashed between recording the edict and obeying it. An
	// idempotent command may simply be executed again. Any other command needs a
	// record, written atomically with its effect, of the latest edict executed.
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

// MarshalText returns the text of [Verdict.String].
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the text of [Verdict.String].
func (v *Verdict) UnmarshalText(text []byte) error { return enum.Unmarshal(v, text, Repeated) }

// Verifier is the fence of a store. For each name it remembers the latest edict
// obeyed and refuses earlier ones. A name denotes a resource that has one leader
// at a time, such as a table, a volume or a device. A Verifier accepts any edict
// as the first one for a name.
//
// A Verifier is kept in memory only; package fence keeps one in a file. It is not
// safe for concurrent use.
type Verifier struct {
	entries []Entry // sorted by name
}

// Entry is the latest edict for one name.
type Entry struct {
	Name  string
	Edict Edict
}

// Accept decides on an edict for the named resource and the digest of its
// payload. If the error is nil, the caller may obey the payload, and must do so
// before it offers another edict for that name. A refusal changes nothing. The
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
		if err := v.Remember(name, e); err != nil {
			return Refused, err
		}
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

// Latest returns the latest edict obeyed for a name.
func (v *Verifier) Latest(name string) (Edict, bool) {
	i, found := v.find(name)
	if !found {
		return Edict{}, false
	}
	return v.entries[i].Edict.Clone(), true
}

// Entries returns the latest edicts, sorted by name.
func (v *Verifier) Entries() []Entry {
	all := slices.Clone(v.entries)
	for i := range all {
		all[i].Edict = all[i].Edict.Clone()
	}
	return all
}

// Remember makes e the latest edict for a name unconditionally. It restores the
// state of a verifier from storage.
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

// Forget deletes the entry of a resource that no longer exists. The verifier then
// accepts any edict as the next one for the name.
func (v *Verifier) Forget(name string) {
	if i, found := v.find(name); found {
		v.entries = slices.Delete(v.entries, i, i+1)
	}
}

func (v *Verifier) find(name string) (int, bool) {
	return slices.BinarySearchFunc(v.entries, name, func(e Entry, name string) int { return strings.Compare(e.Name, name) })
}

// checkName reports whether v can have an entry for a new name.
func (v *Verifier) checkName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrName)
	case len(name) > MaxName:
		return fmt.Errorf("%w: %d bytes, more than %d", ErrName, len(name), MaxName)
	case len(v.entries) >= MaxNames:
		return fmt.Errorf("%w: there are already %d names", ErrName, MaxNames)
	}
	return nil
}
