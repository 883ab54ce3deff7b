package failaware

import (
	"net/netip"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware/internal/loop/statedir"
)

// keepEvery is how often the node compares the members that it hears with those on its disk.
const keepEvery = 2 * time.Second

// keptMembers are the members on the disk, which an earlier process or this one has heard.
type keptMembers struct {
	list  []statedir.Member
	alive Set   // when the list was last found to be right, or written
	err   error // why it could not be written
}

// readMembers returns the addresses at which an earlier process heard members: the nodes of
// Peers and Join may be gone.
func (n *Node) readMembers() (addrs []netip.AddrPort) {
	var err error
	if n.heard.list, err = n.state.ReadMembers(); err != nil {
		n.logLater(hclog.Warn, "the members that were kept do not count", "error", err)
	}
	for _, m := range n.heard.list {
		addrs = append(addrs, m.Addr)
	}
	return addrs
}

// keepMembers writes down which members the node hears, until it ends.
func (n *Node) keepMembers() {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		select {
		case <-n.done:
			return
		case <-tick.C:
		}
		if err := n.heard.update(n.loop.Snapshot().Alive, n.Status, n.state.KeepMembers); err != nil {
			n.logLater(hclog.Warn, "cannot keep the members in the state directory", "error", err)
		}
	}
}

// update writes the list if other peers are alive than before. A failed write is tried again,
// and its error is returned once.
func (k *keptMembers) update(alive Set, status func() Status, write func([]statedir.Member) error) error {
	if alive.Empty() || alive == k.alive {
		return nil
	}
	s := status()
	if s.Age < 0 {
		return nil // the loop does not say where they are
	}
	if list := mergeMembers(s.Peers, k.list); !slices.Equal(list, k.list) {
		told := k.err != nil
		if k.err = write(list); k.err != nil {
			if told {
				return nil
			}
			return k.err
		}
		k.list = list
	}
	k.alive = alive
	return nil
}

// mergeMembers returns the peers that are alive, followed by as many former ones as there
// is room for, because they may come back.
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
