package demo

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/timed"
)

func TestJournalMergesEventsOfSeveralNodes(t *testing.T) {
	const ms = time.Millisecond
	j := newJournal()
	silent := event.PeerSilent{Peer: 3, SilentFor: 20 * ms, LastBound: ms}
	j.event(1*ms, 1, silent)
	j.event(2*ms, 2, silent)
	j.event(3*ms, 1, event.PeerSilent{Peer: 4, SilentFor: 21 * ms, LastBound: ms})
	j.event(4*ms, 2, event.PeerSilent{Peer: 4, SilentFor: 22 * ms, LastBound: ms})
	j.event(5*ms, 2, event.Elected{})
	j.note(6*ms, "something was done")
	j.event(7*ms, 5, silent)             // afterwards
	j.event(8*ms+mergeWithin, 2, silent) // too late to be merged
	j.event(9*ms+mergeWithin, 2, event.Elected{})
	list, next := j.since(0, math.MaxInt64)
	require.Equal(t, 7, next)
	require.Len(t, list, 7)
	require.Equal(t, timed.SetOf(1, 2), list[0].Nodes)
	require.Equal(t, timed.SetOf(1, 2), list[1].Nodes)
	require.Equal(t, "leads", list[2].Text)
	require.Equal(t, Entry{At: 6 * ms, Kind: kindFault, Text: "something was done"}, list[3])

	short := condense(list)
	require.Len(t, short, 6)
	require.Equal(t, "nodes 3 4 are silent: the last packet in time came 20ms ago (last delay bound 1ms)", short[0].Text)

	for text, e := range map[string]event.PeerSilent{
		"nodes 3 4 do not hear this node any more, which heard them 7ms ago (last delay bound 1ms)": {
			SilentFor: 7 * ms, LastBound: ms, Deaf: true},
		"nodes 3 4 are not alive any more: they do not hear this node in time, or were restarted": {},
	} {
		j := newJournal()
		e.Peer = 3
		j.event(1*ms, 1, e)
		e.Peer = 4
		j.event(2*ms, 1, e)
		list, _ := j.since(0, math.MaxInt64)
		require.Equal(t, text, condense(list)[0].Text)
	}

	list, next = j.since(2, 6*ms)
	require.Len(t, list, 1)
	require.Equal(t, 3, next)
	list, next = j.since(3, 6*ms)
	require.Empty(t, list)
	require.Equal(t, 3, next)
}

func TestJournalForgetsTheOldest(t *testing.T) {
	j := newJournal()
	for i := range 3 * journalSize {
		j.note(time.Duration(i), "again")
	}
	require.Equal(t, 3*journalSize, j.next())
	list, next := j.since(0, math.MaxInt64)
	require.LessOrEqual(t, len(list), journalSize)
	require.Equal(t, 3*journalSize, next)
	require.Equal(t, time.Duration(3*journalSize-1), list[len(list)-1].At)
}

func TestJournalLeavesBootIdsOut(t *testing.T) {
	id := failaware.ViewID{Sequence: 12, Leader: 3, Boot: 0xabcdef0123456789}
	require.Equal(t, "view 12@3 is up to date", textOf(event.ViewFresh{View: id}))
	view := &failaware.View{ID: id, Set: timed.SetOf(1, 2)}
	require.Equal(t, "view 12@3: members {1 2}",
		textOf(event.ViewInstalled{View: view, Previous: id, Transitional: timed.SetOf(1)}))
}
