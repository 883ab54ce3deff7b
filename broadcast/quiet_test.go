package broadcast

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

// quietly broadcasts messages of one kind in one view while packets are lost and
// applications do not take what they get. Then nobody broadcasts any more: two members may
// not hear each other for ever, and some applications may stay slow. It returns what is wrong
// with what was delivered in the end, in words. In campaigns there is always a next message,
// which covers for a delivery that hangs.
func quietly(t *rapid.T) string {
	n := rapid.IntRange(1, 5).Draw(t, "members")
	opt := Options{Order(rapid.IntRange(0, int(Unordered)).Draw(t, "order")), Atomicity(rapid.IntRange(0, int(atomicities)-1).Draw(t, "atomicity"))}
	g := newTrio(n, Config{Backlog: 1, SlowAfter: timed.MaxDuration})
	g.keep, g.slow = true, make([]bool, n)
	apart := n > 2 && rapid.Bool().Draw(t, "apart") // the last two, in the end
	senders := n - 1
	if apart {
		senders = n - 3 // whom all others hear
	}
	var rate int
	g.drop = func(_, _ int, _ *Packet) bool { return rapid.IntRange(0, 9).Draw(t, "lost") < rate }
	some := func(what string) int { return rapid.IntRange(0, n-1).Draw(t, what) }
	sent := 0
	for range rapid.IntRange(1, 12).Draw(t, "steps") {
		switch rapid.IntRange(0, 5).Draw(t, "step") {
		case 0, 1:
			if i := some("slow"); g.slow[i] {
				g.catchUp(func(k int) bool { return k == i })
			} else {
				g.slow[i] = true
			}
		case 2:
			rate = rapid.IntRange(0, 5).Draw(t, "rate")
			g.run(time.Millisecond)
		default:
			if _, err := g.cast(rapid.IntRange(0, senders).Draw(t, "sender"), fmt.Append(nil, sent), opt); err == nil {
				sent++
			}
			g.run(time.Millisecond / 2)
		}
	}
	g.drop = func(from, to int, _ *Packet) bool { return apart && min(from, to) == n-2 }
	g.catchUp(func(int) bool { return rapid.Bool().Draw(t, "catches up") })
	g.run(20 * timed.LAN().KeepalivePeriod)
	slow := 0
	for _, s := range g.nodes {
		if s.slow.on {
			slow++
		}
	}
	due := opt.Atomicity == WeakAtomicity || slow == 0 || opt.Atomicity == StrongAtomicity && n-slow >= n/2+1
	for i := range g.nodes {
		switch got := g.payloads[i]; {
		case due && len(got) != sent:
			return fmt.Sprintf("member %d of %d has %d of %d messages (%v %v) though %d acknowledge", i, n, len(got), sent, opt.Order, opt.Atomicity, n-slow)
		case due && opt.Order != Unordered && !slices.Equal(got, g.payloads[0]):
			return fmt.Sprintf("member %d delivers %v, and another one %v", i, got, g.payloads[0])
		}
	}
	return ""
}

// endsQuietly requires that no delivery waits for another message.
func endsQuietly(t testing.TB) {
	for range 3 {
		rapid.Check(t, func(t *rapid.T) { require.Empty(t, quietly(t)) })
	}
}

func TestNoDeliveryWaitsForAnotherMessage(t *testing.T) { endsQuietly(t) }
