package failaware

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
)

func ledgerID(sequence uint64) MessageID {
	return MessageID{Sender: 1, Boot: 2, Class: broadcast.ClassOrdered, Sequence: sequence}
}

// What comes before a caller knows its message's id is kept for it, and for no
// longer: also where somebody is sending at all times.
func TestTheLedgerKeepsVerdictsForThoseWhoSend(t *testing.T) {
	var l ledger
	told := func(sequence uint64) {
		l.settle(&broadcast.Delivery{ID: ledgerID(sequence)}, verdict{result: sequence})
	}
	call := l.send()
	for i := uint64(1); i < 1000; i++ {
		next := l.send()
		told(i)
		c := l.sent(call, ledgerID(i), nil, nil)
		v := <-c.verdict
		require.Equal(t, i, v.result)
		require.True(t, v.late)
		require.LessOrEqual(t, len(l.early), 1, "nobody is left for whom the others were kept")
		call = next
	}
	l.restart(3)
	v := <-l.sent(call, ledgerID(1000), nil, nil).verdict
	require.Equal(t, IncarnationEnded, v.unknown)
	require.Empty(t, l.early)

	told(1001)
	require.Empty(t, l.early, "nobody sends")
	call = l.send()
	l.restart(2)
	c := l.sent(call, ledgerID(1002), nil, nil)
	require.Empty(t, c.verdict, "it is of the new incarnation")
	l.lose(ledgerID(1003), 1002)
	require.Equal(t, OrderedElsewhere, (<-c.verdict).unknown)
	require.False(t, l.forget(ledgerID(1002)))
}

// What was told before a call began is not about its message.
func TestTheLedgerTellsNoOldNews(t *testing.T) {
	var l ledger
	other := l.send()
	l.restart(3)
	call := l.send()
	id := ledgerID(1)
	id.Boot = 4 // another one has begun meanwhile
	c := l.sent(call, id, nil, nil)
	require.Empty(t, c.verdict)
	l.sent(other, MessageID{}, ErrClosed, nil)
	require.Empty(t, l.early)
	l.end()
	require.Equal(t, NodeStopped, (<-c.verdict).unknown)
}
