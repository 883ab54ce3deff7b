package join

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// names is a name server.
type names struct {
	mu      sync.Mutex
	hosts   map[string][]string
	targets []*net.SRV
	wrong   error // of targets that are left out
	down    bool
	lookups []time.Time
}

// silent is a name for which the server never answers.
const silent = "silent.example.org"

func (n *names) LookupNetIP(ctx context.Context, _, host string) (list []netip.Addr, err error) {
	if host == silent {
		<-ctx.Done()
		return nil, &net.DNSError{Err: ctx.Err().Error(), Name: host, IsTimeout: true}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lookups = append(n.lookups, time.Now())
	if n.down {
		return nil, &net.DNSError{Err: fmt.Sprintf("read udp 127.0.0.1:%d->127.0.0.1:53: read: connection refused", 40000+len(n.lookups)), Name: host}
	}
	if n.hosts[host] == nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	for _, a := range n.hosts[host] {
		list = append(list, netip.MustParseAddr(a))
	}
	return list, nil
}

func (n *names) LookupSRV(_ context.Context, _, _, name string) (string, []*net.SRV, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.targets == nil {
		return "", nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	return name, n.targets, n.wrong
}

func (n *names) set(host string, addrs ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hosts[host] = addrs
}

// world is a finder, its name server, and whom its node hears.
type world struct {
	*Finder
	*names
	alive timed.Set
	log   *strings.Builder

	changes atomic.Int32 // calls of Changed
}

func newWorld(t *testing.T, sources ...string) *world {
	w := &world{names: &names{hosts: map[string][]string{}}, log: &strings.Builder{}}
	var list []Source
	for _, text := range sources {
		s, err := Parse(text)
		require.NoError(t, err)
		list = append(list, s)
	}
	w.Finder = New(Options{Local: netip.MustParseAddrPort("192.0.2.1:7000"), Remote: true, Resolver: w.names, Changed: func() { w.changes.Add(1) },
		Alive: func() timed.Set { w.mu().Lock(); defer w.mu().Unlock(); return w.alive },
		Log:   hclog.New(&hclog.LoggerOptions{Output: w.log}).Log}, list)
	return w
}

func (w *world) mu() *sync.Mutex { return &w.names.mu }

// run runs the finder until the end of the test.
func (w *world) run(t *testing.T) {
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop); synctest.Wait() })
	go w.Run(stop)
	synctest.Wait()
}

func (w *world) addrs() string { return fmt.Sprint(w.Found().Addrs) }

// All addresses of a name are candidates, in one order whatever the name server does, and
// those that the socket cannot send to are left out.
func TestAllAddressesOfANameCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "192.0.2.9:7009", "nodes.example.org:7000")
		require.Equal(t, "[192.0.2.9:7009]", w.addrs(), "addresses are found at once")
		require.Equal(t, "not looked up yet", w.Found().Sources[1].Problem)
		w.set("nodes.example.org", "::ffff:192.0.2.3", "::ffff:192.0.2.2", "2001:db8::1", "::ffff:192.0.2.3") // as systems answer
		w.run(t)
		require.Equal(t, "[192.0.2.9:7009 192.0.2.2:7000 192.0.2.3:7000]", w.addrs())
		require.Empty(t, w.Found().Sources[1].Problem)
		require.Len(t, w.Found().Sources[1].Addrs, 2)
	})
}

// The problem is named when no answer comes.
func TestASilentNameServerIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, silent+":7000")
		w.run(t)
		time.Sleep(patience + time.Second)
		synctest.Wait()
		require.Contains(t, w.Found().Sources[0].Problem, "deadline exceeded")
	})
}

