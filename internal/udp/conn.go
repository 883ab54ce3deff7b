package udp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// Packet is one datagram, filled by [Conn.ReadBatch] or to be sent by
// [Conn.WriteBatch].
type Packet struct {
	// Buf holds the datagram in its first N bytes. On reading it is memory of
	// the Conn, which stays as it is until the next call of ReadBatch.
	Buf []byte
	// N is the length of the datagram, in bytes of Buf.
	N int
	// Tail, if not empty, is sent behind the first N bytes of Buf, as part of the
	// datagram: what is the same in packets to several addresses is there once.
	// Reading leaves it empty.
	Tail []byte
	// Addr is the other end. IPv4 addresses are plain, never mapped to IPv6.
	Addr netip.AddrPort
	// Received is when the datagram counts as received, on the hardware clock:
	// not before it arrived at this machine, and not after ReadBatch returned.
	// Writing ignores it.
	Received timed.Instant
}

// size is the length of the whole datagram.
func (p *Packet) size() int { return p.N + len(p.Tail) }

// Options are the choices at [Listen]. The zero value is sensible.
type Options struct {
	// ReceiveBuffer and SendBuffer are the sizes of the socket's buffers in
	// bytes; zero leaves the system's choice. The system may limit them, unless
	// the process is privileged (CAP_NET_ADMIN on Linux): see [Conn.Buffers].
	ReceiveBuffer, SendBuffer int
	// Batch is how many messages one system call moves at most; zero means 64. A
	// message of the kernel is one packet, or up to 64 with offload.
	Batch int
	// MaxPacket is the length in bytes of the longest datagram that ReadBatch
	// returns; longer ones are dropped and counted. Zero means any.
	MaxPacket int
	// NoKernelStamps makes Received the time at which a batch has been read.
	NoKernelStamps bool
	// NoSendOffload sends every packet as a message of its own, and
	// NoReceiveOffload has every packet received as one.
	NoSendOffload, NoReceiveOffload bool
	// TooLong, if not nil, is called by WriteBatch for each packet that was not
	// sent because it is longer than the interface takes (EMSGSIZE), with the
	// address and the length in bytes. It must not call WriteBatch. What the path
	// takes may have changed: see [Conn.MaxPayload].
	TooLong func(to netip.AddrPort, length int)
}

const (
	defaultBatch = 64
	maxBatch     = 1024 // what the kernel accepts in one call

	maxDatagram = 1<<16 - 1 // no UDP datagram has more bytes
)

// Conn is a UDP socket. One goroutine may call ReadBatch and one may call
// WriteBatch, usually the same; all other methods may be called by any.
type Conn struct {
	clock *hwclock.Clock
	sock  *socket
	count *counters
	local netip.AddrPort

	// Of the reader.
	yielded bool          // the last call of ReadBatch ended with a wake
	waited  bool          // the last call of ReadBatch waited
	expects time.Duration // for how long the next one looks before it waits

	waiting atomic.Bool // the reader is about to wait, or waits
	calls   calls
	closed  atomic.Bool
}

// Listen opens a socket at a local address, as in "192.0.2.7:7000",
// "[2001:db8::7]:7000", or ":7000" for all addresses of this machine, both IPv4
// and IPv6. Port 0 lets the system choose. The error names the address and tells
// when the port is taken; it then matches [syscall.EADDRINUSE].
func Listen(addr string, clock *hwclock.Clock, opts Options) (*Conn, error) {
	resolved, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, fmt.Errorf("udp: the local address %q: %w", addr, err)
	}
	if opts.Batch < 0 || opts.Batch > maxBatch {
		return nil, fmt.Errorf("udp: a batch of %d packets is outside [0, %d]", opts.Batch, maxBatch)
	}
	if opts.Batch == 0 {
		opts.Batch = defaultBatch
	}
	if opts.MaxPacket < 0 || opts.MaxPacket > maxDatagram {
		return nil, fmt.Errorf("udp: a MaxPacket of %d bytes is outside [0, %d]", opts.MaxPacket, maxDatagram)
	}
	if opts.MaxPacket == 0 {
		opts.MaxPacket = maxDatagram
	}
	count := new(counters)
	sock, local, err := open(resolved, clock, opts, count)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("udp: another socket already listens at %s: %w", resolved, err)
	case err != nil:
		return nil, fmt.Errorf("udp: cannot listen at %s: %w", resolved, err)
	}
	c := &Conn{clock: clock, sock: sock, count: count, local: local}
	c.calls.hasten(timed.Never)
	return c, nil
}

// LocalAddr returns the address that the socket is bound to.
func (c *Conn) LocalAddr() netip.AddrPort { return c.local }

