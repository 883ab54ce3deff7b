package loop

import (
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/admit"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// opening opens sealed packets. Without keys, all fields are nil or empty.
type opening struct {
	keys     []seal.KeyID // the one that seals first
	opener   *seal.Opener
	windows  *admit.Windows
	foreign  *admit.Windows // of the packets of other groups
	attempts admit.Attempts
	rings    [timed.MaxNodes + 1]ringIDs // of the peers, by their latest packets
}

// ringIDs are the ids of the keys that a peer has, the one that seals first; 0 is none.
type ringIDs [seal.MaxKeys]seal.KeyID

// list returns the ids that are there.
func (r *ringIDs) list() (ids []seal.KeyID) {
	for _, id := range r {
		if id != 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// takeRing adopts a ring of keys. Packets that have come count as before, so that none
// comes again under another key.
func (d *driver) takeRing(r *seal.Ring) {
	if r == nil {
		return
	}
	d.out.takeRing(r)
	d.opening.keys, d.opening.opener = r.IDs(), seal.NewOpener(r)
	if d.opening.windows == nil {
		d.opening.windows, d.opening.foreign = new(admit.Windows), new(admit.Windows)
	}
}

// open returns the frames of a packet whose header is right, or why it is refused.
func (d *driver) open(pkt *udp.Packet, h *datagram.Header) (frames []byte, refused string) {
	if d.opening.opener != nil {
		return d.openSealed(pkt, h)
	}
	switch {
	case h.Suite != wire.SuiteNone:
		d.count.sealed++
		return nil, refusedSealed
	case !d.l.cfg.Insecure && !pkt.Addr.Addr().IsLoopback():
		d.count.insecure++
		return nil, refusedInsecure
	}
	frames, err := wire.Unsealed(pkt.Buf[:pkt.N])
	if err != nil {
		d.count.damaged++
		return nil, refusedDamaged
	}
	return frames, ""
}

// openSealed opens a packet, cheapest test first. It drops forged and repeated
// packets in silence.
func (d *driver) openSealed(pkt *udp.Packet, h *datagram.Header) (frames []byte, refused string) {
	o, from := &d.opening, originOf(h)
	switch {
	case h.Suite == wire.SuiteNone:
		d.count.unsealed++
		return nil, refusedUnsealed
	case !o.opener.Has(from.Key):
		d.count.key++
		return nil, refusedKey
	case !o.opener.Knows(from, h.Counter) && !o.attempts.Allow(d.clock.now, h.Source, pkt.Addr == d.routes.to[h.Source].Addr):
		d.count.limited++
		return nil, refusedLimited
	}
	accepted := d.accepted(h.Source)
	frames, others, err := o.frames(pkt.Buf[:pkt.N], h, from)
	switch {
	case err != nil:
		d.count.forged++
		return nil, refusedForged
	case !o.windows.Take(timed.Incarnation{Node: h.Source, Boot: h.Boot}, h.Counter, accepted):
		d.count.replayed++
		return nil, refusedReplayed
	}
	o.opener.Keep(uint64(accepted))
	if h.Boot == accepted || !d.pub.current.Alive.Has(h.Source) { // others may be recordings
		o.rings[h.Source] = ringIDs{from.Key, others[0], others[1]}
	}
	return frames, ""
}

// accepted returns the incarnation of a peer whose packets count, or 0.
func (d *driver) accepted(id timed.NodeID) timed.BootID {
	if d.stack == nil {
		return 0
	}
	return d.stack.Datagram().Boot(id)
}

// frames opens a packet.
func (o *opening) frames(b []byte, h *datagram.Header, from seal.Origin) ([]byte, [seal.MaxKeys - 1]seal.KeyID, error) {
	if h.Suite == wire.SuiteSharing {
		return o.opener.OpenSharing(b, wire.HeaderSize, from, h.Counter)
	}
	return o.opener.Open(b, wire.HeaderSize, from, h.Counter)
}

func originOf(h *datagram.Header) seal.Origin {
	return seal.Origin{Source: uint8(h.Source), Boot: uint64(h.Boot), Key: seal.KeyID(h.KeyID)}
}

// authentic returns the frames of a packet of another group, if it is authentic as far as
// this node can tell, and has not come before. It takes no other notice of the packet.
func (d *driver) authentic(pkt *udp.Packet, h *datagram.Header) (frames []byte, ok bool) {
	b, o := pkt.Buf[:pkt.N], &d.opening
	switch {
	case o.opener == nil && h.Suite == wire.SuiteNone && (d.l.cfg.Insecure || pkt.Addr.Addr().IsLoopback()):
		frames, err := wire.Unsealed(b)
		return frames, err == nil
	case o.opener == nil || h.Suite == wire.SuiteNone || !o.attempts.AllowForeign(d.clock.now):
		return nil, false
	}
	frames, _, err := o.frames(b, h, originOf(h))
	return frames, err == nil && o.foreign.Take(timed.Incarnation{Node: h.Source, Boot: h.Boot}, h.Counter, 0)
}
