package udp

import (
	"fmt"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/internal/trust/trusttest"
	"github.com/failaware/failaware/timed"
)

// option returns an option of a socket.
func option(t *testing.T, c *Conn, level, name int) (value int) {
	t.Helper()
	require.NoError(t, c.sock.raw.Control(func(fd uintptr) {
		var err error
		value, err = unix.GetsockoptInt(int(fd), level, name)
		require.NoError(t, err)
	}))
	return value
}

// Packets of either family are never fragmented, and forged messages about the path change
// nothing.
func TestNoPacketIsFragmented(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0", ":0"} {
		c := listen(t, addr, Options{})
		require.Equal(t, unix.IP_PMTUDISC_PROBE, option(t, c, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER), addr)
		if c.LocalAddr().Addr().Is6() {
			require.Equal(t, unix.IPV6_PMTUDISC_PROBE, option(t, c, unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER), addr)
		}
	}
}

// A user without privileges gets buffers as large as the system allows.
func TestBuffersNeedNoPrivilege(t *testing.T) {
	trusttest.NeedRoot(t)
	const size = 1 << 30
	var c *Conn
	var err error
	trusttest.As(t, trusttest.Nobody, func() {
		c, err = Listen("127.0.0.1:0", testClock(), Options{ReceiveBuffer: size, SendBuffer: size})
	})
	require.NoError(t, err)
	defer c.Close()
	receive, send := c.Buffers()
	require.Positive(t, receive)
	require.Positive(t, send)
	require.Less(t, receive, size)
	require.Less(t, send, size)
}

// inNetwork calls f in a network of its own, with a loopback interface of an MTU.
func inNetwork(t *testing.T, mtu int, f func()) {
	trusttest.NeedRoot(t)
	runtime.LockOSThread() // and not unlocked: the thread ends with the goroutine
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("no other network: %v", err)
	}
	if out, err := exec.Command("ip", "link", "set", "lo", "up", "mtu", fmt.Sprint(mtu)).CombinedOutput(); err != nil {
		t.Skipf("ip: %v: %s", err, out)
	}
	f()
}

// A train that is refused because its packets are too long says nothing of the kernel, also if
// the last and shorter one leaves. And a train that is refused counts all its packets.
func TestRefusedPacketsOfTrainsAreCounted(t *testing.T) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		inNetwork(t, 1400, func() {
			c, err := Listen("127.0.0.1:0", testClock(), Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			sent, err := c.WriteBatch(sized(c.LocalAddr(), repeat(1500, 3, 100)...))
			if s := c.Stats(); err != nil || sent != 1 || s.Get("send_emsgsize") != 3 || s.Get("offload_refused") != 0 {
				t.Errorf("%d packets left, error %v: %v", sent, err, s)
			}
			sent, err = c.WriteBatch(sized(addrAt("192.0.2.1", c), repeat(100, 4)...)) // nothing leads there
			if s := c.Stats(); err != nil || sent != 0 || s.Get("send_enetunreach")+s.Get("send_einval") != 4 {
				t.Errorf("%d packets left, error %v: %v", sent, err, s)
			}
		})
	}()
	<-done
}

// What the system says of interfaces counts for a while: one that is not there may come, and one
// that is removed and made again has another number.
func TestInterfacesAreLookedUpAgain(t *testing.T) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		inNetwork(t, 1400, func() {
			ip := func(args ...string) {
				if out, err := exec.Command("ip", append([]string{"link"}, args...)...).CombinedOutput(); err != nil {
					t.Errorf("ip link %v: %v: %s", args, err, out)
				}
			}
			var z zones
			requireZone := func(number uint32, name string) {
				if z.index("fe0") != number || z.index("77") != 77 || z.name(100) != name || z.index("lo") != 1 || z.name(1) != "lo" {
					t.Errorf("fe0 is %d and not %d, or 100 is %s and not %s", z.index("fe0"), number, z.name(100), name)
				}
			}
			requireZone(0, "100")
			ip("add", "fe0", "index", "100", "type", "veth", "peer", "name", "fe1")
			requireZone(0, "100")
			z.until = time.Time{}
			requireZone(100, "fe0")
			ip("del", "fe0")
			ip("add", "fe0", "index", "200", "type", "veth", "peer", "name", "fe1")
			requireZone(100, "fe0")
			z.until = time.Time{}
			requireZone(200, "100")
		})
	}()
	<-done
}

// A deadline that is over ends the wait at once: the kernel refuses times before now, and takes 0
// for none.
func TestADeadlineThatIsOverEndsTheWait(t *testing.T) {
	w := listen(t, "127.0.0.1:0", Options{}).sock.waiter
	for deadline, want := range map[timed.Instant]int64{50: 1, 100: 1, 101: 1, 102: 2, timed.Never: 0} {
		var spec unix.ItimerSpec
		require.NoError(t, w.set(&spec, 100, deadline))
		require.Equal(t, want, unix.TimespecToNsec(spec.Value))
	}
}

// The clock is read whenever a quiet socket is found empty, so that the stamp of the next quiet
// packet counts, however long that takes.
func TestAnEmptyQuietSocketReadsTheClock(t *testing.T) {
	reader, _ := withQuiet(t)
	q := reader.sock.quiet
	before := q.in.stamps.before.At
	n, err := q.read(room(4))
	require.NoError(t, err)
	require.Zero(t, n)
	require.Greater(t, q.in.stamps.before.At, before)
}
