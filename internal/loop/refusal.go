package loop

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// The reasons why packets do not count, for people.
const (
	refusedVersion   = "they have another version of the wire format than this node speaks"
	refusedMalformed = "they are not of this protocol, or are malformed"
	refusedDamaged   = "they are damaged on their way"
	refusedSealed    = "they are sealed, and this node has no keys"
	refusedUnsealed  = "they are not sealed, and this node has keys"
	refusedKey       = "they are sealed with a key that this node does not have"
	refusedForged    = "they are forged, or damaged on their way"
	refusedReplayed  = "they have come before"
	refusedLimited   = "there are too many of unknown processes"
	refusedInsecure  = "they come from beyond the loopback interface, and Insecure is off"
	refusedSettings  = "they have other settings"
	refusedEpoch     = "they have other settings, or are late ones of an earlier epoch"
	refusedOwnID     = "they have this node's id"
	refusedLeft      = "their sender has left for good"
	refusedOther     = "they are for a node with another id"
	refusedUnheard   = "none shows yet that their sender hears this node, or another process with its id is still heard"
	refusedClock     = "its clock and this node's clock contradict the drift bound, or it runs twice"
	refusedEmpty     = "they contradict earlier ones, or answer another process of this node"
)

// refusals are the reasons why the last packets from listed addresses did not count. The
// addresses of the list limit them, since anybody can send.
type refusals map[netip.AddrPort]refusal

type refusal struct {
	why     string
	at      timed.Instant
	version uint8      // of the packet, if it is why
	key     seal.KeyID // that the packet says it is sealed with, likewise
}

// text returns the reason for people, at a node with some keys.
func (x *refusal) text(keys []seal.KeyID) string {
	switch x.why {
	case refusedVersion:
		return fmt.Sprintf("%s: %d, and not %d to %d", x.why, x.version, wire.Oldest, wire.Version)
	case refusedKey:
		return fmt.Sprintf("%s: KeyFile has %v here and %v there", x.why, keys, []seal.KeyID{x.key})
	case refusedSealed:
		return fmt.Sprintf("%s: KeyFile is not set here and has %v there", x.why, []seal.KeyID{x.key})
	case refusedUnsealed:
		return fmt.Sprintf("%s: KeyFile has %v here and is not set there", x.why, keys)
	}
	return x.why
}

// maxUnopened bounds the addresses without an entry whose packets could not be opened. Anybody
// can send such packets, so they cause nothing but a line in the status.
const maxUnopened = 8

// keysDiffer reports whether a reason says that the keys of two nodes differ.
func keysDiffer(why string) bool {
	return why == refusedKey || why == refusedSealed || why == refusedUnsealed
}

// incompatible reports whether packets count again only when the keys or the build of one of
// the two nodes change. Other reasons come and go when nodes start, and when parts meet.
func (x *refusal) incompatible() bool { return x.why == refusedVersion || keysDiffer(x.why) }

// noteUnopened notes that a packet from an address that is not listed could not be opened.
func (r *routes) noteUnopened(from netip.AddrPort, x refusal) {
	if r.unopened == nil {
		r.unopened = refusals{}
	}
	if _, known := r.unopened[from]; !known && len(r.unopened) >= maxUnopened {
		maps.DeleteFunc(r.unopened, func(_ netip.AddrPort, old refusal) bool { return x.at.Sub(old.at) > mismatchPeriod })
		if len(r.unopened) >= maxUnopened {
			return
		}
	}
	r.unopened[from] = x
}

// refuse notes why a packet from an address did not count. An empty reason means that it
// did count.
func (r *routes) refuse(from netip.AddrPort, x refusal) {
	_, known := r.refusals[from]
	switch {
	case x.why == "":
		delete(r.refusals, from)
		delete(r.unopened, from)
	case known:
		r.refusals[from] = x
	case r.list != nil && slices.ContainsFunc(*r.list, func(e *peers.Entry) bool { return e.Addr == from }):
		if r.refusals == nil {
			r.refusals = refusals{}
		}
		r.refusals[from] = x
	case keysDiffer(x.why):
		r.noteUnopened(from, x)
	default:
		delete(r.unopened, from)
	}
}

// The reasons why packets do not count, in a few words.
const (
	ignoredSettings = "settings differ"
	ignoredKeys     = "keys differ"
	ignoredVersion  = "versions differ"
	ignoredOther    = "does not count"
)

// brief returns the reason in a few words.
func (x *refusal) brief() string {
	switch {
	case x.why == refusedVersion:
		return ignoredVersion
	case keysDiffer(x.why):
		return ignoredKeys
	case x.why == refusedSettings:
		return ignoredSettings
	}
	return ignoredOther
}

// fillRefused says in the status of a peer why packets from an address do not count, if some have
// come lately.
func (d *driver) fillRefused(p *PeerStatus, r refusals, from netip.AddrPort) {
	if x, ok := r[from]; ok && d.clock.now.Sub(x.at) <= mismatchPeriod {
		p.Refused, p.Incompatible, p.Ignored = x.text(d.opening.keys), x.incompatible(), x.brief()
	}
	if p.Mismatch != nil {
		p.Ignored = ignoredSettings
	}
}

// sendsTo reports whether packets to a known peer go to an address.
func (r *routes) sendsTo(addr netip.AddrPort) bool {
	for id := range r.known.All() {
		if r.to[id].Addr == addr {
			return true
		}
	}
	return false
}

// refusalOf returns why a packet with a verdict does not count, or "" if it does. The stack
// drops a packet with other constants of the model before the layers see it.
func (d *driver) refusalOf(k datagram.Kind, p *wire.Packet) string {
	if !p.SameModel(&d.cfg.Timing) {
		return refusedSettings
	}
	switch k {
	case datagram.Delivered, datagram.Accepted:
		return ""
	case datagram.Challenged:
		return refusedUnheard
	case datagram.Faulty, datagram.Twin:
		return refusedClock
	}
	return refusedEmpty
}
