//go:build linux

package bench

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

func TestOutage(t *testing.T) {
	if testing.Short() {
		t.Skip("stops and kills processes under load")
	}
	r, err := Outage(t.Context(), OutageOptions{Setup: setup(t), Nodes: 3, Size: 1024, Atomicity: failaware.StrictAtomicity,
		For: 300 * time.Millisecond})
	require.NoError(t, err)
	require.Len(t, r.Outages, 6)
	require.Empty(t, r.Faults)
	require.Positive(t, r.Compared)
	readable(t, r)
}

// item makes deliveries for a history.
func item(sender timed.NodeID, boot timed.BootID, number, position uint64) failaware.Delivery {
	d := failaware.Delivery{Position: position, Payload: binary.BigEndian.AppendUint64(nil, number)}
	d.ID.Sender, d.ID.Boot, d.ID.Sequence = sender, boot, number
	return d
}

func change(sequence uint64, along ...timed.NodeID) failaware.Delivery {
	return failaware.Delivery{View: &failaware.View{ID: membership.ViewID{Sequence: sequence, Leader: 1, Boot: 1}},
		Change: failaware.ViewChange{Along: timed.SetOf(along...)}}
}

func historyOf(items ...failaware.Delivery) *history {
	var r historyRecorder
	for _, it := range items {
		r.note([]failaware.Delivery{it}, 1)
	}
	return r.take()
}

func TestHistoriesThatContradictEachOther(t *testing.T) {
	a, b := item(1, 7, 1, 1), item(2, 9, 1, 2)
	same := historyOf(change(1, 1, 2), a, b, change(2, 1, 2))
	require.Empty(t, agrees(same, historyOf(change(1, 1, 2), a, b, change(2, 1, 2)), 1, 2))
	require.Empty(t, agrees(same, historyOf(change(1, 1, 2), a), 1, 2), "it has not come as far")
	require.Empty(t, agrees(same, historyOf(change(1, 1, 2), a, change(3, 2)), 1, 2), "they parted")
	require.Contains(t, agrees(same, historyOf(change(1, 1, 2), a, change(2, 1, 2)), 1, 2), "moved on together")
	require.Contains(t, agrees(same, historyOf(change(1, 1, 2), b, a, change(2, 1, 2)), 1, 2), "moved on together")
	long := func(last uint64) *history {
		items := []failaware.Delivery{change(1, 1, 2)}
		for n := uint64(1); n < markEvery; n++ {
			items = append(items, item(1, 7, n, n))
		}
		return historyOf(append(items, item(1, 7, last, markEvery))...)
	}
	require.Empty(t, agrees(long(markEvery), long(markEvery), 1, 2))
	require.Contains(t, agrees(long(markEvery), long(markEvery+1), 1, 2), "different messages")
}

func TestHistoryMissesMessages(t *testing.T) {
	one, two, four := item(2, 9, 1, 1), item(2, 9, 2, 2), item(2, 9, 4, 3)
	l := historyOf(change(1, 1, 2), one, two, four)
	require.Equal(t, []castSkip{{2, 9, 3, 3, 1, membership.ViewID{Sequence: 1, Leader: 1, Boot: 1}}}, l.Skips)
	require.Len(t, historyOf(change(1, 1, 2), one, two, change(2, 1, 2), four).Skips, 1, "it came along")
	require.Empty(t, historyOf(change(1, 1, 2), one, two, change(2, 1), change(3, 1), four).Skips, "it was elsewhere")
	require.Empty(t, historyOf(change(1, 1, 2), one, two, item(2, 10, 4, 3)).Skips, "another incarnation")
	require.EqualValues(t, 1, historyOf(change(1, 1, 2), one, two, one).Twice)
	require.True(t, covers([]castSkip{{Boot: 9, From: 1, To: 3}, {Boot: 9, From: 4, To: 9}}, castSkip{Boot: 9, From: 2, To: 5}))
	require.False(t, covers([]castSkip{{Boot: 9, From: 1, To: 3}, {Boot: 8, From: 4, To: 9}}, castSkip{Boot: 9, From: 2, To: 5}))
}
