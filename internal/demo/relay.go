package demo

import (
	"bytes"
	"errors"
	"iter"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/failaware/failaware"
)

// MaxNodes is the limit of nodes in a demonstration: one for each key that selects a
// node.
const MaxNodes = 9

const (
	maxPacket = 1200 // bytes; longer ones are dropped
	maxHeld   = 256  // limit of the packets that one direction of a link holds back
)

// Relay stands between nodes, in place of the network. It has a socket for each ordered
// pair of nodes. A packet from node a to the socket (a, b) reaches node b, which sees
// it come from the socket (b, a) and answers there. So the nodes need not know about
// the relay. All methods are safe for concurrent use.
type Relay struct {
	ends  [MaxNodes + 1][MaxNodes + 1]*end
	homes [MaxNodes + 1]atomic.Pointer[netip.AddrPort] // where the nodes listen; nil while they do not
	stop  chan struct{}
	tasks sync.WaitGroup
}

// end is the socket through which from reaches to, and the faults of that direction of
// the link.
type end struct {
	relay    *Relay
	from, to failaware.NodeID
	conn     *net.UDPConn
	cut      atomic.Bool
	delay    atomic.Int64
	held     chan heldPacket

	carried, dropped, waiting atomic.Uint64
}

type heldPacket struct {
	due  time.Time
	data []byte
}

// NewRelay opens the sockets between nodes 1 to count.
func NewRelay(count int) (*Relay, error) {
	r := &Relay{stop: make(chan struct{})}
	for a := failaware.NodeID(1); int(a) <= count; a++ {
		for b := failaware.NodeID(1); int(b) <= count; b++ {
			if a == b {
				continue
			}
			conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
			if err != nil {
				return nil, errors.Join(err, r.Close())
			}
			r.ends[a][b] = &end{relay: r, from: a, to: b, conn: conn, held: make(chan heldPacket, maxHeld)}
		}
	}
	for e := range r.all() {
		r.tasks.Go(e.carry)
		r.tasks.Go(e.carryLate)
	}
	return r, nil
}

// all yields the ends that are open.
func (r *Relay) all() iter.Seq[*end] {
	return func(yield func(*end) bool) {
		for a := range r.ends {
			for _, e := range r.ends[a] {
				if e != nil && !yield(e) {
					return
				}
			}
		}
	}
}

// Address returns the address through which from reaches to.
func (r *Relay) Address(from, to failaware.NodeID) netip.AddrPort {
	a := r.ends[from][to].conn.LocalAddr().(*net.UDPAddr).AddrPort()
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// SetHome sets the address at which a node listens; an invalid one means none.
func (r *Relay) SetHome(id failaware.NodeID, home netip.AddrPort) {
	if !home.IsValid() {
		r.homes[id].Store(nil)
		return
	}
	r.homes[id].Store(&home)
}

// Cut makes the relay drop, or stop dropping, the packets from one node to another.
func (r *Relay) Cut(from, to failaware.NodeID, cut bool) { r.ends[from][to].cut.Store(cut) }

// Slow delays the packets from one node to another by d from now on.
func (r *Relay) Slow(from, to failaware.NodeID, d time.Duration) {
	r.ends[from][to].delay.Store(int64(d))
}

// Link returns the faults and counts of the direction from one node to another.
func (r *Relay) Link(from, to failaware.NodeID) Link {
	e := r.ends[from][to]
	return Link{Cut: e.cut.Load(), Delay: time.Duration(e.delay.Load()),
		Carried: e.carried.Load(), Dropped: e.dropped.Load(), Waiting: e.waiting.Load()}
}

// Link is one direction between two nodes.
type Link struct {
	Cut     bool
	Delay   time.Duration // that the relay adds
	Carried uint64        // packets
	Dropped uint64        // packets: cut, without a receiver, beyond maxHeld, or from another sender
	Waiting uint64        // packets that are held back now
}

// Close ends the relay.
func (r *Relay) Close() error {
	close(r.stop)
	var errs []error
	for e := range r.all() {
		errs = append(errs, e.conn.Close())
	}
	r.tasks.Wait()
	return errors.Join(errs...)
}

// carry moves packets until the relay is closed.
func (e *end) carry() {
	buf := make([]byte, maxPacket+1)
	for {
		n, from, err := e.conn.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		home := e.relay.homes[e.from].Load()
		if err != nil || n > maxPacket || home == nil || from != *home || e.cut.Load() {
			e.dropped.Add(1)
			continue
		}
		delay := time.Duration(e.delay.Load())
		if delay <= 0 {
			e.deliver(buf[:n])
			continue
		}
		e.waiting.Add(1)
		select {
		case e.held <- heldPacket{time.Now().Add(delay), bytes.Clone(buf[:n])}:
		default:
			e.waiting.Add(^uint64(0))
			e.dropped.Add(1)
		}
	}
}

// carryLate delivers delayed packets. A link that is cut by then loses them.
func (e *end) carryLate() {
	for {
		select {
		case <-e.relay.stop:
			return
		case p := <-e.held:
			timer := time.NewTimer(time.Until(p.due))
			select {
			case <-e.relay.stop:
				timer.Stop()
				return
			case <-timer.C:
			}
			e.waiting.Add(^uint64(0))
			if e.cut.Load() {
				e.dropped.Add(1)
				continue
			}
			e.deliver(p.data)
		}
	}
}

// deliver forwards a packet, from the socket through which its receiver reaches its
// sender. A packet that cannot be sent is lost, as on any network.
func (e *end) deliver(data []byte) {
	home := e.relay.homes[e.to].Load()
	if home == nil {
		e.dropped.Add(1)
		return
	}
	if _, err := e.relay.ends[e.to][e.from].conn.WriteToUDPAddrPort(data, *home); err != nil {
		e.dropped.Add(1)
		return
	}
	e.carried.Add(1)
}
