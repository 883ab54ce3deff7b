package statedir

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// counters are the counters of a state file. They never go back: of two files that have them,
// the one with smaller counters is older.
type counters struct{ Incarnations, Views uint64 }

const counterBytes = 16

func (r *record) counters() counters { return counters{r.Incarnations, r.Views} }

// reach reports whether each counter is at least as large as that of another file.
func (c counters) reach(o counters) bool {
	return c.Incarnations >= o.Incarnations && c.Views >= o.Views
}

func (c counters) String() string {
	return fmt.Sprintf("%d incarnations and views up to %d", c.Incarnations, c.Views)
}

func (c counters) encode() []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, c.Incarnations), c.Views)
}

// parseCounters reads what encode returned, and returns what follows it.
func parseCounters(b []byte) (c counters, rest []byte, err error) {
	if len(b) < counterBytes {
		return c, nil, errors.New("it has no counters")
	}
	return counters{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}, b[counterBytes:], nil
}
