package wire

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Labels describe a node to people and programs. Nothing rests on them.
type Labels struct {
	Name string // empty: it has none
	Tags []Tag  // in the order of their keys, which differ
}

// Tag is a pair of words.
type Tag struct{ Key, Value string }

// Limits of labels. All of them together fit into one packet with the most members.
const (
	MaxTags     = 16
	MaxTagKey   = 32  // bytes
	MaxTagValue = 128 // bytes
	MaxName     = 128 // bytes
	MaxLabels   = 480 // bytes of the name, the keys and the values together
)

// CheckName returns an error if a node cannot have a name.
func CheckName(name string) error { return CheckText(name, MaxName) }

// CheckText returns an error if a name has more than most bytes, or has characters or
// spaces that would keep people from reading it, or from telling it from another one.
func CheckText(name string, most int) error {
	if len(name) > most {
		return fmt.Errorf("%d bytes are more than %d", len(name), most)
	}
	if !printable(name) || strings.TrimSpace(name) != name {
		return fmt.Errorf("%q has characters that cannot be shown, or spaces at its ends", name)
	}
	return nil
}

// CheckTag returns an error if a node cannot have a tag.
func CheckTag(key, value string) error {
	ordinary := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./", r)
	}
	switch {
	case key == "":
		return errors.New("a key is needed, as in zone=eu-1")
	case len(key) > MaxTagKey:
		return fmt.Errorf("the key %q has %d bytes, and %d are allowed", key, len(key), MaxTagKey)
	case strings.ContainsFunc(key, func(r rune) bool { return !ordinary(r) }):
		return fmt.Errorf("the key %q has other characters than letters, digits and -_./", key)
	case len(value) > MaxTagValue:
		return fmt.Errorf("the value of %q has %d bytes, and %d are allowed", key, len(value), MaxTagValue)
	case !printable(value):
		return fmt.Errorf("the value of %q has characters that cannot be shown", key)
	}
	return nil
}

// printable reports whether a text can be shown: another node's labels reach terminals
// and pages.
func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Check returns an error if a node cannot have the labels.
func (l *Labels) Check() error {
	if err := CheckName(l.Name); err != nil {
		return err
	}
	if len(l.Tags) > MaxTags {
		return fmt.Errorf("%d tags are more than %d", len(l.Tags), MaxTags)
	}
	size, last := len(l.Name), ""
	for _, t := range l.Tags {
		if err := CheckTag(t.Key, t.Value); err != nil {
			return err
		}
		if t.Key <= last {
			return fmt.Errorf("the keys %q and %q are the same, or in the wrong order", last, t.Key)
		}
		last = t.Key
		size += len(t.Key) + len(t.Value)
	}
	if size > MaxLabels {
		return fmt.Errorf("the name, the keys and the values have %d bytes, and %d are allowed", size, MaxLabels)
	}
	return nil
}

// A labels frame is an array of byte strings: the name, and each key and value.
func (w *writer) labels(l *Labels) {
	if l == nil || l.Check() != nil {
		w.open(typeLabels, 0)
		w.fail(ErrRange)
		return
	}
	w.open(typeLabels, 1+2*len(l.Tags))
	w.bytes([]byte(l.Name))
	for _, t := range l.Tags {
		w.bytes([]byte(t.Key))
		w.bytes([]byte(t.Value))
	}
	w.close()
}

func (r *reader) labels() *Labels {
	n := r.array(1, 1+2*MaxTags)
	if r.err == nil && n%2 == 0 {
		r.fail(ErrLength)
	}
	l := &Labels{Name: string(r.bytes())}
	for range n / 2 {
		t := Tag{Key: string(r.bytes()), Value: string(r.bytes())}
		if r.err != nil {
			return nil
		}
		l.Tags = append(l.Tags, t)
	}
	if r.err == nil && l.Check() != nil {
		r.fail(ErrRange)
	}
	return l
}
