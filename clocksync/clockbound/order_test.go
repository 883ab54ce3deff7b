package clockbound

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// during writes a record just when a reader looks at the clocks.
type during struct {
	seg  *segment
	next record
}

func (d *during) realtime() int64 { d.seg.write(&d.next); return 1e18 }
func (d *during) coarse() int64   { return 1000 }

// A reader reads the record before the clocks: a later record may be of a clock that was stepped since.
func recordBeforeClocks(t testing.TB) {
	seg := new(segment)
	seg.write(&record{asOf: 500, voidAfter: 1e9, bound: 100, status: Synchronized})
	r := Reader{seg: seg, clocks: &during{seg, record{asOf: 2000, voidAfter: 1e9, bound: 1, status: Synchronized}}}
	i, err := r.Now()
	require.NoError(t, err)
	require.EqualValues(t, 100, i.Latest.UnixNano()-1e18)
}

func TestTheRecordIsReadBeforeTheClocks(t *testing.T) { recordBeforeClocks(t) }
