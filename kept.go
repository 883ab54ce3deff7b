package failaware

import (
	"net/netip"
	"slices"
	"time"

	"github.com/failaware/failaware/internal/loop/statedir"
)

// keepEvery is how often the node compares the members that it hears with those on its disk.
const keepEvery = 2 * time.Second

// readMembers returns the addresses at which an earlier process heard members, for the
// seeds of the configuration may be gone.
func (n *Node) readMembers() (addrs []netip.AddrPort) {
	var err error
	if n.heard, err = n.state.ReadMembers(); err != nil {
		n.log.Warn("the members that were kept do not count", "error", err)
	}
	for _, m := range n.heard {
		addrs = append(addrs, m.Addr)
	}
	return addrs
}

// keepMembers writes down which members the node hears, until it ends.
func (n *Node) keepMembers() {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	var last Set
	for {
		select {
		case <-n.done:
			return
		case <-tick.C:
		}
		alive := n.loop.Snapshot().Alive
		if alive.Empty() || alive == last {
			continue
		}
		last = alive
		list := mergeMembers(n.Status().Peers, n.heard)
		if slices.Equal(list, n.heard) {
			continue
		}
		if err := n.state.KeepMembers(list); err != nil {
			n.log.Warn("cannot keep the members in the state directory", "error", err)
			continue
		}
		n.heard = list
	}
}

// mergeMembers returns the peers that are alive, and then the former ones, which may come
// back, as far as there is room.
func mergeMembers(peers []PeerStatus, former []statedir.Member) (list []statedir.Member) {
	for i := range peers {
		if p := &peers[i]; p.Alive && p.Addr.IsValid() {
			list = append(list, statedir.Member{ID: p.ID, Addr: p.Addr})
		}
	}
	for _, m := range former {
		if !slices.ContainsFunc(list, func(x statedir.Member) bool { return x.ID == m.ID || x.Addr == m.Addr }) {
			list = append(list, m)
		}
	}
	return list[:min(len(list), statedir.MaxMembers)]
}
