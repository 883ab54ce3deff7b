package admit

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// The window against a map of all packets that have come.
func packetsComeOnce(t testing.TB) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		var w Window
		came, newest := map[uint64]bool{}, uint64(0)
		at := uint64(1) << r.IntN(50)
		for range 3000 {
			switch r.IntN(20) {
			case 0:
				at += r.Uint64N(3 * windowBits)
			case 1:
				at += 64 * r.Uint64N(5)
			default:
				at += r.Uint64N(3)
			}
			counter := at - min(at, r.Uint64N(1<<r.IntN(15)))
			old := newest >= windowBits && counter <= newest-windowBits
			require.Equal(t, !old && !came[counter], w.Take(counter), "seed %d, packet %d after %d", seed, counter, newest)
			came[counter] = came[counter] || !old
			newest = max(newest, counter)
		}
	}
}

func incarnationsHaveWindows(t testing.TB) {
	var w Windows
	at := func(boot timed.BootID) timed.Incarnation { return timed.Incarnation{Node: 2, Boot: boot} }
	require.True(t, w.Take(at(1), 9, 0))
	require.False(t, w.Take(at(1), 9, 0))
	require.True(t, w.Take(at(2), 9, 0), "another incarnation")
	require.False(t, w.Take(at(1), 9, 0), "the first one still has its window")
	require.True(t, w.Take(timed.Incarnation{Node: 3, Boot: 1}, 9, 0), "another node")
	for boot := range timed.BootID(windowsPerNode - 1) {
		require.True(t, w.Take(at(1), 10+uint64(boot), 0), "it goes on")
		require.True(t, w.Take(at(10+boot), 1, 0))
	}
	require.False(t, w.Take(at(1), 9, 0))
	require.True(t, w.Take(at(2), 9, 0), "forgotten")
}

// Packets of many incarnations that are gone, which come again, do not put out the window of the
// one that is accepted.
func acceptedKeepsItsWindow(t testing.TB) {
	var w Windows
	at := func(boot timed.BootID) timed.Incarnation { return timed.Incarnation{Node: 2, Boot: boot} }
	require.True(t, w.Take(at(1), 9, 0))
	for boot := range timed.BootID(3 * windowsPerNode) {
		require.True(t, w.Take(at(100+boot), 1, 1))
		require.False(t, w.Take(at(100+boot), 1, 1), "the latest has one, too")
	}
	require.False(t, w.Take(at(1), 9, 1))
	require.True(t, w.Take(at(1), 10, 1))
}

func TestTheAcceptedIncarnationKeepsItsWindow(t *testing.T) { acceptedKeepsItsWindow(t) }

// The windows against a list of all packets of the incarnations that were accepted last.
func incarnationsAgainstAModel(t testing.TB) {
	type sender struct {
		boot timed.BootID
		came map[uint64]bool
	}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		var w Windows
		var list []sender // the latest to send first
		for range 500 {
			boot, counter := timed.BootID(1+r.IntN(windowsPerNode+2)), 1+r.Uint64N(40)
			accepted := timed.BootID(r.IntN(3)) // 0: none
			at := slices.IndexFunc(list, func(s sender) bool { return s.boot == boot })
			s := sender{boot, map[uint64]bool{}}
			if at >= 0 {
				s = list[at]
			}
			require.Equal(t, !s.came[counter], w.Take(timed.Incarnation{Node: 2, Boot: boot}, counter, accepted), "seed %d, packet %d of boot %d", seed, counter, boot)
			if s.came[counter] {
				continue // it moves nothing
			}
			s.came[counter] = true
			if at >= 0 {
				list = slices.Delete(list, at, at+1)
			}
			list = slices.Insert(list, 0, s)
			if len(list) > windowsPerNode {
				drop := windowsPerNode
				if list[drop].boot == accepted {
					drop--
				}
				list = slices.Delete(list, drop, drop+1)
			}
		}
	}
}
