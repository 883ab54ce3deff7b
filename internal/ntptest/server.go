// Package ntptest has NTP servers for tests: small ones that are false, refuse or stay
// silent on demand, and real ones if chronyd is installed.
package ntptest

import (
	"encoding/binary"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// Behaviour determines the answers of a [Server].
type Behaviour struct {
	Shift  time.Duration // of its clock, from the system's
	Kiss   string        // if set, it refuses with this code
	Silent bool          // it does not answer
	Leap   uint8         // the leap indicator; 3 is not synchronized
	// Dispersion is the error in its answers.
	Dispersion time.Duration
}

// Server answers NTP questions on the loopback interface.
type Server struct {
	conn  net.PacketConn
	mu    sync.Mutex
	how   Behaviour
	asked int
}

// Start starts a server that ends with the test.
func Start(t testing.TB, how Behaviour) *Server {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{conn: conn, how: how}
	t.Cleanup(func() { conn.Close() })
	go s.serve()
	return s
}

// Addr returns the address of the server.
func (s *Server) Addr() string { return s.conn.LocalAddr().String() }

// AddrPort returns the same address.
func (s *Server) AddrPort() netip.AddrPort { return netip.MustParseAddrPort(s.Addr()) }

// Set changes the behaviour.
func (s *Server) Set(how Behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.how = how
}

// Asked returns the number of questions so far.
func (s *Server) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// Places in a packet, of RFC 5905, figure 8.
const (
	packetSize  = 48
	atStratum   = 1
	atPrecision = 3
	atDispers   = 8
	atReference = 12
	atRefTime   = 16
	atOrigin    = 24
	atReceive   = 32
	atTransmit  = 40

	epoch1900 = 2_208_988_800 // seconds from 1900 to 1970
)

func (s *Server) serve() {
	buf := make([]byte, 1024)
	for {
		n, from, err := s.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		s.mu.Lock()
		how := s.how
		s.asked++
		s.mu.Unlock()
		if n < packetSize || how.Silent {
			continue
		}
		out := make([]byte, packetSize)
		out[0] = how.Leap<<6 | 4<<3 | 4 // version 4, server
		out[atStratum] = 1
		copy(out[atReference:], "TEST")
		if how.Kiss != "" {
			out[atStratum] = 0
			copy(out[atReference:], how.Kiss)
		}
		precision := int8(-20)
		out[atPrecision] = byte(precision)
		binary.BigEndian.PutUint32(out[atDispers:], uint32(how.Dispersion.Seconds()*(1<<16)))
		copy(out[atOrigin:], buf[atTransmit:atTransmit+8])
		now := time.Now().Add(how.Shift)
		put(out[atRefTime:], now.Add(-time.Second))
		put(out[atReceive:], now)
		put(out[atTransmit:], now)
		_, _ = s.conn.WriteTo(out, from)
	}
}

// put writes a time in NTP's format.
func put(b []byte, t time.Time) {
	binary.BigEndian.PutUint32(b, uint32(t.Unix()+epoch1900))
	binary.BigEndian.PutUint32(b[4:], uint32(uint64(t.Nanosecond())<<32/1e9))
}
