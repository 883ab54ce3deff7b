package jsonlines

import (
	"encoding/json"
	"io"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnswersReachThoseWhoExpectThem(t *testing.T) {
	var a Answers[string]
	a.Take(1, "to nobody")
	first, one := a.Expect()
	second, two := a.Expect()
	require.Equal(t, []int{1, 2}, []int{first, second})
	a.Take(second, "two")
	a.Take(second, "again")
	a.Take(first, "one")
	require.Equal(t, "one", <-one)
	require.Equal(t, "two", <-two)
	require.Empty(t, two)
}

func TestLinesStayWhole(t *testing.T) {
	in, out := io.Pipe()
	w := NewWriter(out)
	const writers, each = 4, 50
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for k := range each {
				if err := w.Put([]int{i, k}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	dec, next := json.NewDecoder(in), [writers]int{}
	for range writers * each {
		var x [2]int
		require.NoError(t, dec.Decode(&x))
		require.Equal(t, next[x[0]], x[1])
		next[x[0]]++
	}
	all.Wait()
	require.NoError(t, in.Close())
	require.ErrorIs(t, w.Put(1), io.ErrClosedPipe)
}
