package loop

import (
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

// voters are the peers whose votes for this node have been stamped with a number of starts.
// They outlast the incarnations of this node.
type voters map[timed.NodeID]*voter

// voter is what the stamps of a peer's votes have said.
type voter struct {
	boot   timed.BootID
	starts uint64 // of boot; 0: nothing counts them
	forgot bool   // the number has not grown from one incarnation to the next
}

// note takes the stamp of a vote, and reports whether the voter knows less than an earlier
// incarnation of it, and what that one had counted. Each start is counted on the disk before the
// first packet leaves.
func (l voters) note(by timed.Incarnation, starts uint64) (before uint64, forgot bool) {
	v := l[by.Node]
	if v == nil {
		v = &voter{boot: by.Boot, starts: starts}
		l[by.Node] = v
	}
	if v.boot == by.Boot {
		return 0, false
	}
	before, forgot = v.starts, v.starts > 0 && starts <= v.starts
	v.boot, v.starts, v.forgot = by.Boot, starts, v.forgot || forgot
	return before, forgot
}

// enter forgets those that have no vote in an epoch that begins: what they had promised is not
// asked for any more, and under their ids others may come.
func (l voters) enter(s *epoch.State) {
	system, err := leader.ParseSystem(s.System)
	if err != nil {
		return
	}
	for id := range l {
		if !system.Members().Has(id) {
			delete(l, id)
		}
	}
}

// noteVotes looks at the stamps of the votes in a packet that the stack has taken.
func (d *driver) noteVotes(p *wire.Packet) {
	if p.Has(wire.FrameReply) && p.Reply.Support && p.Has(wire.FrameStamp) {
		d.noteVote(timed.Incarnation{Node: p.Header.Source, Boot: p.Header.Boot}, p.Stamp.Counter)
	}
	if !p.Has(wire.FrameCollated) {
		return
	}
	for i := range p.Collated.Replies {
		r := &p.Collated.Replies[i]
		if r.Reply.Stamp.At != 0 && d.stack.Datagram().Boot(r.Voter.Node) == r.Voter.Boot {
			d.noteVote(r.Voter, r.Reply.Stamp.Counter)
		}
	}
}

// noteVote takes the stamp of a vote. A voter that has lost its state directory, or has got an
// older copy back, has forgotten its promises, and cannot know that.
func (d *driver) noteVote(by timed.Incarnation, starts uint64) {
	if d.voters == nil {
		d.voters = voters{}
	}
	if before, forgot := d.voters.note(by, starts); forgot {
		d.note(&stack.Event{Kind: stack.EventPeerForgot, Peer: by.Node, Boot: by.Boot, Starts: starts, Before: before})
	}
}

// forgot reports whether a peer has forgotten promises, as far as its votes tell.
func (d *driver) forgot(id timed.NodeID) bool {
	v := d.voters[id]
	return v != nil && v.forgot
}
