package membership

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/failaware/failaware/timed"
)

// none is the text of the id that names no view.
const none = "none"

// String returns the sequence, the leader and its boot id, as in
// "7@3/00c0ffee00c0ffee", or "none".
func (v ViewID) String() string {
	if v == (ViewID{}) {
		return none
	}
	return fmt.Sprintf("%d@%d/%v", v.Sequence, v.Leader, v.Boot)
}

// Short returns the text with the first half of the boot id only, for diagrams.
func (v ViewID) Short() string {
	if v == (ViewID{}) {
		return none
	}
	return fmt.Sprintf("%d@%d/%08x", v.Sequence, v.Leader, uint32(v.Boot>>32))
}

// MarshalText returns the text of [ViewID.String].
func (v ViewID) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the text of [ViewID.MarshalText].
func (v *ViewID) UnmarshalText(text []byte) error {
	if string(text) == none {
		*v = ViewID{}
		return nil
	}
	number, by, _ := strings.Cut(string(text), "@")
	sequence, err := strconv.ParseUint(number, 10, 64)
	var leader timed.Incarnation
	if err != nil || leader.UnmarshalText([]byte(by)) != nil {
		return fmt.Errorf("view id %q is not SEQUENCE@LEADER/BOOT", text)
	}
	*v = ViewID{sequence, leader.Node, leader.Boot}
	return nil
}

// origin stands between a member and the view that it came from, in its text.
const origin = " from "

// String returns the incarnation and, if there is one, the view that it came from.
func (m Member) String() string {
	if m.Previous == (ViewID{}) {
		return m.Incarnation.String()
	}
	return m.Incarnation.String() + origin + m.Previous.String()
}

// MarshalText returns the text of [Member.String].
func (m Member) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads the text of [Member.MarshalText].
func (m *Member) UnmarshalText(text []byte) error {
	who, from, moved := strings.Cut(string(text), origin)
	var read Member
	if err := read.Incarnation.UnmarshalText([]byte(who)); err != nil {
		return err
	}
	if moved {
		if err := read.Previous.UnmarshalText([]byte(from)); err != nil {
			return err
		}
	}
	*m = read
	return nil
}

// String names the view and its members, as in "7@3/00c0ffee00c0ffee of {1 2 3}".
func (v *View) String() string {
	if v == nil || v.ID.None() {
		return "no view"
	}
	return fmt.Sprintf("%v of %v", v.ID, v.Set)
}

// String names the members and the view that they come from.
func (b Branch) String() string { return fmt.Sprintf("%v from %v", b.Members, b.From) }
