package memory

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/transport"
	"github.com/failaware/failaware/timed"
)

// Options configure a network. The zero value is valid.
type Options struct {
	// Seed determines all random draws.
	Seed uint64
	// MinDelay and MaxDelay bound the delays of packets, which are evenly distributed.
	// If both are zero, delays are 50 to 250 µs, which every preset of
	// [failaware.Timing] calls timely; see [Network.Delay] for none.
	MinDelay, MaxDelay time.Duration
	// Buffer is the number of packets that a node can leave unread, as in the buffer of
	// a socket. Further packets are dropped and counted. Zero means 256.
	Buffer int
}

// Defaults and limits of a network.
const (
	DefaultMinDelay = 50 * time.Microsecond
	DefaultMaxDelay = 250 * time.Microsecond
	DefaultBuffer   = 256
	MaxDelay        = time.Hour // of a packet, at [Network.Delay] and at [Network.Late]
	MaxInFlight     = 1 << 14   // packets on the way to one node; further ones are dropped and counted

	maxBuffer = 1 << 20
)

// Network is a network in memory. All methods are safe for concurrent use. In a bubble, it
// belongs to that bubble from the first node on. It has no goroutines, and is not closed.
//
// Methods panic if an argument is invalid; the panic names it.
type Network struct {
	seed   uint64
	buffer int

	mu     sync.Mutex
	origin time.Time // of the time on the network: when the first node started
	ends   map[netip.AddrPort]*conn
	nodes  timed.Set
	own    [timed.MaxNodes + 1]machine
	usual  conditions // of links without their own conditions
	links  map[pair]*link
	group  [timed.MaxNodes + 1]int // the part that each node is in
	paused timed.Set
	floor  time.Duration // the largest Timing.MinDelay: no packet is faster
	stats  Stats
}

// machine is the state of a node's id that outlives its processes.
type machine struct {
	clock  *clock
	set    *Clock // the choice of SetClock
	random *rand.Rand
}

// pair is one direction between two nodes.
type pair struct{ from, to failaware.NodeID }

// Stats counts packets since the network was made.
type Stats struct {
	Sent       uint64 // by nodes
	Delivered  uint64 // to nodes, duplicates included
	Cut        uint64 // not delivered: no way between the two
	Lost       uint64 // not delivered: by the probability of [Network.Loss]
	Late       uint64 // delayed by [Network.Late]
	Duplicated uint64 // delivered twice
	Overflow   uint64 // not delivered: the buffer of the node was full, or the network
	Unreached  uint64 // not delivered: no node at the address, or none any more
}

// New returns a network without nodes. It panics if an option is invalid.
func New(opts Options) *Network {
	if opts.MinDelay == 0 && opts.MaxDelay == 0 {
		opts.MinDelay, opts.MaxDelay = DefaultMinDelay, DefaultMaxDelay
	}
	if opts.Buffer == 0 {
		opts.Buffer = DefaultBuffer
	}
	if opts.Buffer < 1 || opts.Buffer > maxBuffer {
		panic(fmt.Sprintf("memory: Options.Buffer: %d is outside [1, %d]", opts.Buffer, maxBuffer))
	}
	n := &Network{seed: opts.Seed, buffer: opts.Buffer, ends: map[netip.AddrPort]*conn{}, links: map[pair]*link{}}
	n.usual.delay("Options", opts.MinDelay, opts.MaxDelay)
	return n
}

// Transport returns the value of [failaware.Config.Transport] for every node.
func (n *Network) Transport() failaware.Transport { return carrier{n} }

// Stats returns the counters of the network.
func (n *Network) Stats() Stats {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stats
}

// now returns the time on the network, in nanoseconds. The caller holds n.mu, and a node has
// been started.
func (n *Network) now() int64 { return int64(time.Since(n.origin)) }

// The purposes of sources of random numbers.
const (
	forLink uint64 = iota
	forClock
	forBoots
)

// source returns a source of random numbers for one purpose.
func (n *Network) source(purpose uint64, p pair) *rand.Rand {
	var seed [32]byte
	for i, x := range []uint64{n.seed, purpose, uint64(p.from), uint64(p.to)} {
		binary.LittleEndian.PutUint64(seed[8*i:], x)
	}
	return rand.New(rand.NewChaCha8(seed))
}

// carrier is the network as nodes see it.
type carrier struct{ *Network }

const (
	firstPort  = 7000 // plus the id of the node
	secondPort = 8000 // for more nodes of an id, in the order of starts
)

func addressOf(port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
}

// Address implements [transport.Transport].
func (c carrier) Address(id timed.NodeID) netip.AddrPort { return addressOf(firstPort + uint16(id)) }

// Nodes implements [transport.Transport].
func (c carrier) Nodes() timed.Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes
}

// Open implements [transport.Transport].
func (c carrier) Open(r transport.Request) (transport.Endpoint, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.origin.IsZero() {
		c.origin = time.Now()
	}
	addr := r.Listen
	if !addr.IsValid() {
		addr = c.Address(r.ID)
		for port := uint16(secondPort); c.ends[addr] != nil; port++ {
			addr = addressOf(port)
		}
	}
	if c.ends[addr] != nil {
		return transport.Endpoint{}, fmt.Errorf("memory: another node already listens at %v: %w", addr, syscall.EADDRINUSE)
	}
	m := &c.own[r.ID]
	if m.random == nil {
		m.random = c.source(forBoots, pair{from: r.ID})
	}
	if err := c.startClock(m, &r); err != nil {
		return transport.Endpoint{}, err
	}
	c.nodes.Add(r.ID)
	c.floor = max(c.floor, r.Timing.MinDelay)
	end := newConn(c.Network, m.clock, addr, &r)
	c.ends[addr] = end
	return transport.Endpoint{Test: true, Conn: end, Clock: m.clock.hardware, Random: func() uint64 {
		c.mu.Lock() // two nodes may share an id by mistake
		defer c.mu.Unlock()
		return m.random.Uint64()
	}}, nil
}