// A name is looked up soon again while the node is alone, ever more seldom, and once a
// minute when it hears somebody. What was found stays when the name server fails.
func TestWhenNamesAreLookedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "nodes.example.org:7000")
		begin := time.Now()
		w.run(t)
		time.Sleep(time.Minute)
		synctest.Wait()
		var at []int
		for _, x := range w.lookups {
			at = append(at, int(x.Sub(begin).Seconds()))
		}
		require.Equal(t, []int{0, 1, 3, 7, 15, 30, 45, 60}, at)
		require.Equal(t, 1, strings.Count(w.log.String(), "cannot find nodes to join"), "said once: %s", w.log)
		require.Contains(t, w.log.String(), `join=nodes.example.org:7000 error="lookup nodes.example.org: no such host"`)

		w.set("nodes.example.org", "192.0.2.2")
		time.Sleep(loneWait + lookEvery)
		synctest.Wait()
		require.Equal(t, "[192.0.2.2:7000]", w.addrs())
		w.mu().Lock()
		w.alive, w.lookups = timed.SetOf(2), nil
		w.mu().Unlock()
		w.set("nodes.example.org")
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		require.InDelta(t, 10, len(w.lookups), 1)
		require.Equal(t, "[192.0.2.2:7000]", w.addrs())
		require.Contains(t, w.Found().Sources[0].Problem, "no such host")

		w.mu().Lock()
		w.alive, w.lookups = timed.Set{}, nil
		w.mu().Unlock()
		begin = time.Now()
		time.Sleep(8 * time.Second)
		synctest.Wait()
		require.Len(t, w.lookups, 4, "alone again, it begins anew")
		require.LessOrEqual(t, w.lookups[3].Sub(begin), 8*time.Second)
	})
}

// A name server that does not answer is named once, though each lookup comes from another port.
func TestTheSameProblemIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "nodes.example.org:7000")
		w.down = true
		w.run(t)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Len(t, w.lookups, 8)
		require.Equal(t, 1, strings.Count(w.log.String(), "cannot find nodes to join"), "%s", w.log)
		require.EqualValues(t, 1, w.changes.Load())
	})
}

// A service has targets with ports of their own. A target without an address does not
// hide the others.
func TestServicesOfTheDNS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "srv:_failaware._udp.example.org")
		w.targets = []*net.SRV{{Target: "a.example.org.", Port: 7001}, {Target: "b.example.org.", Port: 7002}, {Target: "none.example.org.", Port: 7003}}
		w.set("a.example.org", "192.0.2.1")
		w.set("b.example.org", "192.0.2.2", "192.0.2.3")
		w.run(t)
		require.Equal(t, "[192.0.2.1:7001 192.0.2.2:7002 192.0.2.3:7002]", w.addrs())
		require.Contains(t, w.Found().Sources[0].Problem, "none.example.org")
		w.names.mu.Lock()
		w.wrong = &net.DNSError{Err: "it has invalid names", Name: "example.org"}
		w.targets = w.targets[1:2]
		w.names.mu.Unlock()
		time.Sleep(loneWait)
		synctest.Wait()
		require.Equal(t, "[192.0.2.2:7002 192.0.2.3:7002]", w.addrs())
	})
}

// A file is read again when it changes. A wrong line is named, and the others count.
func TestFilesAreWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "nodes")
		w := newWorld(t, "file:"+path)
		w.alive = timed.SetOf(2)
		w.run(t)
		require.Contains(t, w.Found().Sources[0].Problem, "no such file")
		write := func(text string) {
			require.NoError(t, os.WriteFile(path+".new", []byte(text), 0o600))
			require.NoError(t, os.Rename(path+".new", path))
			time.Sleep(lookEvery)
			synctest.Wait()
		}
		w.set("b.example.org", "192.0.2.2")
		write("# the nodes\n192.0.2.1:7001\n\n  b.example.org:7002\n")
		require.Equal(t, "[192.0.2.1:7001 192.0.2.2:7002]", w.addrs())
		require.Empty(t, w.Found().Sources[0].Problem)
		write("# the nodes\n\n192.0.2.1:7001\nnonsense\nfile:/etc/passwd\n192.0.2.7:7007")
		require.Equal(t, "[192.0.2.1:7001 192.0.2.7:7007]", w.addrs())
		require.Contains(t, w.Found().Sources[0].Problem, path+`:4: "nonsense" is none of`)
		require.Contains(t, w.Found().Sources[0].Problem, path+`:5: "file:/etc/passwd" is not HOST:PORT`)
		write(strings.Repeat("nonsense\n", 10*MaxSources))
		require.Equal(t, MaxSources, strings.Count(w.Found().Sources[0].Problem, "\n"), "no more lines are named, or looked up")
		write("192.0.2.1:7001\n192.0.2.7:7007")
		write(strings.Repeat("#", maxFile+1))
		require.Contains(t, w.Found().Sources[0].Problem, "larger than")
		require.Equal(t, "[192.0.2.1:7001 192.0.2.7:7007]", w.addrs(), "the previous ones")
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.Mkdir(path, 0o700))
		time.Sleep(lookEvery)
		synctest.Wait()
		require.Contains(t, w.Found().Sources[0].Problem, "is not a regular file")
	})
}

