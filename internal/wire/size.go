package wire

import (
	"fmt"
	"math"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

// MaxPacket is the default limit of a packet in bytes, header and body. With a
// seal and the headers of UDP and IPv6 a packet of this size fits the 1,280 bytes
// that every IPv6 path carries without fragments.
const MaxPacket = 1200

// MaxBroadcast is the limit of a packet with a broadcast frame in bytes, unless
// Encoder.MaxPacket is larger. One UDP datagram over IPv6 carries as much.
const MaxBroadcast = 65_000

// Bytes that a packet takes at most: without members, and for each member of its
// view.
const (
	maxPacketFixed = 654
	maxMember      = 32
)

// Usual is how many members a view may have that fits in a packet of [MaxPacket] bytes, even if each
// of them was alone before. Unusually large numbers take more room.
const Usual = 72

// PacketFor returns how many bytes hold every packet of a group of n nodes: all
// frames in one packet, every number as wide as possible, and every member from a
// view of its own whose leader is gone. Refusals travel by themselves. A request takes up to treeBytes more
// where replies are collated. Collated replies travel in small packets of their
// own, and so do reports of epochs, which take [reportFor] bytes.
func PacketFor(n int) int { return maxPacketFixed + n*maxMember }

// treeBytes is how many bytes the tree adds to a request at most.
const treeBytes = frameHead + 1 + 1 + 4*9

// maxCollated is how many bytes of replies one packet takes. With the header, the
// hello and the frame's other fields the packet stays within the smallest MaxPacket
// that a node can have.
const maxCollated = 1000

// Bytes that a reply takes at most in a collated frame: a reply that repeats the
// one before it, any other reply, and the stamp of a vote.
const (
	maxRepeated = 13
	maxRelayed  = 110
	maxStamp    = 18
)

// FitReplies returns how many of the replies, counted from the first, surely fit
// into one packet.
func FitReplies(replies []Relayed) int {
	room := maxCollated
	for i := range replies {
		r := &replies[i]
		need := maxRelayed
		if i > 0 && r.repeats(&replies[i-1]) {
			need = maxRepeated
		}
		if r.hasStamp() {
			need += maxStamp
		}
		if room -= need; room < 0 {
			return i
		}
	}
	return len(replies)
}

// maxVote bounds the bytes of a packet beside its epoch frame: header, hello, and
// the vote that the frame goes with.
const maxVote = 300

// maxStarts is the number of starts of a node up to which its reports surely fit.
// No state directory sees more.
const maxStarts = 1<<28 - 1

// reportFor returns how large MaxPacket must be at every node for a change of one
// quorum system to another, both given by their texts. The result is enough for
// any set of voters among the members.
func reportFor(system, next string, members timed.Set) int {
	s := epoch.State{Epoch: math.MaxUint64, System: system, Phase: epoch.Noted, Next: next,
		Edict: edict.Edict{Epoch: math.MaxUint64, Counter: math.MaxUint64}}
	for id := range members.All() {
		s.Edict.Stamps = append(s.Edict.Stamps, edict.Stamp{Node: id, Counter: maxStarts, Boot: math.MaxUint64, At: datagram.MaxStamp})
	}
	return maxVote + frameHead + len(epoch.Append(nil, &s))
}

// CheckChange returns an error if reports of a change of one quorum system to
// another do not fit into packets of maxPacket bytes.
func CheckChange(system, next string, maxPacket int) error {
	from, err := leader.ParseSystem(system)
	if err != nil {
		return err
	}
	if need := reportFor(system, next, from.Members()); need > maxPacket {
		return fmt.Errorf("a change to %q needs packets of %d bytes, and MaxPacket is %d", next, need, maxPacket)
	}
	return nil
}
