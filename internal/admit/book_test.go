package admit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

func TestAdmission(t *testing.T) {
	for name, test := range map[string]func(testing.TB){
		"no more than came":          noMoreThanCame,
		"an answer is a proof":       anAnswerIsAProof,
		"one node's addresses":       oneNodesAddresses,
		"addresses lead":             addressesLead,
		"packets come once":          packetsComeOnce,
		"incarnations have windows":  incarnationsHaveWindows,
		"windows against a model":    incarnationsAgainstAModel,
		"attempts have limits":       attemptsHaveLimits,
		"a clock that runs backward": attemptsOfABackwardClock,
	} {
		t.Run(name, func(t *testing.T) { test(t) })
	}
}

func noMoreThanCame(t testing.TB) {
	var b Book[int]
	require.False(t, b.Spend(2, 1, 1), "nothing came from there")
	require.False(t, b.Note(1, &Arrival[int]{From: 2, Addr: 1, Bytes: 116}))
	require.False(t, b.Spend(2, 1, 117))
	require.True(t, b.Spend(2, 1, 100))
	require.False(t, b.Spend(2, 1, 17))
	b.Note(2, &Arrival[int]{From: 2, Addr: 1, Bytes: 10})
	require.True(t, b.Spend(2, 1, 26))
	require.False(t, b.Spend(2, 1, 1))
	for range 1000 {
		b.Note(3, &Arrival[int]{From: 2, Addr: 1, Bytes: 116})
	}
	require.False(t, b.Spend(2, 1, maxCredit+1), "old packets do not add up")
	require.False(t, b.Proved(2, 1))
}

func anAnswerIsAProof(t testing.TB) {
	var b Book[int]
	b.Note(1, &Arrival[int]{From: 2, Addr: 1, Bytes: 100})
	b.Note(1, &Arrival[int]{From: 2, Addr: 2, Bytes: 100})
	b.NoteChallenge(2, 1, 1000)
	b.NoteChallenge(2, 2, 2000)
	b.NoteChallenge(2, 9, 3000)
	for _, wrong := range []Arrival[int]{{}, {Latest: 999}, {Latest: 1001, Sent: 999}, {Latest: 2000}, {Sent: 2000}, {Latest: 3000}} {
		wrong.From, wrong.Addr = 2, (1)
		require.False(t, b.Note(2, &wrong), "%+v", wrong)
	}
	require.True(t, b.Note(3, &Arrival[int]{From: 2, Addr: 1, Latest: 1000}))
	require.True(t, b.Proved(2, 1) && !b.Proved(2, 2))
	require.True(t, b.Spend(2, 1, 1<<20))
	require.False(t, b.Note(3, &Arrival[int]{From: 3, Addr: 1, Latest: 1000}), "another node has shown nothing there")
	for stamp := timed.Instant(2001); stamp <= 2000+stampsKept; stamp++ {
		b.NoteChallenge(2, 2, stamp)
	}
	require.False(t, b.Note(4, &Arrival[int]{From: 2, Addr: 2, Sent: 2000}), "too many have left since")
	require.True(t, b.Note(4, &Arrival[int]{From: 2, Addr: 2, Sent: 2001}))
	b.Forget(4)
	require.True(t, b.Proved(2, 2))
	require.False(t, b.Proved(2, 1), "it is silent")
	b.Note(5, &Arrival[int]{From: 2, Addr: 2})
	b.Forget(5)
	require.True(t, b.Proved(2, 2), "it is still heard")
}

// Packets of one node from ever other addresses put out no other node's, and no
// address that has shown that it receives.
func oneNodesAddresses(t testing.TB) {
	var b Book[int]
	b.Note(1, &Arrival[int]{From: 3, Addr: 1, Bytes: 7})
	b.Note(1, &Arrival[int]{From: 2, Addr: 2, Bytes: 7})
	b.NoteChallenge(2, 2, 5)
	require.True(t, b.Note(1, &Arrival[int]{From: 2, Addr: 2, Latest: 5}))
	for i := range 1000 {
		b.Note(timed.Instant(2+i), &Arrival[int]{From: 2, Addr: 100 + i, Bytes: 1})
	}
	require.Len(t, b.entries, 2+perNode)
	require.True(t, b.Proved(2, 2))
	require.True(t, b.Spend(3, 1, 7))
	require.True(t, b.Spend(2, 1099, 1), "the latest one is there")
	require.False(t, b.Spend(2, 1099, 1), "with the credit of its own packet alone")
	require.True(t, b.Spend(2, 1100-perNode, 1), "with those before it")
	require.False(t, b.Spend(2, 1099-perNode, 1), "which have put out those that were heard longest ago")
	for id := range timed.NodeID(250) {
		for i := range perNode {
			b.Note(5000, &Arrival[int]{From: 4 + id, Addr: 2000 + int(id)*perNode + i, Bytes: 1})
		}
	}
	require.Len(t, b.entries, maxEntries)
	require.True(t, b.Proved(2, 2))
}
