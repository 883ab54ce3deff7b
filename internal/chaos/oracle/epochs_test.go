package oracle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWrongEpochsAreSeen(t *testing.T) {
	in := func(from int64, epoch uint64, system string) Record {
		return at(from, Record{Kind: Epoch, Epoch: epoch, Text: system})
	}
	judge := func(first, second []Record) []string { return rules(forged(first, second)) }
	require.Empty(t, judge([]Record{in(1, 1, "a"), in(2, 3, "c")}, []Record{in(1, 1, "a"), in(5, 2, "b")}))
	require.Equal(t, []string{"one quorum system rules an epoch"}, judge([]Record{in(1, 1, "a"), in(2, 2, "b")}, []Record{in(9, 2, "c")}))
	require.Equal(t, []string{"a node never returns to an earlier epoch"}, judge([]Record{in(1, 2, "b"), in(2, 1, "a")}, nil))
	wiped := at(2, Record{Kind: Wiped, Number: 1})
	wiped.Group = ""
	back := []Record{in(1, 2, "b"), wiped, in(3, 1, "a")}
	require.Empty(t, judge(back, nil), "its disk was lost")
	require.Equal(t, []string{"a node never returns to an earlier epoch"}, judge(append(back, in(4, 3, "c"), in(5, 2, "b")), nil))
}
