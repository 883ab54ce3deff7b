package demo

import (
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
