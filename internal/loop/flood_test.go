package loop

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/stack"
)

// However many packets of other groups come, and whatever they say, a node is asked and answered
// at most twice a keepalive period, and is an event once a second, and not more often.
func floodsAreRare(t testing.TB) {
	for name, list := range map[string][]peers.Peer{"stranger": nil, "listed": {{ID: 7, Addr: at(70).String()}}} {
		for seed := range uint64(4) {
			r := rand.New(rand.NewPCG(seed, 3))
			x := newTeller(t, nil, list...)
			period, answers := x.l.driver.cfg.Timing.KeepalivePeriod, 0
			const lasts, every = 10 * time.Second, time.Millisecond
			for range lasts / every {
				x.settings.MaxPayload = r.Uint32N(3)
				if _, went := x.says(97+r.Uint64N(3), seed == 0 || r.IntN(1<<(2*seed)) == 0, at(70)); went > 0 {
					answers++
				}
				x.advance(every)
			}
			require.LessOrEqual(t, x.events().count(stack.EventMismatch), 1+int(lasts/changePeriod), "%s, seed %d", name, seed)
			require.LessOrEqual(t, answers, 2+2*int(lasts/period), "%s, seed %d", name, seed)
			require.Positive(t, x.events().count(stack.EventMismatch))
			require.Positive(t, answers)
		}
	}
}

func TestFloodsOfOtherGroupsCauseLittle(t *testing.T) { floodsAreRare(t) }