// A file put in place of another is read, even if both have one size and one time, as files
// of some systems have. The node hears of other candidates, and only of those.
func TestAFileInPlaceOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "nodes")
		write := func(text string) {
			require.NoError(t, os.WriteFile(path+".new", []byte(text), 0o600))
			require.NoError(t, os.Chtimes(path+".new", time.Unix(1, 0), time.Unix(1, 0)))
			require.NoError(t, os.Rename(path+".new", path))
		}
		write("192.0.2.1:7001\n")
		w := newWorld(t, "file:"+path)
		w.alive = timed.SetOf(2)
		w.run(t)
		require.Equal(t, "[192.0.2.1:7001]", w.addrs())
		require.EqualValues(t, 1, w.changes.Load())
		for _, text := range []string{"192.0.2.3:7003", "192.0.2.3:7003"} {
			write(text + "\n")
			time.Sleep(lookEvery)
			synctest.Wait()
			require.Equal(t, "["+text+"]", w.addrs())
			require.EqualValues(t, 2, w.changes.Load())
		}
	})
}

// A file that an editor writes in place is read again, even if its size is the same.
func TestAFileIsEditedInPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "nodes")
		w := newWorld(t, "file:"+path)
		w.alive = timed.SetOf(2)
		for i, want := range []string{"192.0.2.1:7001", "192.0.2.2:7002"} {
			require.NoError(t, os.WriteFile(path, []byte(want), 0o600))
			require.NoError(t, os.Chtimes(path, time.Unix(int64(i), 0), time.Unix(int64(i), 0)))
			if i == 0 {
				w.run(t)
			}
			time.Sleep(lookEvery)
			synctest.Wait()
			require.Equal(t, "["+want+"]", w.addrs())
		}
	})
}

// A device or a pipe is not read: it may have no end.
func TestADeviceIsNoFile(t *testing.T) {
	w := newWorld(t, "file:"+os.DevNull)
	_, err := w.readFile(t.Context(), w.sources[0])
	require.ErrorContains(t, err, "is not a regular file")
}

// However many addresses there are, few are candidates.
func TestCandidatesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a.example.org:7000", "b.example.org:7000")
		for _, name := range []string{"a", "b"} {
			var many []string
			for i := range 200 {
				many = append(many, fmt.Sprintf("192.0.%d.%d", 2+len(w.hosts), i))
			}
			w.set(name+".example.org", many...)
		}
		w.run(t)
		require.Len(t, w.Found().Addrs, MaxAddresses)
		require.Equal(t, "there are more than 64 addresses", w.Found().Sources[0].Problem)
	})
}

// Without keys, only loopback addresses count.
func TestAddressesBeyondLoopbackNeedKeys(t *testing.T) {
	s, err := Parse("192.0.2.2:7000")
	require.NoError(t, err)
	f := New(Options{Local: netip.MustParseAddrPort("127.0.0.1:7000")}, []Source{s})
	require.Empty(t, f.Found().Addrs)
	require.Equal(t, "192.0.2.2 is not a loopback address, and packets are not authenticated", f.Found().Sources[0].Problem)
}

