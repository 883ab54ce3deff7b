package bench

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/failaware/failaware/timed"
)

// tap is an attacker on the path between two nodes: it forwards their packets and keeps
// some of those that it has read.
type tap struct {
	ends [2]end
	mu   sync.Mutex
	kept [2][][]byte // that came at each end
	seen [2]int
}

// end is what one of the two nodes takes for the other one.
type end struct {
	id   timed.NodeID
	conn *net.UDPConn
	node netip.AddrPort
}

const tapKeeps = 4096

// open puts a tap between two nodes of a group that do not know each other yet.
func (t *tap) open(g *group, a, b timed.NodeID) error {
	for i, id := range []timed.NodeID{a, b} {
		at, err := g.address(id)
		if err != nil {
			return err
		}
		conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
		if err != nil {
			return err
		}
		t.ends[i] = end{id, conn, at}
	}
	for i := range t.ends {
		go t.forward(i)
	}
	return nil
}

// between replaces, in the addresses for one of the two nodes, that of the other one.
func (t *tap) between(id timed.NodeID, list []address) {
	i := slices.IndexFunc(t.ends[:], func(e end) bool { return e.id == id })
	if i < 0 {
		return
	}
	for k := range list {
		if list[k].ID == t.ends[1-i].id {
			list[k].Addr = t.ends[i].conn.LocalAddr().String()
		}
	}
}

// forward forwards the packets that arrive at end i to the other node.
func (t *tap) forward(i int) {
	from, to := &t.ends[i], &t.ends[1-i]
	b := make([]byte, 1<<16)
	for {
		n, _, err := from.conn.ReadFromUDPAddrPort(b)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil || n == 0 {
			continue
		}
		t.keep(1-i, b[:n])
		_, _ = to.conn.WriteToUDPAddrPort(b[:n], to.node) // a lost packet is one of many
	}
}

// keep keeps a packet to a node, in the place of another one if there are many.
func (t *tap) keep(to int, b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := bytes.Clone(b)
	if t.seen[to]++; len(t.kept[to]) < tapKeeps {
		t.kept[to] = append(t.kept[to], x)
		return
	}
	t.kept[to][t.seen[to]%tapKeeps] = x
}

// pick returns one of the packets to a node, or nil if there was none.
func (t *tap) pick(to timed.NodeID) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.kept[0]
	if t.ends[1].id == to {
		kept = t.kept[1]
	}
	if len(kept) == 0 {
		return nil
	}
	return kept[rand.IntN(len(kept))]
}

func (t *tap) close() {
	for i := range t.ends {
		if c := t.ends[i].conn; c != nil {
			_ = c.Close()
		}
	}
}
