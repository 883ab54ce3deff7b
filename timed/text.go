package timed

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// none is the text of ids that name nothing.
const none = "none"

// String returns the id in decimal, or "none".
func (n NodeID) String() string {
	if n == NoNode {
		return none
	}
	return strconv.Itoa(int(n))
}

// MarshalText returns the text of [NodeID.String].
func (n NodeID) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads the text of [NodeID.MarshalText].
func (n *NodeID) UnmarshalText(text []byte) error {
	if string(text) == none {
		*n = NoNode
		return nil
	}
	id, err := ParseNodeID(string(text))
	if err != nil {
		return err
	}
	*n = id
	return nil
}

// ParseNodeID reads an id written in decimal.
func ParseNodeID(s string) (NodeID, error) {
	v, err := strconv.Atoi(s)
	if err != nil || v < 1 || v > MaxNodes {
		return NoNode, fmt.Errorf("node id %q is not a number from 1 to %d", s, MaxNodes)
	}
	return NodeID(v), nil
}

// String returns the id as 16 hexadecimal digits.
func (b BootID) String() string { return fmt.Sprintf("%016x", uint64(b)) }

// MarshalText returns the text of [BootID.String].
func (b BootID) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads the text of [BootID.MarshalText].
func (b *BootID) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil || len(text) != 16 {
		return fmt.Errorf("boot id %q is not 16 hexadecimal digits", text)
	}
	*b = BootID(v)
	return nil
}

// String returns the node and its boot id, as in "3/00c0ffee00c0ffee", or "none".
func (i Incarnation) String() string {
	if i == (Incarnation{}) {
		return none
	}
	return fmt.Sprintf("%d/%v", i.Node, i.Boot)
}

// MarshalText returns the text of [Incarnation.String].
func (i Incarnation) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads the text of [Incarnation.MarshalText].
func (i *Incarnation) UnmarshalText(text []byte) error {
	if string(text) == none {
		*i = Incarnation{}
		return nil
	}
	node, boot, ok := strings.Cut(string(text), "/")
	id, err := strconv.ParseUint(node, 10, 8)
	var b BootID
	if !ok || err != nil || b.UnmarshalText([]byte(boot)) != nil {
		return fmt.Errorf("incarnation %q is not NODE/BOOT", text)
	}
	*i = Incarnation{NodeID(id), b}
	return nil
}

// String lists the ids, as in "{1 2 7}".
func (s Set) String() string {
	var b strings.Builder
	b.WriteByte('{')
	for id := s.Next(NoNode); id != NoNode; id = s.Next(id) {
		if b.Len() > 1 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.Itoa(int(id)))
	}
	b.WriteByte('}')
	return b.String()
}

// MarshalText returns the text of [Set.String].
func (s Set) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the text of [Set.MarshalText].
func (s *Set) UnmarshalText(text []byte) error {
	inner, opened := strings.CutPrefix(string(text), "{")
	inner, closed := strings.CutSuffix(inner, "}")
	if !opened || !closed {
		return fmt.Errorf("set %q is not {ID ID …}", text)
	}
	var read Set
	for f := range strings.FieldsSeq(inner) {
		id, err := ParseNodeID(f)
		if err != nil {
			return fmt.Errorf("set %q: %w", text, err)
		}
		read.Add(id)
	}
	*s = read
	return nil
}

// String returns the time since the clock's origin, as in "1h2m3.000000004s", or
// "never".
func (t Instant) String() string {
	if t == Never {
		return "never"
	}
	return time.Duration(t).String()
}
