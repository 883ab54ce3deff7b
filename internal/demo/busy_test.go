package demo

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
)

// Leases that end while timers are late, and nobody has done anything, are the machine's.
func TestABusyMachineIsBlamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 5 * time.Millisecond
		b := &busyness{window: 100 * time.Millisecond}
		expire := func() { b.note(event.ViewStale{Reason: membership.LeaseExpired}) }
		b.act()
		time.Sleep(time.Second)
		expire()
		require.Empty(t, b.blame(limit), "nothing was late")
		b.served(0)
		require.Empty(t, b.blame(limit))
		b.served(3)
		b.served(4)
		require.Contains(t, b.blame(limit), "it served timers (7) more than 5ms late, and leases ended")
		expire()
		b.served(1)
		require.Empty(t, b.blame(limit), "it was said just now")

		time.Sleep(time.Minute)
		b.served(2)
		require.Empty(t, b.blame(limit), "no lease has ended")
		b.note(event.LeadLost{Reason: leader.Outranked})
		require.Empty(t, b.blame(limit), "it has a cause of its own")
		time.Sleep(time.Second)
		b.note(event.LeadLost{Reason: leader.LeaseExpired})
		require.Empty(t, b.blame(limit), "the timers were late long before")
		b.act()
		b.served(1)
		time.Sleep(time.Millisecond)
		expire()
		require.Empty(t, b.blame(limit), "the user did something")
		time.Sleep(time.Second)
		b.served(1)
		time.Sleep(time.Millisecond)
		expire()
		require.Contains(t, b.blame(limit), "it served timers (1)")
	})
}

// The packets of a link are no fault: a machine that is late is blamed while they flow, and not
// while a fault of the user lasts.
func TestOnlyFaultsOfTheUserExcuseTheMachine(t *testing.T) {
	relay, err := NewRelay(2)
	require.NoError(t, err)
	defer func() { require.NoError(t, relay.Close()) }()
	w := &World{began: time.Now(), relay: relay, members: []*member{{id: 1}, {id: 2}}, journal: newJournal(), history: newHistory(),
		busy: &busyness{window: time.Hour}}
	end := relay.ends[1][2]
	end.carried.Add(5)
	end.dropped.Add(2)
	end.waiting.Add(1)
	require.False(t, w.disturbed(), "packets flow")
	for name, fault := range map[string]struct{ begin, end func() }{
		"cut":    {func() { relay.Cut(2, 1, true) }, func() { relay.Cut(2, 1, false) }},
		"slow":   {func() { relay.Slow(1, 2, time.Millisecond) }, func() { relay.Slow(1, 2, 0) }},
		"paused": {func() { w.members[1].paused = true }, func() { w.members[1].paused = false }},
	} {
		fault.begin()
		require.True(t, w.disturbed(), name)
		fault.end()
		require.False(t, w.disturbed(), name)
	}

	w.busy.note(event.ViewStale{Reason: membership.LeaseExpired})
	w.busy.served(3)
	w.blameMachine()
	entries, _ := w.journal.since(0, math.MaxInt64)
	require.Len(t, entries, 1)
	require.Contains(t, entries[0].Text, "the machine is busy")
}
