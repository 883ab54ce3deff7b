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
	"github.com/failaware/failaware/internal/sockerr"
	"github.com/failaware/failaware/timed"
)

// Packet is one datagram, read by [Conn.ReadBatch] or sent by [Conn.WriteBatch].
type Packet struct {
	// Buf holds the datagram in its first N bytes. On reading it is memory of the
	// Conn, which does not change until the next call of ReadBatch.
	Buf []byte
	// N is the length of the datagram, in bytes of Buf.
	N int
	// Tail, if not empty, is sent behind the first N bytes of Buf, as part of the
	// datagram. So packets to several addresses can share a common part. Reading
	// leaves Tail empty.
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
	// Batch is the limit of messages in one system call; zero means 64. A message
	// of the kernel is one packet, or up to 64 with offload.
	Batch int
	// MaxPacket is the length in bytes of the longest datagram that ReadBatch
	// returns; longer ones are dropped and counted. Zero means any.
	MaxPacket int
	// NoKernelStamps makes Received the time at which a batch has been read.
	NoKernelStamps bool
	// NoSendOffload sends every packet as a message of its own, and
	// NoReceiveOffload receives every packet as one.
	NoSendOffload, NoReceiveOffload bool
	// Quiet, if not nil, marks packets that need not wake the reader. ReadBatch returns
	// them, where the system can tell them apart, when something else ends its wait. It
	// then returns packets in the order of Received.
	Quiet *Quiet
}

const (
	defaultBatch = 64
	maxBatch     = 1024 // limit of the kernel for one call

	maxDatagram = 1<<16 - 1 // no UDP datagram has more bytes

	firstFree = 1024 // the first port that needs no permission
)

// Conn is a UDP socket. One goroutine may call ReadBatch and one may call WriteBatch,
// usually the same. Any goroutine may call the other methods.
type Conn struct {
	clock *hwclock.Clock
	sock  *socket
	count *counters
	local netip.AddrPort

	// The following belong to the reader.
	yielded bool          // the last call of ReadBatch ended with a wake
	waited  bool          // the last call of ReadBatch waited
	expects time.Duration // how long the next call looks for packets before it waits

	waiting atomic.Bool // the reader waits, or is about to
	signals signals
	closed  atomic.Bool
}

// listenError says all that its cause does, in words for users.
type listenError struct {
	text  string
	cause error
}

func (e *listenError) Error() string { return e.text }

// Unwrap returns the cause also by its usual name, which is promised.
func (e *listenError) Unwrap() []error { return []error{e.cause, sockerr.Of(e.cause)} }

// Listen opens a socket at a local address, as in "192.0.2.7:7000",
// "[2001:db8::7]:7000", or ":7000" for all addresses of this machine, both IPv4 and
// IPv6. With port 0 the system chooses the port. The error names the address. If the
// port is taken, it matches [syscall.EADDRINUSE].
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
	switch errno := sockerr.Of(err); {
	case errno == syscall.EADDRINUSE:
		return nil, &listenError{fmt.Sprintf("udp: another socket already listens at %s", resolved), err}
	case errno == syscall.EADDRNOTAVAIL:
		return nil, &listenError{fmt.Sprintf("udp: cannot listen at %s, which is no address of this machine", resolved), err}
	case errors.Is(err, syscall.EACCES) && resolved.Port < firstFree:
		return nil, &listenError{fmt.Sprintf("udp: this user may not listen at %s: a port below %d needs CAP_NET_BIND_SERVICE or root", resolved, firstFree), err}
	case err != nil:
		return nil, fmt.Errorf("udp: cannot listen at %s: %w", resolved, err)
	}
	c := &Conn{clock: clock, sock: sock, count: count, local: local}
	c.signals.hasten(timed.Never)
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

// ReadBatch reads packets into pkts, and returns their number: n ≥ 1 as soon as there
// are any, and n = 0 when there are none and the hardware clock has reached the deadline
// or [Conn.Wake] was called. With deadline [timed.Never] it waits without end.
//
// Packets that are already there take precedence over the deadline, so a caller whose
// deadlines matter compares them with its clock after every call. A wake hides no packets:
// a caller that did not run for a while sees those that came in time before it finds that
// none did. Where the system cannot read without waiting, wakes and packets take turns.
//
// ReadBatch replaces the buffers of pkts by memory of the Conn, which the next call
// uses again. Packets that did not fit into pkts come with the next calls, before
// anything newer. The error is [net.ErrClosed] after Close, or says that the socket has
// become unusable. The network cannot cause an error here.
func (c *Conn) ReadBatch(pkts []Packet, deadline timed.Instant) (n int, err error) {
	if len(pkts) == 0 {
		return 0, errors.New("udp: ReadBatch without room for a packet")
	}
	if n, err = c.read(c.beside(pkts), deadline); err == nil {
		n, err = c.takeQuiet(pkts, n)
	}
	return n, c.readError(err)
}

// read reads packets that are not quiet.
func (c *Conn) read(pkts []Packet, deadline timed.Instant) (n int, err error) {
	expects := c.expects
	c.waited, c.expects = false, 0
	defer c.signals.hasten(timed.Never)
	if !c.yielded && c.takeWake() {
		return c.sock.poll(pkts)
	}
	c.yielded = false
	n, err = c.sock.poll(pkts)
	if n == 0 && err == nil && expects > 0 {
		n, err = c.spin(pkts, timed.Earlier(deadline, c.clock.Now().Add(expects)))
	}
	for n == 0 && err == nil && !c.sock.quietLeft() {
		if c.takeWake() {
			return c.sock.poll(pkts) // some may have come since it looked
		}
		now := c.sock.idle()
		if now >= timed.Earlier(deadline, c.signals.deadline()) {
			return 0, nil
		}
		c.waited = true
		n, err = c.wait(pkts, now, deadline)
	}
	return n, err
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
	if !c.signals.woken.Load() {
		return false
	}
	c.signals.woken.Store(false)
	c.yielded = true
	return true
}

// Wake makes ReadBatch return without waiting: the call under way, or else the next
// one. Several wakes count as one until a call reports them. The reader sees the
// caller's writes from before Wake after that return. Wake never blocks.
func (c *Conn) Wake() {
	if c.signals.woken.Swap(true) {
		return // the first wake does the rest
	}
	if c.waiting.Load() {
		c.sock.wake()
	}
}

// WriteBatch sends pkts, each to its address, and returns how many the system accepted.
// It counts the others by the name of the error and skips them. It never waits.
//
// Packets to one address leave in their order. Packets of one size to one address, of
// which the last may be shorter, leave together where the kernel can cut them apart
// (send offload), even if packets to a few other addresses are between them. The other
// end sees this only in Received: of several packets that the receiver's kernel has
// joined again, only the first surely has a stamp of the kernel. The only error is that
// the socket is closed ([net.ErrClosed]) or unusable.
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

// Buffers returns the sizes in bytes of the socket's buffers as the kernel accounts for
// them, bookkeeping included: on Linux twice the requested sizes. A size is zero if the
// system does not report it.
func (c *Conn) Buffers() (receive, send int) { return c.sock.buffers() }

var longAgo = time.Unix(1, 0)
