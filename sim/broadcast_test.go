package sim

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

var castSeeds = flag.Uint64("cast.seeds", 25, "seeds of each broadcast campaign")
var castFirst = flag.Uint64("cast.first", 1, "first seed")

func castCampaign(t *testing.T, opt castOptions) {
	t.Helper()
	for seed := *castFirst; seed < *castFirst+*castSeeds; seed++ {
		require.NoError(t, castRun(seed, opt), "seed %d", seed)
	}
}

func TestBroadcastKeepsItsPromises(t *testing.T) {
	castCampaign(t, castOptions{rage: 4 * time.Second})
}

func TestBroadcastTimed(t *testing.T) {
	castCampaign(t, castOptions{rage: 4 * time.Second, timed: true})
}

func TestBroadcastInFragments(t *testing.T) {
	castCampaign(t, castOptions{rage: 3 * time.Second, large: true})
}

func TestBroadcastRequiresQuorum(t *testing.T) {
	castCampaign(t, castOptions{rage: 4 * time.Second, quorum: true})
}

func TestBroadcastWithSlowConsumers(t *testing.T) {
	castCampaign(t, castOptions{rage: 4 * time.Second, slow: true})
}

func TestBroadcastInPeace(t *testing.T) {
	castCampaign(t, castOptions{rage: 2 * time.Second, gentle: true, timed: true})
}

// Two members of a view that never hear each other still get what the other
// sends, and learn from the third what is stable, for as long as the view lasts.
func TestBroadcastAroundACutLink(t *testing.T) {
	for seed := uint64(1); seed <= 5; seed++ {
		require.NoError(t, castAroundCut(seed, castOptions{nodes: 3, lossless: true, rate: 200}))
	}
}

func castAroundCut(seed uint64, opt castOptions) error {
	w := newCastWorld(seed, opt)
	w.temper.orders, w.temper.atomicities = []uint8{0, 1, 2}, []uint8{0, 1, 2}
	w.cut[1][2], w.cut[2][1] = true, true
	w.runUntil(w.now + int64(3*time.Second))
	w.done = 1
	w.runUntil(w.now + int64(time.Second))
	var running []timed.Incarnation
	for _, n := range w.nodes {
		running = append(running, n.inc)
		if v := n.st.Cast().View(); v == nil || v.Set != w.group() || w.casts < 100 {
			w.check.fail("liveness", n.id, "is in view %v with %d messages sent", v, w.casts)
		}
	}
	w.check.settled(running)
	return w.failed
}