// Close closes the socket; ReadBatch and WriteBatch end with [net.ErrClosed].
// Closing again does nothing.
func (c *Conn) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	return c.sock.close()
}

// Stats returns the counters of this socket.
func (c *Conn) Stats() Stats { return c.count.stats() }

// ReadBatch reads packets into pkts, and returns how many: n ≥ 1 as soon as
// there are any, and n = 0 when the hardware clock has reached the deadline or
// [Conn.Wake] was called. With deadline [timed.Never] it waits without end.
//
// Packets that are already there come before the deadline, so a caller whose
// deadlines matter compares them with its clock after every call. A wake and
// packets at the same time take turns: neither can hold up the other.
//
// The buffers of pkts are replaced by memory of the Conn, which the next call of
// ReadBatch uses again. Packets that one call could not hold come with the next
// ones, before anything newer. The error is [net.ErrClosed] after
// Close, or tells that the socket has become unusable; nothing that the network
// does is an error here.
func (c *Conn) ReadBatch(pkts []Packet, deadline timed.Instant) (n int, err error) {
	if len(pkts) == 0 {
		return 0, errors.New("udp: ReadBatch without room for a packet")
	}
	expects := c.expects
	c.waited, c.expects = false, 0
	defer c.calls.hasten(timed.Never)
	if !c.yielded && c.takeWake() {
		return 0, nil
	}
	c.yielded = false
	n, err = c.sock.poll(pkts)
	if n == 0 && err == nil && expects > 0 {
		n, err = c.lookOut(pkts, timed.Earlier(deadline, c.clock.Now().Add(expects)))
	}
	for n == 0 && err == nil {
		if c.takeWake() {
			return 0, nil
		}
		now := c.sock.idle()
		if now >= timed.Earlier(deadline, c.calls.deadline()) {
			return 0, nil
		}
		c.waited = true
		n, err = c.wait(pkts, now, deadline)
	}
	return n, c.readError(err)
}

func (c *Conn) readError(err error) error {
	switch {
	case err == nil:
		return nil
	case c.closed.Load():
		return net.ErrClosed
	}
	return fmt.Errorf("udp: reading at %s: %w", c.local, err)
}

// takeWake reports and clears a pending wake.
func (c *Conn) takeWake() bool {
	if !c.calls.woken.Load() {
		return false
	}
	c.calls.woken.Store(false)
	c.yielded = true
	return true
}

// Wake makes ReadBatch return without waiting: the call under way, or else the
// next one. Wakes that have not been reported yet count as one. What the caller
// wrote before Wake is seen by the reader after that return. Wake never blocks.
func (c *Conn) Wake() {
	if c.calls.woken.Swap(true) {
		return // whoever made it true sees to the rest
	}
	if c.waiting.Load() {
		c.sock.wake()
	}
}

// WriteBatch sends pkts, each to its address, and returns how many the system
// accepted. Those that it did not accept are counted by the name of the error
// and skipped; it never waits.
//
// Packets to one address leave in their order. Packets of one size to one
// address, of which the last may be shorter, leave together where the kernel can
// cut them apart (send offload), even if packets to a few other addresses are
// between them. How packets are put together is never seen at the other end, but
// for their Received: only the first of several that the receiver's kernel has
// put together again is sure to have a stamp of the kernel. The only error is that the socket is closed
// ([net.ErrClosed]) or unusable.
func (c *Conn) WriteBatch(pkts []Packet) (sent int, err error) {
	sent, err = c.sock.write(pkts)
	switch {
	case err == nil:
		return sent, nil
	case c.closed.Load():
		return sent, net.ErrClosed
	}
	return sent, fmt.Errorf("udp: writing at %s: %w", c.local, err)
}

// MaxPayload returns the length in bytes of the longest packet that can be sent
// to an address without fragmentation, as far as the system knows now: from the
// MTU of the interface and of the route, and on Linux from what routers have
// reported. Forged reports can make it small, so a caller that knows a least
// size goes on using it. A packet of that length can still be lost on a path
// whose routers report nothing. It makes several system calls and allocates, so
// callers remember the answer.
//
// On systems other than Linux it is what any path must carry.
func (c *Conn) MaxPayload(to netip.AddrPort) (int, error) {
	n, err := c.maxPayload(to)
	if err != nil {
		return 0, fmt.Errorf("udp: the longest packet to %s: %w", to, err)
	}
	return n, nil
}

// Buffers returns the sizes in bytes of the socket's buffers as the kernel
// accounts for them, bookkeeping included: on Linux twice what was asked for. A
// size is zero where the system does not tell.
func (c *Conn) Buffers() (receive, send int) { return c.sock.buffers() }

var longAgo = time.Unix(1, 0)
