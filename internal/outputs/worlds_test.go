package outputs

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/clocksync/clockbound"
	"github.com/failaware/failaware/clocksync/ntpserver"
	"github.com/failaware/failaware/clocksync/serve"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// ahead is by how much CLOCK_REALTIME of a machine is ahead of its hardware clock, which
// makes it wrong; nobody corrects it.
const ahead = int64(3 * time.Hour)

// segment is what a process has written for the programs on its machine. It stays when the
// process ends.
type segment struct {
	content clockbound.Content
	utc     serve.Answer
	at      clocksync.Time // true time
	now     int64          // of the hardware clock
}

// stays reports whether the segment has not been lost with a boot of the machine, which
// begins another hardware clock.
func (s *segment) stays(truth clocksync.Time, now int64) bool {
	passed := truth.Sub(s.at)
	return s.at != 0 && (time.Duration(now-s.now)-passed).Abs() <= passed/1000+time.Millisecond
}

// question is an NTP client's.
var question = [48]byte{4<<3 | 3}

// asks is an NTP client that asks a node, and compares the answer with the truth.
func asks(t testing.TB, n *sim.Node, r *clocksync.Reading) {
	b := ntpserver.Respond(question[:], serve.Of(*r), 0)
	leap, stratum, truth := b[0]>>6, b[1], n.World().UTC()
	require.Equal(t, r.Status == clocksync.External, leap != 3 && stratum < 16, "node %v is %v", n.ID(), r.Status)
	if leap == 3 {
		return
	}
	bound := time.Duration(int64(binary.BigEndian.Uint32(b[8:])) * 1e9 >> 16)
	sent := clocksync.Time(int64(binary.BigEndian.Uint32(b[40:])-2_208_988_800)*1e9 + int64(binary.BigEndian.Uint32(b[44:]))*1e9>>32)
	require.LessOrEqual(t, truth.Sub(sent).Abs(), bound, "node %v", n.ID())
}

// reads is a client of ClockBound, which compares what it reads with the truth.
func (s *segment) reads(t testing.TB, n *sim.Node, now int64) clockbound.Status {
	i, err := s.content.Read(now+ahead, now)
	require.NoError(t, err)
	truth := n.World().UTC()
	switch i.Status {
	case clockbound.Synchronized:
		require.True(t, s.utc.External && truth.Sub(s.at) < 2*clockbound.Grace, "node %v", n.ID())
		fallthrough
	case clockbound.FreeRunning:
		require.False(t, truth.Go().Before(i.Earliest) || truth.Go().After(i.Latest), "node %v: %v is not in [%v, %v]", n.ID(), truth.Go(), i.Earliest, i.Latest)
	}
	return i.Status
}

// programsLook plays worlds in which programs look at the time of all nodes after every
// event, over faults and restarts, and with one reference of four that lies.
func programsLook(t testing.TB) {
	seen := map[clockbound.Status]int{}
	for seed := range uint64(6) {
		servers := &fault.Servers{MinReferences: 3}
		for i := range 4 {
			x := fault.Server{Nodes: timed.SetOf(timed.NodeID(i+1), 5), Every: time.Second, Delay: time.Millisecond, Error: 50 * time.Microsecond}
			if i == 3 {
				x.Shift, x.Until = time.Second, time.Hour
			}
			servers.List = append(servers.List, x)
		}
		opt := sim.Options{Servers: servers, Duration: 20 * time.Second}
		w, err := sim.New(seed+1, opt)
		require.NoError(t, err)
		wrote, next := make([]segment, len(w.Nodes())), w.UTC()
		look := func() bool {
			if w.UTC() < next {
				return false
			}
			next = w.UTC() + clocksync.Time(5*time.Millisecond)
			for i, n := range w.Nodes() {
				now, s := int64(n.Instant()), &wrote[i]
				if s.stays(w.UTC(), now) {
					seen[s.reads(t, n, now)]++
				}
				if r := n.Clock(); n.Up() {
					asks(t, n, &r)
					utc := serve.Of(r)
					*s = segment{clockbound.Write(clockbound.Options{Drift: timed.LAN().MaxDrift}, utc, now+ahead, now), utc, w.UTC(), now}
				}
			}
			return w.Time() >= opt.Duration
		}
		require.NoError(t, w.RunUntil(2*opt.Duration, look))
	}
	for _, s := range []clockbound.Status{clockbound.Unknown, clockbound.Synchronized, clockbound.FreeRunning} {
		require.NotZero(t, seen[s], "%v", s)
	}
}

func TestProgramsAreToldTheTruthInAllWorlds(t *testing.T) { programsLook(t) }
