package loop

import (
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// gone are the incarnations that have left for good. Nothing goes to such a node any more,
// even if it is listed or introduced, until another incarnation of it sends something.
type gone [timed.MaxNodes + 1]timed.BootID

// left reports whether a packet is a late one of an incarnation that has left for good.
func (g *gone) left(h *datagram.Header) bool { return g[h.Source] != 0 && g[h.Source] == h.Boot }

// introduced reports whether a member that a peer introduces has left for good.
func (g *gone) introduced(m *wire.Member) bool { return g[m.Node] != 0 }

// forgetGone forgets the peers that have left for good, once they are silent: until then
// they need answers to be able to leave.
func (d *driver) forgetGone() {
	for id := range d.routes.known.All() {
		if d.routes.gone[id] == 0 || d.pub.current.Alive.Has(id) {
			continue
		}
		d.routes.remove(id)
		if d.stack != nil {
			d.stack.RemovePeer(d.clock.now, id)
		}
	}
}
