package broadcast

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/failaware/failaware/timed"
)

// none is the text of the id that names no message.
const none = "none"

// classLetters begin the sequence in the text of an id.
const classLetters = "uo"

// String returns the sender, its boot id, and the sequence behind a letter for the
// class, as in "3/00c0ffee00c0ffee/o12", or "none".
func (id ID) String() string {
	switch {
	case id == (ID{}):
		return none
	case id.Class < classes:
		return fmt.Sprintf("%d/%v/%c%d", id.Sender, id.Boot, classLetters[id.Class], id.Sequence)
	}
	return fmt.Sprintf("%d/%v/class %d, %d", id.Sender, id.Boot, id.Class, id.Sequence)
}

// MarshalText returns the text of [ID.String].
func (id ID) MarshalText() ([]byte, error) {
	if id.Class >= classes {
		return nil, fmt.Errorf("message id of unknown class %d", id.Class)
	}
	return []byte(id.String()), nil
}

// UnmarshalText reads the text of [ID.MarshalText].
func (id *ID) UnmarshalText(text []byte) error {
	if string(text) == none {
		*id = ID{}
		return nil
	}
	i := max(strings.LastIndexByte(string(text), '/'), 0)
	last := strings.TrimPrefix(string(text[i:]), "/")
	class := Class(strings.IndexByte(classLetters, (last + " ")[0]))
	sequence, err := strconv.ParseUint(last[min(1, len(last)):], 10, 64)
	var sender timed.Incarnation
	if class >= classes || err != nil || sender.UnmarshalText(text[:i]) != nil {
		return fmt.Errorf("message id %q is not SENDER/BOOT/uSEQUENCE or SENDER/BOOT/oSEQUENCE", text)
	}
	*id = ID{sender.Node, class, sender.Boot, sequence}
	return nil
}
