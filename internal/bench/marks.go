package bench

import (
	"net/netip"
	"sync"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/transport"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

// mark is an instant in the work of a node's loop, as its socket sees it.
type mark struct {
	Kind    markKind
	At      timed.Instant
	Arrived timed.Instant // of a packet: when it came to this machine
	Port    uint16        // of its sender
}

type markKind int

const (
	markWrite markKind = iota // the loop begins to send packets
	markRead                  // it has got a packet
)

// mostMarks bounds the marks of a run.
const mostMarks = 1 << 18

// marks are the marks of one node in the order of time. A lock guards them, because callers
// of a node may take turns in place of the loop.
type marks struct {
	clock *hwclock.Clock

	mu   sync.Mutex
	on   bool
	list []mark
}

// begin starts a new list.
func (m *marks) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.on, m.list = true, nil
}

// end returns the list.
func (m *marks) end() []mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.on = false
	return m.list
}

// write notes that the loop begins to send packets.
func (m *marks) write() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.on && len(m.list) < mostMarks {
		m.list = append(m.list, mark{Kind: markWrite, At: m.clock.Now()})
	}
}

// read notes that the loop has got packets.
func (m *marks) read(pkts []udp.Packet) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.on || len(m.list)+len(pkts) > mostMarks {
		return
	}
	now := m.clock.Now()
	for i := range pkts {
		m.list = append(m.list, mark{markRead, now, pkts[i].Received, pkts[i].Addr.Port()})
	}
}

// Open opens a socket at a free port of the loopback interface, with marks.
func (m *marks) Open(r transport.Request) (transport.Endpoint, error) {
	conn, err := udp.Listen("127.0.0.1:0", m.clock, udp.Options{MaxPacket: r.MaxPacket})
	if err != nil {
		return transport.Endpoint{}, err
	}
	random := func() uint64 { return uint64(randomBoot()) }
	return transport.Endpoint{Conn: &markedConn{conn, m}, Clock: m.clock, Random: random}, nil
}

// Address and Nodes know no nodes: all addresses are configured.
func (*marks) Address(timed.NodeID) netip.AddrPort { return netip.AddrPort{} }
func (*marks) Nodes() timed.Set                    { return timed.Set{} }

// markedConn is a socket with marks.
type markedConn struct {
	*udp.Conn
	marks *marks
}

func (c *markedConn) ReadBatch(pkts []udp.Packet, deadline timed.Instant) (n int, err error) {
	n, err = c.Conn.ReadBatch(pkts, deadline)
	c.marks.read(pkts[:n])
	return n, err
}

func (c *markedConn) WriteBatch(pkts []udp.Packet) (sent int, err error) {
	c.marks.write()
	return c.Conn.WriteBatch(pkts)
}
