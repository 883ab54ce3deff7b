package seqlock

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Readers never see numbers of two calls of Store.
func TestNumbersChangeTogether(t *testing.T) {
	var n Numbers
	var v [Size]uint64
	require.True(t, n.Load(&v))
	require.Equal(t, [Size]uint64{}, v)
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for last := uint64(0); last < 10_000; {
				var v [Size]uint64
				if !n.Load(&v) {
					continue
				}
				for i := range v {
					if v[i] != v[0] || v[i] < last {
						t.Errorf("%v after %d", v, last)
						return
					}
				}
				last = v[0]
			}
		})
	}
	for i := range uint64(10_001) {
		var v [Size]uint64
		for j := range v {
			v[j] = i
		}
		n.Store(&v)
	}
	readers.Wait()
}
