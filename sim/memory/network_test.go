package memory

import (
	"net"
	"net/netip"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/transport"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

// open opens the end of a node without running the node.
func open(t *testing.T, n *Network, id timed.NodeID) (*conn, transport.Endpoint) {
	t.Helper()
	e, err := n.Transport().Open(transport.Request{ID: id, Timing: timed.LAN(), MaxPacket: 8, Ending: func() bool { return false }})
	require.NoError(t, err)
	return e.Conn.(*conn), e
}

// say sends one packet.
func say(t *testing.T, from, to *conn, text string) {
	t.Helper()
	_, err := from.WriteBatch([]udp.Packet{{Buf: []byte(text), N: len(text), Addr: to.addr}})
	require.NoError(t, err)
}

// heard returns the packets that arrive within a time.
func heard(t *testing.T, e transport.Endpoint, within time.Duration) (texts []string, at []timed.Instant) {
	t.Helper()
	pkts := make([]udp.Packet, 2)
	for deadline := e.Clock.Now().Add(within); e.Clock.Now() < deadline; {
		k, err := e.Conn.ReadBatch(pkts, deadline)
		require.NoError(t, err)
		for _, p := range pkts[:k] {
			texts, at = append(texts, string(p.Buf[:p.N])), append(at, p.Received)
			require.LessOrEqual(t, p.Received, e.Clock.Now())
		}
	}
	return texts, at
}

func TestPacketsTakeTheirDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(Options{MinDelay: 5 * time.Millisecond, MaxDelay: 5 * time.Millisecond})
		n.SetClock(2, Clock{Drift: 50_000})
		a, _ := open(t, n, 1)
		b, eb := open(t, n, 2)
		begin := eb.Clock.Now()
		say(t, a, b, "one")
		texts, at := heard(t, eb, time.Second)
		require.Equal(t, []string{"one"}, texts)
		require.Equal(t, begin.Add(5*time.Millisecond+250*time.Nanosecond), at[0], "on a clock that is 50 ppm fast")

		n.Link(1, 2).Delay(time.Second, time.Second)
		say(t, a, b, "slow")
		say(t, b, a, "fast")
		n.Delay(0, 0) // of all that is sent from now on
		say(t, a, b, "now")
		texts, _ = heard(t, eb, 2*time.Second)
		require.Equal(t, []string{"now", "slow"}, texts)

		say(t, a, b, "too long")
		say(t, a, b, "too long!")
		texts, _ = heard(t, eb, time.Second)
		require.Equal(t, []string{"too long"}, texts)
		require.Equal(t, uint64(1), b.Stats().Get("received_truncated"))
		require.Equal(t, uint64(4), b.Stats().Get("received_packets"))
	})
}

func TestWhoReachesWhom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(Options{})
		var conns []*conn
		var ends []transport.Endpoint
		for id := timed.NodeID(1); id <= 4; id++ {
			c, e := open(t, n, id)
			conns, ends = append(conns, c), append(ends, e)
		}
		// reach returns the nodes that each node hears, as digits.
		reach := func() (pairs []string) {
			for i, from := range conns {
				for j, to := range conns {
					if i != j {
						say(t, from, to, string([]byte{byte('1' + i), byte('1' + j)}))
					}
				}
			}
			for _, e := range ends {
				texts, _ := heard(t, e, 10*time.Millisecond)
				pairs = append(pairs, texts...)
			}
			return pairs
		}
		all := []string{"12", "13", "14", "21", "23", "24", "31", "32", "34", "41", "42", "43"}
		require.ElementsMatch(t, all, reach())
		n.Partition([]timed.NodeID{1, 2})
		require.ElementsMatch(t, []string{"12", "21", "34", "43"}, reach(), "those that are not named are a group")
		n.Partition([]timed.NodeID{1, 3}, []timed.NodeID{2})
		n.Cut(1, 3)
		require.ElementsMatch(t, []string{"31"}, reach(), "a partition replaces the one of before")
		n.Mend(1, 3)
		require.ElementsMatch(t, []string{"13", "31"}, reach())
		n.Cut(4, 2)
		n.Heal()
		require.ElementsMatch(t, all, reach())
		n.Loss(1)
		n.Link(2, 3).Loss(0)
		require.Equal(t, []string{"23"}, reach())
		n.Loss(0)
		n.Link(1, 2).Duplicate(1)
		require.ElementsMatch(t, append(all, "12"), reach())
		n.Duplicate(0)
		n.Link(1, 2).Late(1, time.Hour)
		require.Len(t, reach(), 11)
		require.Equal(t, Stats{Sent: 96, Delivered: 56, Cut: 29, Lost: 11, Late: 1, Duplicated: 1}, n.Stats())
	})
}

func TestUnreadPacketsFillTheBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(Options{Buffer: 3})
		a, _ := open(t, n, 1)
		b, eb := open(t, n, 2)
		n.Pause(2)
		for range 3 {
			say(t, a, b, "kept")
		}
		time.Sleep(time.Second)
		for range 4 {
			say(t, a, b, "lost")
		}
		time.Sleep(time.Second)
		n.Resume(2)
		before := eb.Clock.Now()
		texts, at := heard(t, eb, time.Second)
		require.Equal(t, []string{"kept", "kept", "kept"}, texts)
		require.Less(t, at[2], before, "they came long before they were read")
		require.Equal(t, uint64(4), n.Stats().Overflow)
		require.Equal(t, uint64(4), b.Stats().Get("received_overflow"))

		n.Delay(time.Second, time.Second)
		for range MaxInFlight + 1 {
			say(t, a, b, "x")
		}
		require.Equal(t, uint64(5), n.Stats().Overflow, "what is on the way is limited too")
		require.NoError(t, b.Close())
		require.NoError(t, b.Close(), "again")
		say(t, a, b, "late")
		require.Equal(t, uint64(MaxInFlight+1), n.Stats().Unreached)
		_, err := b.ReadBatch(make([]udp.Packet, 1), timed.Never)
		require.ErrorIs(t, err, net.ErrClosed)
	})
}

func TestWakesEndWaitsAndTakeTurnsWithPackets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(Options{})
		a, ea := open(t, n, 1)
		woken := make(chan struct{})
		go func() {
			defer close(woken)
			k, err := ea.Conn.ReadBatch(make([]udp.Packet, 1), timed.Never)
			require.Zero(t, k)
			require.NoError(t, err)
		}()
		synctest.Wait()
		a.Wake()
		<-woken

		n.Delay(0, 0)
		say(t, a, a, "x")
		pkts := make([]udp.Packet, 1)
		a.Wake()
		for _, want := range []int{1, 0, 0} { // it has just been woken; then the wake, then the deadline
			k, err := a.ReadBatch(pkts, ea.Clock.Now())
			require.NoError(t, err)
			require.Equal(t, want, k)
		}
		_, err := a.ReadBatch(nil, 0)
		require.Error(t, err)
	})
}

// The fate of a link's nth packet is a matter of the seed, whatever happens on
// other links or happened before.
func TestFatesComeFromTheSeed(t *testing.T) {
	fates := func(seed uint64, before func(n *Network)) (list []fate) {
		n := New(Options{Seed: seed})
		before(n)
		n.Loss(0.3)
		n.Late(0.3, time.Second)
		n.Duplicate(0.3)
		for range 100 {
			list = append(list, n.link(pair{1, 2}).draw())
		}
		return list
	}
	plain := fates(7, func(*Network) {})
	require.Equal(t, plain, fates(7, func(n *Network) {
		n.Loss(1)
		for range 10 {
			n.link(pair{2, 1}).draw()
		}
	}))
	require.NotEqual(t, plain, fates(8, func(*Network) {}))
	var lost, late, twice int
	for _, f := range plain {
		if f.lost {
			lost++
		}
		if f.late {
			late++
			require.LessOrEqual(t, f.delay, DefaultMaxDelay+time.Second)
		} else {
			require.LessOrEqual(t, f.delay, DefaultMaxDelay)
		}
		if f.twice {
			twice++
		}
		require.GreaterOrEqual(t, min(f.delay, f.again), DefaultMinDelay)
	}
	for _, count := range []int{lost, late, twice} {
		require.InDelta(t, 30, count, 15)
	}
}

func TestNoPacketIsFasterThanANodeBelieves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(Options{})
		n.Delay(0, 0)
		timing := timed.WAN()
		timing.MinDelay = time.Millisecond
		_, err := n.Transport().Open(transport.Request{ID: 1, Timing: timing})
		require.NoError(t, err)
		a, ea := open(t, n, 2)
		begin := ea.Clock.Now()
		say(t, a, a, "x")
		_, at := heard(t, ea, time.Second)
		require.GreaterOrEqual(t, at[0].Sub(begin), time.Millisecond-time.Microsecond)
	})
}

func TestClocksDifferWithinTheDriftBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(Options{})
		rho := timed.LAN().MaxDrift
		var starts []timed.Instant
		var ends []transport.Endpoint
		for id := timed.NodeID(1); id <= 20; id++ {
			_, e := open(t, n, id)
			starts, ends = append(starts, e.Clock.Now()), append(ends, e)
		}
		const hours = 1000
		time.Sleep(hours * time.Hour)
		rates, offsets := map[int64]bool{}, map[timed.Instant]bool{}
		for i, e := range ends {
			passed := e.Clock.Now().Sub(starts[i])
			ratio := float64(hours*time.Hour) / float64(passed)
			require.InDelta(t, 1, ratio, float64(rho)/1e9+1e-15)
			rates[n.own[i+1].clock.drift], offsets[starts[i]] = true, true
		}
		require.Greater(t, len(rates), 15)
		require.Len(t, offsets, 20)
	})
}

func TestClockWaitsUntilItsDeadline(t *testing.T) {
	for _, drift := range []int64{-999_000, -100_000, 0, 1, 100_000, 999_000} {
		c := newClock(time.Now(), &Clock{Drift: drift})
		for _, d := range []time.Duration{1, 999, time.Millisecond, time.Second + 1, longestWait} {
			for _, t0 := range []int64{0, 1_999_999_999, int64(1000 * time.Hour)} {
				deadline := c.at(t0).Add(d)
				wait := c.until(deadline, c.at(t0))
				require.InDelta(t, int64(deadline), int64(c.at(t0+int64(wait))), 3, "%d %v", drift, d)
			}
		}
		last := c.at(0)
		for at := int64(1); at < 5_000; at++ {
			now := c.at(999_998_000 + at)
			require.GreaterOrEqual(t, now, last)
			last = now
		}
		require.InDelta(t, longestWait.Seconds(), c.until(timed.Never, -1).Seconds(), 4, "no overflow")
	}
}

func TestAddresses(t *testing.T) {
	n := New(Options{})
	a, _ := open(t, n, 200)
	require.Equal(t, netip.MustParseAddrPort("127.0.0.1:7200"), a.LocalAddr())
	b, _ := open(t, n, 200)
	require.Equal(t, netip.MustParseAddrPort("127.0.0.1:8000"), b.LocalAddr())
	_, err := n.Transport().Open(transport.Request{ID: 3, Listen: b.LocalAddr(), Timing: timed.LAN()})
	require.ErrorIs(t, err, syscall.EADDRINUSE)
	require.Equal(t, timed.SetOf(200), n.Transport().Nodes())
}

func TestSenselessArgumentsPanic(t *testing.T) {
	n := New(Options{})
	open(t, n, 9)
	for want, f := range map[string]func(){
		"memory: Options.Buffer: -1 is outside [1, 1048576]":               func() { New(Options{Buffer: -1}) },
		"memory: Options: delays from 2s to 1s are not within [0, 1h0m0s]": func() { New(Options{MinDelay: 2 * time.Second, MaxDelay: time.Second}) },
		"memory: Delay: delays from -1ns to 1s are not within [0, 1h0m0s]": func() { n.Delay(-1, time.Second) },
		"memory: Loss: the probability 1.5 is outside [0, 1]":              func() { n.Loss(1.5) },
		"memory: Duplicate: the probability -1 is outside [0, 1]":          func() { n.Link(1, 2).Duplicate(-1) },
		"memory: Late: the tail 2h0m0s is outside [0, 1h0m0s]":             func() { n.Late(0.5, 2*time.Hour) },
		"memory: Partition: node 1 is named twice":                         func() { n.Partition([]failaware.NodeID{1}, []failaware.NodeID{1}) },
		"memory: Cut: the id 0 is outside [1, 255]":                        func() { n.Cut(0, 1) },
		"memory: Pause: the id 0 is outside [1, 255]":                      func() { n.Pause(0) },
		"memory: Link: the id 0 is outside [1, 255]":                       func() { n.Link(1, 0) },
		"memory: SetClock: the clock of node 9 runs already":               func() { n.SetClock(9, Clock{}) },
		"memory: SetClock: the offset -1ns is outside [0, 10000h0m0s]":     func() { n.SetClock(1, Clock{Offset: -1}) },
	} {
		require.PanicsWithValue(t, want, f)
	}
	n.SetClock(3, Clock{Drift: 100_000})
	_, err := n.Transport().Open(transport.Request{ID: 3, Timing: timed.LAN()})
	require.ErrorContains(t, err, "node 3 drifts by 100000 ppb, and Timing.MaxDrift = 100000 allows 99990")
}
