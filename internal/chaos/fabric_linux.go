package chaos

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// device is the name of the switch's device in each namespace.
const device = "tun0"

// fabric is a switch in user space. It delays, duplicates, replays, damages and drops packets.
// Each link draws its faults from its own random stream.
type fabric struct {
	ends    []*os.File // by node; the first is nil
	seed    uint64
	pending atomic.Int64
	counts  [6]atomic.Int64

	mu    sync.Mutex
	links map[[2]int]*link
}

// The effects of the fabric on packets.
const (
	carried = iota
	droppedPackets
	doubled
	delayed
	damaged
	replayed
)

var fabricNames = [...]string{"carried", "dropped", "doubled", "delayed", "damaged", "replayed"}

// link is one direction between two nodes.
type link struct {
	rnd     *rand.Rand
	percent int      // of the packets, for each of the faults
	kept    [][]byte // packets that may be replayed, of the whole run
	seen    int
}

// Limits of the fabric.
const (
	maxPending = 4096 // packets that are late
	maxKept    = 512  // packets of a link that may be replayed
	keepOneIn  = 16
	longest    = 60 * time.Millisecond // the longest delay
)

// openFabric opens the devices in the namespaces.
func openFabric(h *hosts, seed uint64) (*fabric, error) {
	f := &fabric{ends: make([]*os.File, h.n+1), seed: seed, links: map[[2]int]*link{}}
	for node := 1; node <= h.n; node++ {
		end, err := openDevice("/run/netns/" + h.of(node))
		if err != nil {
			f.close()
			return nil, fmt.Errorf("the switch's device of node %d: %w", node, err)
		}
		f.ends[node] = end
	}
	for node := 1; node <= h.n; node++ {
		go f.serve(node)
	}
	return f, nil
}

// openDevice opens the tun device of a namespace. The thread that enters the namespace ends
// with the goroutine.
func openDevice(space string) (end *os.File, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread must not be used again
		var ns, fd int
		if ns, err = unix.Open(space, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			return
		}
		defer unix.Close(ns)
		if err = unix.Setns(ns, unix.CLONE_NEWNET); err != nil {
			return
		}
		if fd, err = unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0); err != nil {
			return
		}
		var request *unix.Ifreq
		if request, err = unix.NewIfreq(device); err == nil {
			request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
			err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
		}
		if err != nil {
			_ = unix.Close(fd)
			return
		}
		end = os.NewFile(uintptr(fd), device)
	}()
	<-done
	return end, err
}

func (f *fabric) close() {
	for _, end := range f.ends {
		if end != nil {
			_ = end.Close()
		}
	}
}

// set sets the rate of faults on a link.
func (f *fabric) set(ends [2]int, percent int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.link(ends).percent = percent
}

// link returns a link. The caller holds f.mu.
func (f *fabric) link(ends [2]int) *link {
	l := f.links[ends]
	if l == nil {
		l = &link{rnd: rand.New(rand.NewPCG(f.seed, uint64(ends[0])<<16|uint64(ends[1])))}
		f.links[ends] = l
	}
	return l
}

// serve takes the packets that a node sends through the switch.
func (f *fabric) serve(node int) {
	b := make([]byte, 1<<16)
	for {
		n, err := f.ends[node].Read(b)
		if err != nil {
			return // closed
		}
		// IPv4 with UDP inside; the last byte of the destination is the node.
		if n < 29 || b[0] != 0x45 || b[9] != unix.IPPROTO_UDP {
			continue
		}
		if to := int(b[19]); to >= 1 && to < len(f.ends) {
			f.carry(node, to, bytes.Clone(b[:n]))
		}
	}
}

// carry forwards a packet with the faults that the link draws.
func (f *fabric) carry(from, to int, b []byte) {
	f.mu.Lock()
	l := f.link([2]int{from, to})
	hit := func(percent int) bool { return l.rnd.IntN(100) < percent }
	drop, twice, late, bad, old := hit(l.percent), hit(l.percent), hit(2*l.percent), hit(l.percent), hit(l.percent)
	wait := time.Duration(l.rnd.Int64N(int64(longest)))
	bit, again := l.rnd.Int(), l.rnd.Int()
	var replay []byte
	if old && len(l.kept) > 0 {
		replay = l.kept[again%len(l.kept)]
	}
	if l.seen++; l.seen%keepOneIn == 0 {
		l.keep(b, again)
	}
	f.mu.Unlock()

	if replay != nil {
		f.counts[replayed].Add(1)
		f.deliver(to, replay)
	}
	if bad {
		f.counts[damaged].Add(1)
		b = damage(b, bit)
	}
	if twice {
		f.counts[doubled].Add(1)
		f.deliverLater(wait/2, to, b)
	}
	switch {
	case drop:
		f.counts[droppedPackets].Add(1)
	case late:
		f.counts[delayed].Add(1)
		f.deliverLater(wait, to, b)
	default:
		f.deliver(to, b)
	}
}

// keep keeps a packet for a replay. A full link replaces the packet at an index.
func (l *link) keep(b []byte, at int) {
	if len(l.kept) < maxKept {
		l.kept = append(l.kept, b)
		return
	}
	l.kept[at%maxKept] = b
}

// damage returns a copy of a packet with one bit of its payload changed. It removes the UDP
// checksum, or the kernel would drop the packet.
func damage(b []byte, bit int) []byte {
	const headers = 28
	c := bytes.Clone(b)
	i := headers + bit/8%(len(c)-headers)
	c[i] ^= 1 << (bit % 8)
	c[26], c[27] = 0, 0
	return c
}

func (f *fabric) deliverLater(wait time.Duration, to int, b []byte) {
	if f.pending.Add(1) > maxPending {
		f.pending.Add(-1)
		return
	}
	time.AfterFunc(wait, func() {
		f.pending.Add(-1)
		f.deliver(to, b)
	})
}

func (f *fabric) deliver(to int, b []byte) {
	if _, err := f.ends[to].Write(b); err == nil {
		f.counts[carried].Add(1)
	}
}
