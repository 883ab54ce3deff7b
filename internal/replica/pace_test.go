package replica

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// paced makes a snapshot for some time, and then sends pieces of a millisecond each, for a
// minute together, while operations come at some rate, and at a share of it while the
// snapshot is made or a piece is under way, and for some time after. It returns the share of
// operations that did not come, and the share of the time in which pieces were under way.
func paced(rate, during float64, making, after time.Duration) (lost, used float64) {
	const minute, window, piece = 60_000, 100, 10
	r := rand.New(rand.NewPCG(1, 2))
	var p pace
	var seen float64
	var sent, end timed.Instant
	made := timed.Instant(time.Millisecond).Add(making)
	if making > 0 {
		p.beginSnapshot(timed.Instant(time.Millisecond), 0)
	}
	for ms := range timed.Instant(minute) {
		now := (ms + 1) * timed.Instant(time.Millisecond)
		come := rate / 1000
		if now <= end.Add(after) || now < made {
			come *= during
		}
		if come < 1 && r.Float64() < come {
			come = 1 // few come at random
		} else if come < 1 {
			come = 0
		}
		seen += come
		for now >= made && end.Sub(now) < 10*time.Millisecond && p.turn(now, uint64(seen), window, now >= end) {
			p.budget -= piece
			sent, end = sent+1, timed.Later(now, end).Add(time.Millisecond)
		}
	}
	return 1 - seen/(rate*minute/1000), float64(sent) / minute
}

func leavesRoom(t testing.TB) {
	for _, making := range []time.Duration{0, 2 * time.Second} {
		for _, during := range []float64{0, 0.3, 0.6, 0.9, 1} {
			lost, used := paced(20_000, during, making, 0)
			require.LessOrEqual(t, lost, 0.09, "%v %v", during, making)
			require.GreaterOrEqual(t, used, 0.04, "%v %v", during, making)
		}
	}
	for _, during := range []float64{0, 0.3, 0.6} {
		_, used := paced(20_000, during, 0, 0)
		require.InDelta(t, mostLoss/(1-during), used, 0.02, "a transfer takes what it may: %v", during)
		lost, _ := paced(20_000, during, 0, 3*time.Millisecond)
		require.LessOrEqual(t, lost, 0.1, "receivers work after a burst: %v", during)
	}
	for _, rate := range []float64{50, 300, 20_000} {
		_, used := paced(rate, 1, 0, 0)
		require.Greater(t, used, 0.6, "operations that lose nothing need no rests: %v/s", rate)
	}
	_, used := paced(1e-9, 0, time.Second, 0)
	require.Greater(t, used, 0.9, "no operations come")
}

func TestATransferLeavesRoomForOperations(t *testing.T) { leavesRoom(t) }

// restsEnd has few operations come while a snapshot is made for long, and many behind it. What
// they seem to have lost then must not hold up the transfer.
func restsEnd(t testing.TB) {
	var p pace
	p.beginSnapshot(timed.Instant(time.Second), 0)
	made := timed.Instant(100 * time.Second)
	last, seen := made, uint64(1000)
	for now := made; now < made.Add(time.Minute); now = now.Add(time.Millisecond) {
		if seen += 20; p.turn(now, seen, 100, true) {
			p.budget = 0
			last = now
		}
		require.LessOrEqual(t, now.Sub(last), 2*time.Second+2*mostBurst)
	}
}

func TestRestsEnd(t *testing.T) { restsEnd(t) }
