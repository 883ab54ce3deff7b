package memory

import (
	"cmp"
	"errors"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/failaware/failaware/internal/transport"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

// conn is the end of a node. It implements [transport.Conn].
//
// Its reader waits for nothing but a channel and a timer, both made by the
// goroutine that started the node: in a bubble such a wait is durable, and lets
// time pass.
type conn struct {
	n      *Network
	clock  *clock
	id     timed.NodeID
	addr   netip.AddrPort
	limit  int // bytes of the longest packet that is read; 0: none
	ending func() bool
	wakeup chan struct{} // has a value when the reader must look again
	timer  *time.Timer   // of the reader

	// Guarded by n.mu.
	flight  []packet // in flight, in the order of arrival
	buffer  []packet // arrived, and not read
	woken   bool     // a wake has not been reported yet
	yielded bool     // the last ReadBatch ended with a wake
	closed  bool
	turned  int64 // when a deadline last ended a ReadBatch, in the time of the network

	receivedPackets, receivedBytes, truncated, overflow uint64
	sentPackets, sentBytes                              uint64
}

// turnTime is the shortest time between two turns caused by deadlines. Every Timing
// allows a process to be that late. A turn takes time on every machine, but none in a
// bubble: a loop that wanted turn after turn would stop the time of all others.
const turnTime = timed.MinDuration

// packet is a datagram in flight, or unread.
type packet struct {
	at   int64 // when it arrives, in the time of the network
	from netip.AddrPort
	data []byte // immutable: duplicates share it
}

func newConn(n *Network, c *clock, addr netip.AddrPort, r *transport.Request) *conn {
	timer := time.NewTimer(longestWait)
	timer.Stop()
	return &conn{n: n, clock: c, id: r.ID, addr: addr, limit: r.MaxPacket, ending: r.Ending, wakeup: make(chan struct{}, 1), timer: timer,
		turned: -int64(turnTime)}
}

// LocalAddr implements [transport.Conn].
func (c *conn) LocalAddr() netip.AddrPort { return c.addr }

// ReadBatch implements [transport.Conn].
func (c *conn) ReadBatch(pkts []udp.Packet, deadline timed.Instant) (int, error) {
	if len(pkts) == 0 {
		return 0, errors.New("memory: ReadBatch without room for a packet")
	}
	for {
		n, wait, err := c.look(pkts, deadline)
		if wait == 0 || err != nil {
			return n, err
		}
		c.timer.Reset(wait)
		select {
		case <-c.wakeup:
		case <-c.timer.C:
		}
		c.timer.Stop()
	}
}

// look reads the packets that have arrived. It returns the time to wait, or 0 if
// ReadBatch must return.
func (c *conn) look(pkts []udp.Packet, deadline timed.Instant) (n int, wait time.Duration, err error) {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	switch {
	case c.closed:
		return 0, 0, net.ErrClosed
	case c.n.paused.Has(c.id):
		if c.woken && c.ending() {
			return 0, 0, nil
		}
		return 0, longestWait, nil
	case !c.yielded && c.takeWake():
		return 0, 0, nil
	}
	c.yielded = false
	t := c.n.now()
	c.arrive(t)
	if n = c.read(pkts); n > 0 || c.takeWake() {
		return n, 0, nil
	}
	now, rest := c.clock.at(t), c.turned+int64(turnTime)-t
	switch {
	case now < deadline:
		wait = c.clock.until(deadline, now)
	case rest > 0:
		wait = time.Duration(rest)
	default:
		c.turned = t
		return 0, 0, nil
	}
	if len(c.flight) > 0 {
		wait = min(wait, time.Duration(c.flight[0].at-t))
	}
	return 0, wait, nil
}

// takeWake reports and clears a pending wake. Packets are read between two wakes, so that
// wakes cannot delay packets forever.
func (c *conn) takeWake() bool {
	if !c.woken {
		return false
	}
	c.woken, c.yielded = false, true
	return true
}

// arrive moves the packets that have arrived by now into the buffer. The caller holds n.mu.
func (c *conn) arrive(now int64) {
	n := 0
	for ; n < len(c.flight) && c.flight[n].at <= now; n++ {
		if len(c.buffer) >= c.n.buffer {
			c.overflow++
			c.n.stats.Overflow++
			continue
		}
		c.buffer = append(c.buffer, c.flight[n])
	}
	c.flight = slices.Delete(c.flight, 0, n)
}

// read takes packets from the buffer. The caller holds n.mu.
func (c *conn) read(pkts []udp.Packet) (n int) {
	taken := 0
	for ; taken < len(c.buffer) && n < len(pkts); taken++ {
		p, out := &c.buffer[taken], &pkts[n]
		if c.limit > 0 && len(p.data) > c.limit {
			c.truncated++
			continue
		}
		out.Buf, out.N, out.Addr, out.Received = p.data, len(p.data), p.from, c.clock.at(p.at)
		c.receivedPackets++
		c.receivedBytes += uint64(len(p.data))
		c.n.stats.Delivered++
		n++
	}
	c.buffer = slices.Delete(c.buffer, 0, taken)
	return n
}

// WriteBatch implements [transport.Conn].
func (c *conn) WriteBatch(pkts []udp.Packet) (int, error) {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	now := c.n.now()
	for i := range pkts {
		c.sentPackets++
		c.sentBytes += uint64(pkts[i].N + len(pkts[i].Tail))
		c.send(now, &pkts[i])
	}
	return len(pkts), nil
}

// send loses a packet or puts it in flight, once or twice. The caller holds n.mu.
func (c *conn) send(now int64, p *udp.Packet) {
	n := c.n
	n.stats.Sent++
	to := n.ends[p.Addr]
	if to == nil {
		n.stats.Unreached++
		return
	}
	l := n.link(pair{c.id, to.id})
	f := l.draw()
	switch {
	case l.cut || n.group[c.id] != n.group[to.id]:
		n.stats.Cut++
		return
	case f.lost:
		n.stats.Lost++
		return
	}
	if f.late {
		n.stats.Late++
	}
	data := slices.Concat(p.Buf[:p.N], p.Tail)
	to.expect(now, packet{now + int64(max(f.delay, n.floor)), c.addr, data})
	if f.twice {
		n.stats.Duplicated++
		to.expect(now, packet{now + int64(max(f.again, n.floor)), c.addr, data})
	}
}

// expect adds a packet that is in flight to this end. The caller holds n.mu.
func (c *conn) expect(now int64, p packet) {
	c.arrive(now) // unread packets do not count as packets in flight
	if len(c.flight) >= MaxInFlight {
		c.overflow++
		c.n.stats.Overflow++
		return
	}
	// The order in which nodes send at the same instant depends on the scheduler. The
	// order in which their packets arrive must not.
	i, _ := slices.BinarySearchFunc(c.flight, p, func(q, p packet) int {
		return cmp.Or(cmp.Compare(q.at, p.at), q.from.Compare(p.from), -1)
	})
	c.flight = slices.Insert(c.flight, i, p)
	if i == 0 {
		c.notify()
	}
}

// Wake implements [transport.Conn].
func (c *conn) Wake() {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	c.woken = true
	c.notify()
}

// notify makes the reader look again. It never blocks.
func (c *conn) notify() {
	select {
	case c.wakeup <- struct{}{}:
	default:
	}
}

// Close implements [transport.Conn].
func (c *conn) Close() error {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	c.n.stats.Unreached += uint64(len(c.flight) + len(c.buffer))
	c.flight, c.buffer = nil, nil
	delete(c.n.ends, c.addr)
	c.notify()
	return nil
}

// Stats implements [transport.Conn].
func (c *conn) Stats() udp.Stats {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	return udp.Stats{
		{Name: "received_packets", Value: c.receivedPackets}, {Name: "received_bytes", Value: c.receivedBytes},
		{Name: "received_truncated", Value: c.truncated}, {Name: "received_overflow", Value: c.overflow},
		{Name: "sent_packets", Value: c.sentPackets}, {Name: "sent_bytes", Value: c.sentBytes},
	}
}
