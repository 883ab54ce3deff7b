package datagram

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

// In any history, a peer is alive exactly as long as the last fast packet that it sent says:
// the last by its stamp and, of those with one stamp, the last that came.
func TestAliveIsWhatTheLastPacketSays(t *testing.T) { aliveByTheLast(t) }

func aliveByTheLast(t testing.TB) {
	rapid.Check(t, func(t *rapid.T) {
		s := newService(1, 2)
		expires := timed.LAN().Expires
		now := 10 * ms
		s.HandlePacket(at(now), hello(200, now-ms), nil)
		stamp, until := now-ms, now+expires-timed.LAN().MaxDrift.Wait(ms)
		t.Repeat(map[string]func(*rapid.T){
			"hears": func(t *rapid.T) {
				// The packet may have been overtaken, and may have the stamp of another one.
				h := hello(200, now-time.Duration(rapid.IntRange(1, 15).Draw(t, "delay"))*ms)
				age := time.Duration(rapid.IntRange(0, 60).Draw(t, "age")) * ms
				if h.Echo.Heard = h.Stamp.Add(-age); rapid.IntRange(0, 3).Draw(t, "deaf") == 0 {
					h.Echo.Heard = NotHeard
				}
				e := s.HandlePacket(at(now), h, nil)[0]
				require.Equal(t, Delivered, e.Kind)
				if sent := h.Stamp.Sub(zero); e.Delay.Fast && sent >= stamp {
					stamp, until = sent, 0
					if h.Echo.hears() {
						until = now + expires - timed.LAN().MaxDrift.Wait(age)
					}
				}
			},
			"waits": func(t *rapid.T) {
				now += time.Duration(rapid.IntRange(0, 30).Draw(t, "time")) * ms
			},
			"waits for the end": func(t *rapid.T) { now = max(now, until) },
			"": func(t *rapid.T) {
				require.Equal(t, now < until, s.Alive(at(now)).Has(2), "at %v, until %v", now, until)
			},
		})
	})
}
