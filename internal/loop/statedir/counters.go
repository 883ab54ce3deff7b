package statedir

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// counters are what a state file counts. They never go back, so of two files that have them the
// one with less is the older one.
type counters struct{ Incarnations, Views uint64 }

const counterBytes = 16

func (r *record) counters() counters { return counters{r.Incarnations, r.Views} }

// reach reports whether no counter is less than another file has it.
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
