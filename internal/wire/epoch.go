package wire

import (
	"fmt"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

// An epoch frame is an array of one value: the bytes of a state, as package epoch
// writes them.
const epochLen = 1

func (w *writer) epoch(s *epoch.State) {
	w.open(wireEpoch, epochLen)
	if s == nil {
		w.fail(ErrEpoch)
		return
	}
	b := epoch.Append(nil, s)
	if _, err := epoch.Decode(b); err != nil {
		w.fail(ErrEpoch)
		return
	}
	w.bytes(b)
	w.close()
}

func (r *reader) epoch() *epoch.State {
	r.array(epochLen, epochLen)
	b := r.bytes()
	if r.err != nil {
		return nil
	}
	s, err := epoch.Decode(b)
	if err != nil {
		r.fail(ErrEpoch)
		return nil
	}
	return &s
}

// replyMost is how many bytes a packet takes at most beside an epoch frame: header,
// hello, and the vote that the frame goes with. It is rounded up.
const replyMost = 300

// widestCount is the number of incarnations of a node for which reports are sure to
// fit: more starts than any state directory sees.
const widestCount = 1<<28 - 1

// ReportFor returns how large a MaxPacket must be at every node for a change of one
// quorum system to another, given by their texts, whoever of the members votes on it.
func ReportFor(system, next string, members timed.Set) int {
	s := epoch.State{Epoch: anyUint, System: system, Phase: epoch.Noted, Next: next,
		Edict: edict.Edict{Epoch: anyUint, Counter: anyUint}}
	for id := range members.All() {
		s.Edict.Stamps = append(s.Edict.Stamps, edict.Stamp{Node: id, Counter: widestCount, Boot: anyUint, At: datagram.MaxStamp})
	}
	return replyMost + frameHead + len(epoch.Append(nil, &s))
}

// CheckChange returns an error if reports of a change would not fit into packets
// of so many bytes.
func CheckChange(system, next string, maxPacket int) error {
	from, err := leader.ParseSystem(system)
	if err != nil {
		return err
	}
	if need := ReportFor(system, next, from.Members()); need > maxPacket {
		return fmt.Errorf("a change to %q needs packets of %d bytes, and MaxPacket is %d", next, need, maxPacket)
	}
	return nil
}
