package sim

import (
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A campaign ends at the largest seed: a seed of 0 is another word for the first one, and no
// command runs it again.
func TestCampaignsEndAtTheLargestSeed(t *testing.T) {
	var mu sync.Mutex
	var played []uint64
	c := Campaign{First: math.MaxUint64 - 1, Seeds: 2, Jobs: 2, Play: func(seed uint64, _ Options) (Result, error) {
		mu.Lock()
		defer mu.Unlock()
		if played = append(played, seed); len(played) > 10 {
			return Result{}, errors.New("the seeds do not end")
		}
		return Result{}, nil
	}}
	play := func() []uint64 {
		played = nil
		_, v, err := c.Run(t.Context())
		require.NoError(t, err)
		require.Nil(t, v)
		slices.Sort(played)
		return played
	}
	last := []uint64{math.MaxUint64 - 1, math.MaxUint64}
	require.Equal(t, last, play())
	c.Seeds, c.Time = 0, time.Hour
	require.Equal(t, last, play())
	c.Seeds = 3
	_, _, err := c.Run(t.Context())
	require.EqualError(t, err, "sim: there are no 3 seeds from 18446744073709551614 on")
}
