package wire

import (
	"encoding/binary"
	"math"
	"net/netip"

	"github.com/failaware/failaware/timed"
)

// Member is a node that the sender of a packet hears, and the address that it hears it
// at. Members introduce members, so that a new node needs to know only one of them.
type Member struct {
	Node timed.NodeID
	Addr netip.AddrPort
}

// MaxMembers is how many members one packet introduces at most.
const MaxMembers = 16

// A members frame is an array of arrays of a node, the port, and the two halves of the
// address in the form of IPv6.
const memberFrameLen = 4

// introductionFrames writes the frames by which nodes get to know each other.
func (w *writer) introductionFrames(p *Packet) {
	if p.Has(FrameMembers) {
		w.memberFrame(p.Members)
	}
	if p.Has(FrameLabels) {
		w.labels(p.Labels)
	}
	if p.Has(FrameUsed) {
		w.used(p.Used)
	}
}

func (w *writer) memberFrame(members []Member) {
	w.open(typeMembers, len(members))
	if len(members) == 0 || len(members) > MaxMembers {
		w.fail(ErrLength)
		return
	}
	for i := range members {
		m := &members[i]
		if !m.introducible() {
			w.fail(ErrRange)
			return
		}
		ip := m.Addr.Addr().As16()
		w.array(memberFrameLen)
		w.uint(uint64(m.Node), 1, timed.MaxNodes)
		w.uint(uint64(m.Addr.Port()), 1, math.MaxUint16)
		w.uint(binary.BigEndian.Uint64(ip[:8]), 0, math.MaxUint64)
		w.uint(binary.BigEndian.Uint64(ip[8:]), 0, math.MaxUint64)
	}
	w.close()
}

func (r *reader) memberFrame(out []Member) []Member {
	for range r.array(1, MaxMembers) {
		r.array(memberFrameLen, memberFrameLen)
		m := Member{Node: timed.NodeID(r.uint(1, timed.MaxNodes))}
		port := uint16(r.uint(1, math.MaxUint16))
		var ip [16]byte
		binary.BigEndian.PutUint64(ip[:8], r.uint(0, math.MaxUint64))
		binary.BigEndian.PutUint64(ip[8:], r.uint(0, math.MaxUint64))
		m.Addr = netip.AddrPortFrom(netip.AddrFrom16(ip).Unmap(), port)
		if r.err == nil && !m.introducible() {
			r.fail(ErrRange)
		}
		if r.err != nil {
			return nil
		}
		out = append(out, m)
	}
	return out
}

// introducible reports whether a member can be introduced: zones mean nothing at another
// host, and nobody receives at a multicast or unspecified address.
func (m *Member) introducible() bool {
	a := m.Addr.Addr()
	return m.Node.Valid() && m.Addr.Port() != 0 && a.IsValid() && a.Zone() == "" && a == a.Unmap() && !a.IsMulticast() && !a.IsUnspecified()
}
