package claim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// rivals lets two processes hear each other's packets until one gives way, and returns when
// each did. company says which of them hears others too, and pause how often packets come.
func rivals(company [2]bool, pause time.Duration) (gaveWay [2]time.Duration) {
	t := timed.LAN()
	duels := [2]Duel{NewDuel(start), NewDuel(start)}
	for d := time.Duration(0); d <= 20*t.Expires && gaveWay == [2]time.Duration{}; d += pause {
		for i := range duels {
			self, rival := timed.BootID(i+1), timed.BootID(2-i)
			if duels[i].NoteRival(&t, after(d), self, rival, !company[i]) {
				gaveWay[i] = d
			}
		}
	}
	return gaveWay
}

// Of two processes with one id, the one with the larger boot id gives way if both are
// alone, and otherwise the one that is alone.
func oneGivesWay(t testing.TB) {
	e := timed.LAN().Expires
	require.Equal(t, [2]time.Duration{0, 2 * e}, rivals([2]bool{}, e/4))
	require.Equal(t, [2]time.Duration{0, 2 * e}, rivals([2]bool{true, false}, e/4))
	require.Equal(t, [2]time.Duration{6 * e, 0}, rivals([2]bool{false, true}, e/4))
	require.Equal(t, [2]time.Duration{}, rivals([2]bool{true, true}, e/4), "their peers decide")
	require.Equal(t, [2]time.Duration{}, rivals([2]bool{}, 4*e), "one that is heard now and then may be a late packet each time")
	lan := timed.LAN()
	d := NewDuel(start)
	require.False(t, d.Open(&lan, after(0)))
	d.NoteRival(&lan, after(0), 2, 1, true)
	require.True(t, d.Open(&lan, after(3*e)))
	require.False(t, d.Open(&lan, after(3*e+1)))
	d.NoteRival(&lan, after(e), 2, 1, false)
	require.False(t, d.NoteRival(&lan, after(4*e), 2, 1, true), "it was in company meanwhile")
}

// A process that has run for a while waits for a rival that comes to give way, whatever the boot
// ids are.
func newcomersGiveWay(t testing.TB) {
	lan := timed.LAN()
	e := lan.Expires
	for self, rival := range map[timed.BootID]timed.BootID{1: 2, 2: 1} {
		old, young := NewDuel(start.Add(-300*e)), NewDuel(start.Add(-293*e))
		if self == 1 {
			old.Restart(&lan, start, start) // it has slept
		} else {
			old = NewDuel(start)
			old.NoteCompany()
		}
		k := time.Duration(0)
		for ; !young.NoteRival(&lan, after(k*e/2), self, rival, true); k++ {
			require.False(t, old.NoteRival(&lan, after(k*e/2), rival, self, true))
		}
		require.LessOrEqual(t, k*e/2, 6*e)
		for k = 0; !old.NoteRival(&lan, after(time.Hour+k*e/2), rival, self, true); k++ {
			require.Less(t, k, time.Duration(1000), "a rival that stays may have company")
		}
		require.GreaterOrEqual(t, k*e/2, 20*e)
	}
}

func TestNewcomersGiveWay(t *testing.T) { newcomersGiveWay(t) }

func TestOneOfTwoRivalsGivesWay(t *testing.T) { oneGivesWay(t) }

// Company ends a duel: a rival that is heard later, by a process that is alone again, begins another.
func companyEndsIt(t testing.TB) {
	lan := timed.LAN()
	d := NewDuel(start)
	d.NoteRival(&lan, after(0), 2, 1, true)
	require.True(t, d.Open(&lan, after(1)))
	d.NoteCompany()
	require.False(t, d.Open(&lan, after(1)))
}

func TestCompanyEndsADuel(t *testing.T) { companyEndsIt(t) }

// The readings of two clocks do not compare: a process does not become old by another clock.
func youngOnAnotherClock(t testing.TB) {
	lan := timed.LAN()
	d := NewDuel(start)
	later := 2 * novice * lan.Expires
	d.Restart(&lan, after(time.Millisecond), after(later))
	require.False(t, d.NoteRival(&lan, after(later), 2, 1, true))
	require.False(t, d.NoteRival(&lan, after(later+lan.Expires), 2, 1, true))
	require.True(t, d.NoteRival(&lan, after(later+yield*lan.Expires), 2, 1, true), "it is a newcomer, and gives way")
}

func TestAProcessIsNoOlderOnAnotherClock(t *testing.T) { youngOnAnotherClock(t) }
