//go:build !linux

package udp

import (
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// socket is the portable socket: one packet a call, no kernel stamps.
type socket struct {
	conn  *net.UDPConn
	clock *hwclock.Clock
	count *counters
	whole []byte // any datagram fits, so that too long ones are noticed
}

func open(addr *net.UDPAddr, clock *hwclock.Clock, opts Options, count *counters) (*socket, netip.AddrPort, error) {
	conn, err := net.ListenUDP("udp", addr)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	if opts.ReceiveBuffer > 0 {
		err = conn.SetReadBuffer(opts.ReceiveBuffer)
	}
	if opts.SendBuffer > 0 && err == nil {
		err = conn.SetWriteBuffer(opts.SendBuffer)
	}
	if err != nil {
		_ = conn.Close()
		return nil, netip.AddrPort{}, err
	}
	local := conn.LocalAddr().(*net.UDPAddr).AddrPort()
	local = netip.AddrPortFrom(local.Addr().Unmap(), local.Port())
	return &socket{conn: conn, clock: clock, count: count, whole: make([]byte, 1<<16)}, local, nil
}

// poll finds nothing: there is no portable way of reading without waiting.
func (s *socket) poll([]Packet) (n int, err error) { return 0, nil }

func (s *socket) wait(pkts []Packet) (n int, err error) {
	n, from, err := s.conn.ReadFromUDPAddrPort(s.whole)
	received := s.clock.Now()
	switch {
	case err == nil:
	case isTimeout(err) || errors.Is(err, net.ErrClosed):
		return 0, err
	default:
		s.count.receiveErrors.addError(err)
		return 0, nil
	}
	p := &pkts[0]
	if n > len(p.Buf) {
		s.count.truncated.Add(1)
		return 0, nil
	}
	p.N = copy(p.Buf, s.whole[:n])
	p.Addr = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
	p.Received = received
	s.count.receivedPackets.Add(1)
	s.count.receivedBytes.Add(uint64(n))
	return 1, nil
}

func (s *socket) idle() timed.Instant { return s.clock.Now() }

func (s *socket) write(pkts []Packet) (sent int, err error) {
	// A full buffer makes an omission, not a wait.
	if err := s.conn.SetWriteDeadline(time.Now().Add(time.Millisecond)); err != nil {
		return 0, err
	}
	for i := range pkts {
		n, err := s.conn.WriteToUDPAddrPort(pkts[i].Buf[:pkts[i].N], pkts[i].Addr)
		switch {
		case err == nil:
			sent++
			s.count.sentPackets.Add(1)
			s.count.sentBytes.Add(uint64(n))
		case errors.Is(err, net.ErrClosed):
			return sent, err
		case isTimeout(err):
			s.count.sendErrors.add(namedErrors[0].errno)
		default:
			s.count.sendErrors.addError(err)
		}
	}
	return sent, nil
}

func (s *socket) setReadDeadline(t time.Time) error { return s.conn.SetReadDeadline(t) }

func (s *socket) close() error { return s.conn.Close() }