// Packets to each multicast group come with the addresses of their senders.
func TestAMulticastGroup(t *testing.T) {
	var sources []Source
	for _, group := range []string{"239.255.70.65:", "239.255.70.66:"} {
		s, err := Parse("multicast:" + group + freePort(t))
		require.NoError(t, err)
		sources = append(sources, s)
	}
	stop, came := make(chan struct{}), make(chan string, 100)
	local := netip.MustParseAddrPort("127.0.0.1:0")
	if err := Listen(sources, local, stop, func(b []byte, from netip.AddrPort) { came <- fmt.Sprint(from, " ", string(b)) }); err != nil {
		t.Skip(err)
	}
	c, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(local))
	require.NoError(t, err)
	defer c.Close()
	want := map[string]bool{}
	for _, s := range sources {
		if _, err := c.WriteToUDPAddrPort([]byte(s.Text), s.Addr); err != nil {
			t.Skip("multicast on the loopback interface: ", err)
		}
		want[c.LocalAddr().String()+" "+s.Text] = true
	}
	heard := map[string]bool{}
	for len(heard) < len(sources) {
		select {
		case got := <-came:
			heard[got] = true
			continue
		case <-time.After(time.Minute):
		}
		if len(heard) == 0 {
			t.Skip("the system carries no multicast on its loopback interface")
		}
		break
	}
	require.Equal(t, want, heard)
	close(stop)
	for _, s := range sources {
		awaitFree(t, s.Addr.Port())
	}
	wrong := Source{Text: "wrong", Kind: Multicast, Addr: netip.MustParseAddrPort("192.0.2.1:7000")}
	require.ErrorContains(t, Listen([]Source{sources[0], wrong}, local, stop, nil), `"wrong": `)
	_, err = interfaceOf(netip.MustParseAddr("203.0.113.77"))
	require.ErrorContains(t, err, "no interface has the address")
	require.False(t, errors.Is(err, net.ErrClosed))
}

// A flood to a multicast group takes little time of the processor: of many packets that wait,
// some are taken at once, and the others one by one.
func TestAFloodIsTakenSlowly(t *testing.T) {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	to := c.LocalAddr().(*net.UDPAddr).AddrPort()
	sender, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer sender.Close()
	const packets = helloRoom + 50
	for i := range packets { // the system holds so many small ones
		_, err = sender.WriteToUDPAddrPort(fmt.Appendf(nil, "hello %d", i), to)
		require.NoError(t, err)
	}
	begin, taken, ended := time.Now(), 0, make(chan struct{})
	var kept [][]byte
	go func() {
		defer close(ended)
		receive(c, func(b []byte, _ netip.AddrPort) {
			taken++
			kept = append(kept, b)
			if most := helloRoom + 1 + int(time.Since(begin)/helloRate); taken > most {
				t.Errorf("packet %d is taken, and %d would be the most", taken, most)
			}
			if taken == helloRoom+5 {
				_ = c.Close()
			}
		})
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		_ = c.Close()
		<-ended
		require.Fail(t, "packets that wait are not taken", taken)
	}
	for i, b := range kept {
		require.Equal(t, fmt.Sprintf("hello %d", i), string(b), "the bytes are those of who took them")
	}
}

// awaitFree waits until no socket is bound to a port.
func awaitFree(t *testing.T, port uint16) {
	require.Eventually(t, func() bool {
		c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(port)})
		return err == nil && c.Close() == nil
	}, time.Minute, time.Millisecond, "a socket is left")
}

func freePort(t *testing.T) string {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer c.Close()
	_, port, _ := net.SplitHostPort(c.LocalAddr().String())
	return port
}

// Members of an earlier time are candidates after all others, and put out none of them.
func TestFormerMembersComeLast(t *testing.T) {
	var known []netip.AddrPort
	for port := range uint16(MaxAddresses) {
		known = append(known, netip.AddrPortFrom(netip.MustParseAddr("127.0.0.9"), 7001+port))
	}
	configured := netip.MustParseAddrPort("127.0.0.1:7000")
	f := New(Options{Local: configured, Known: known}, []Source{{Text: configured.String(), Addr: configured}})
	found := f.Found().Addrs
	require.Len(t, found, MaxAddresses)
	require.Equal(t, configured, found[0])
	require.Equal(t, known[:MaxAddresses-1], found[1:])
}

// Addresses at which there were members earlier are no less checked than others: a node
// without keys sends nothing to other machines.
func TestFormerMembersAreCandidatesOnlyIfUsable(t *testing.T) {
	var known []netip.AddrPort
	for _, a := range []string{"192.0.2.1:7000", "127.0.0.1:0", "[::1]:7000", "127.0.0.2:7000"} {
		known = append(known, netip.MustParseAddrPort(a))
	}
	f := New(Options{Local: netip.MustParseAddrPort("127.0.0.1:7000"), Known: known}, nil)
	require.Equal(t, known[3:], f.Found().Addrs)
}
