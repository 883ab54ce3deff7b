package sim

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var castSeeds = flag.Uint64("cast.seeds", 60, "seeds of each broadcast campaign")
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
