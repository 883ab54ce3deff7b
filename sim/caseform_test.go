package sim

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/sim/fault"
)

// A case that is written and read is the same run.
func TestAReadCaseIsTheRunThatWasWritten(t *testing.T) {
	for name, o := range map[string]Options{
		"by epochs":  {Nodes: 5, Quorum: "majority:1,2,3", Epochs: true, Broadcast: &Broadcast{ByEpochs: true}},
		"calm":       {Nodes: 5, Quorum: "majority:1,2,3", Epochs: true, Calm: true},
		"walls":      {Broadcast: &Broadcast{WrongWalls: true}},
		"shared":     {Shared: true},
		"unequal":    {Unequal: true},
		"restless":   {Restless: true},
		"rest":       {Rest: 3 * time.Second},
		"codec":      {Codec: true},
		"quorum":     {Quorum: RandomQuorum},
		"servers":    {Servers: &fault.Servers{}},
		"resolution": {Resolution: time.Microsecond},
	} {
		o.Duration = 8 * time.Second
		for seed := range uint64(5) {
			r, err := Run(seed+1, o)
			require.NoError(t, err)
			c, err := CaseOf(seed+1, o)
			require.NoError(t, err)
			again, err := c.Run()
			require.NoError(t, err)
			var b bytes.Buffer
			require.NoError(t, c.Write(&b))
			d, err := ReadCase(&b)
			require.NoError(t, err)
			read, err := d.Run()
			require.NoError(t, err)
			if r.Hash != again.Hash || r.Hash != read.Hash {
				t.Errorf("%s, seed %d: hash %016x, as a case %016x, written and read %016x", name, seed+1, r.Hash, again.Hash, read.Hash)
			}
		}
	}
}
