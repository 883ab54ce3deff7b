//go:build !linux

package udp

import (
	"errors"
	"math"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/sockerr"
	"github.com/failaware/failaware/timed"
)

// socket is the portable socket: one packet a call, no kernel stamps.
type socket struct {
	conn   *net.UDPConn
	clock  *hwclock.Clock
	count  *counters
	opts   Options
	whole  []byte        // any datagram fits, so that long ones are noticed
	joined []byte        // a packet with its tail; of the writer
	armed  timed.Instant // when the read deadline expires; of the reader
}

func open(addr *net.UDPAddr, clock *hwclock.Clock, opts Options, count *counters) (*socket, netip.AddrPort, error) {
	conn, err := net.ListenUDP("udp", addr)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	enlarge(conn.SetReadBuffer, opts.ReceiveBuffer)
	enlarge(conn.SetWriteBuffer, opts.SendBuffer)
	local := conn.LocalAddr().(*net.UDPAddr).AddrPort()
	local = netip.AddrPortFrom(local.Addr().Unmap(), local.Port())
	return &socket{conn: conn, clock: clock, count: count, opts: opts, whole: make([]byte, maxDatagram), armed: unarmed}, local, nil
}

// enlarge asks for a buffer of a size, and for a smaller one until the system does not refuse it.
// Above a limit (kern.ipc.maxsockbuf) BSD and macOS refuse all, where Linux gives the most.
func enlarge(set func(bytes int) error, size int) {
	for ; size > 0 && set(size) != nil; size /= 2 {
	}
}

// poll finds nothing, because there is no portable way to read without waiting.
func (s *socket) poll([]Packet) (n int, err error) { return 0, nil }

// readQuiet finds nothing: quiet packets come with the others.
func (s *socket) readQuiet([]Packet) (n int, err error) { return 0, nil }

func (s *socket) quietLeft() bool { return false }

func (s *socket) hasQuiet() bool { return false }

// unarmed as the expiry of the read deadline means that the deadline must be set before
// the next wait.
const unarmed timed.Instant = math.MinInt64

// arm sets the read deadline, unless it will expire early enough anyway.
func (s *socket) arm(now, deadline timed.Instant) error {
	if s.armed > now && s.armed <= deadline {
		return nil
	}
	var at time.Time // zero: no deadline
	if deadline != timed.Never {
		at = time.Now().Add(deadline.Sub(now))
	}
	s.armed = deadline
	return s.conn.SetReadDeadline(at)
}

// wait reads one packet, or waits for it until about the deadline, or a wake.
func (s *socket) wait(pkts []Packet, now, deadline timed.Instant, signals *signals) (n int, err error) {
	deadline = timed.Earlier(deadline, signals.deadline())
	if err := s.arm(now, deadline); err != nil {
		return 0, err
	}
	if signals.woken.Load() || signals.deadline() < deadline { // the new deadline may have overwritten theirs
		s.armed = unarmed
		return 0, nil
	}
	n, from, err := s.conn.ReadFromUDPAddrPort(s.whole)
	received := s.clock.Now()
	switch {
	case err == nil:
	case isTimeout(err):
		s.armed = unarmed
		return 0, nil
	case errors.Is(err, net.ErrClosed):
		return 0, err
	default:
		s.count.receiveErrors.addError(err)
		return 0, nil
	}
	if n > s.opts.MaxPacket {
		s.count.truncated.Add(1)
		return 0, nil
	}
	from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
	pkts[0] = Packet{Buf: s.whole[:n:n], N: n, Addr: from, Received: received}
	s.count.receivedPackets.Add(1)
	s.count.receivedBytes.Add(uint64(n))
	return 1, nil
}

func (s *socket) idle() timed.Instant { return s.clock.Now() }

func (s *socket) write(pkts []Packet) (sent int, err error) {
	full := false // drops the packet, and those behind it
	for i := range pkts {
		p := &pkts[i]
		b := p.Buf[:p.N]
		if len(p.Tail) > 0 {
			s.joined = append(append(s.joined[:0], b...), p.Tail...)
			b = s.joined
		}
		n, err := s.send(b, p.Addr, full)
		switch {
		case err == nil:
			sent++
			s.count.sentPackets.Add(1)
			s.count.sentBytes.Add(uint64(n))
		case errors.Is(err, net.ErrClosed):
			return sent, err
		case isTimeout(err):
			full = true
			s.count.sendErrors.add(namedErrors[0].errno)
		default:
			s.count.failed(p.Addr, errnoOf(err))
		}
	}
	return sent, nil
}

// sendTries is how often a packet must be late in a row before the send buffer counts as full:
// where the process is held up between the two calls of send, the packet was not tried at all.
const sendTries = 3

// send sends one packet, and waits no more than a moment for room; not at all if the buffer is full.
// One deadline for a whole batch would drop the end of each that takes longer.
func (s *socket) send(b []byte, to netip.AddrPort, full bool) (n int, err error) {
	if full {
		return 0, os.ErrDeadlineExceeded
	}
	for range sendTries {
		if err = s.conn.SetWriteDeadline(time.Now().Add(time.Millisecond)); err != nil {
			return 0, err
		}
		if n, err = s.conn.WriteToUDPAddrPort(b, to); !isTimeout(err) {
			break
		}
	}
	return n, err
}

// buffers reports nothing on these systems.
func (s *socket) buffers() (receive, send int) { return 0, 0 }

// wake ends the wait under way, or else a later one. A failure means that the
// socket is closed, which ends the wait too.
func (s *socket) wake() { _ = s.conn.SetReadDeadline(longAgo) }

// hasten ends the wait under way, so that the reader sees its new deadline.
func (s *socket) hasten(_, _ timed.Instant) { s.wake() }

func (s *socket) close() error { return s.conn.Close() }

// isTimeout reports whether an error is the end of a wait.
func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// addError counts an error of the portable socket.
func (e *errorCounters) addError(err error) { e.add(errnoOf(err)) }

// errnoOf returns the system's error of the portable socket; 0, which has no name, if there is
// none. Package net does not ask the system whether an IPv4 socket reaches an IPv6 address.
func errnoOf(err error) syscall.Errno {
	if _, wrong := errors.AsType[*net.AddrError](err); wrong {
		return syscall.EAFNOSUPPORT
	}
	return sockerr.Of(err)
}
