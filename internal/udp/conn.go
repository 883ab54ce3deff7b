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

// Packet is one datagram, to be filled by [Conn.ReadBatch] or sent by
// [Conn.WriteBatch].
type Packet struct {
	// Buf is the buffer, of the caller. Datagrams that are longer than it are
	// dropped on reading.
	Buf []byte
	// N is the length of the datagram, in bytes of Buf.
	N int
	// Addr is the other end. IPv4 addresses are plain, never mapped to IPv6.
	Addr netip.AddrPort
	// Received is when the datagram counts as received, on the hardware clock:
	// not before it arrived at this machine, and not after ReadBatch returned.
	// Writing ignores it.
	Received timed.Instant
}

// Options are the choices at [Listen]. The zero value is sensible.
type Options struct {
	// ReceiveBuffer and SendBuffer are the sizes of the socket's buffers in
	// bytes; zero leaves the system's choice. The system may limit them.
	ReceiveBuffer, SendBuffer int
	// Batch is how many packets one system call moves at most; zero means 64.
	Batch int
	// NoKernelStamps makes Received the time at which a batch has been read.
	NoKernelStamps bool
}

const (
	defaultBatch = 64
	maxBatch     = 1024 // what the kernel accepts in one call
)

// Conn is a UDP socket. One goroutine may call ReadBatch and one may call
// WriteBatch, usually the same; all other methods may be called by any.
type Conn struct {
	clock *hwclock.Clock
	sock  *socket
	count *counters
	local netip.AddrPort

	yielded bool // the last call of ReadBatch ended with a wake; of the reader

	waiting atomic.Bool // the reader is about to wait, or waits
	woken   atomic.Bool // a wake has not been reported yet
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
	count := new(counters)
	sock, local, err := open(resolved, clock, opts, count)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("udp: another socket already listens at %s: %w", resolved, err)
	case err != nil:
		return nil, fmt.Errorf("udp: cannot listen at %s: %w", resolved, err)
	}
	return &Conn{clock: clock, sock: sock, count: count, local: local}, nil
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
// Buffers may change places within pkts. The error is [net.ErrClosed] after
// Close, or tells that the socket has become unusable; nothing that the network
// does is an error here.
func (c *Conn) ReadBatch(pkts []Packet, deadline timed.Instant) (n int, err error) {
	if len(pkts) == 0 {
		return 0, errors.New("udp: ReadBatch without room for a packet")
	}
	if !c.yielded && c.takeWake() {
		return 0, nil
	}
	c.yielded = false
	n, err = c.sock.poll(pkts)
	for n == 0 && err == nil {
		if c.takeWake() {
			return 0, nil
		}
		now := c.sock.idle()
		if now >= deadline {
			return 0, nil
		}
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
	if !c.woken.Load() {
		return false
	}
	c.woken.Store(false)
	c.yielded = true
	return true
}

// Wake makes ReadBatch return without waiting: the call under way, or else the
// next one. Wakes that have not been reported yet count as one. What the caller
// wrote before Wake is seen by the reader after that return. Wake never blocks.
func (c *Conn) Wake() {
	if c.woken.Swap(true) {
		return // whoever made it true sees to the rest
	}
	if c.waiting.Load() {
		c.sock.wake()
	}
}

// WriteBatch sends pkts, each to its address, and returns how many the system
// accepted. Those that it did not accept are counted by the name of the error
// and skipped; it never waits. The only error is that the socket is closed
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

var longAgo = time.Unix(1, 0)
