package exhaust

import (
	"encoding/binary"
	"slices"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

// nodeState is one node between two turns. It is immutable.
type nodeState struct {
	img    *image
	turn   int64 // the tick of its last turn, when the image was taken
	due    int64 // the tick at which its timer is due
	asleep int64 // it is stalled before this tick
	boots  uint8 // the number of restarts
	on     clocksync.TimelineID
	claims *claims // after its last turn, without the alive peers, which time changes
}

// state is the world before anything happens at a tick. All that it refers to is
// immutable and shared with other states.
type state struct {
	world *world
	tick  int64
	nodes []nodeState // by id, less one
	air   []flight    // in order of arrival
	lines []clocksync.Line

	depth   int // messages whose fate was chosen
	faults  uint8
	crashes uint8
	stalls  uint8
	resigns uint8
	last    bool // the last fault that may happen led here

	index uint32 // in the tree of paths
}

// next returns the tick at which something happens next.
func (s *state) next() int64 {
	at := int64(forever)
	for i := range s.nodes {
		n := &s.nodes[i]
		at = min(at, max(n.due, n.asleep))
	}
	for i := range s.air {
		f := &s.air[i]
		at = min(at, max(f.arrives, s.nodes[f.packet.Header.Destination-1].asleep))
	}
	return at
}

// timeline returns the line of a timeline that a node is on or may hear of.
func (s *state) timeline(id clocksync.TimelineID) *clocksync.Line {
	for i := range s.lines {
		if s.lines[i].Timeline == id {
			return &s.lines[i]
		}
	}
	return nil
}

// endTick finishes a state after all events of its tick: it sorts flights, forgets
// timelines that no node can adopt any more, and moves time to the next event.
func (s *state) endTick() {
	slices.SortFunc(s.air, flight.order)
	lines := s.lines
	s.lines = nil
	for _, l := range lines {
		if s.refersTo(l.Timeline) {
			s.lines = append(s.lines, l)
		}
	}
	s.tick = s.next()
}

func (s *state) refersTo(id clocksync.TimelineID) bool {
	for i := range s.nodes {
		if s.nodes[i].on == id {
			return true
		}
	}
	for i := range s.air {
		if s.air[i].packet.Line.Timeline == id {
			return true
		}
	}
	return false
}

// digest returns the same for states that are the same up to a shift of time,
// and in which as much of the budgets is left.
func (s *state) digest(buf []byte) (digest, []byte) {
	b := buf[:0]
	for _, r := range s.world.root.Rates {
		b = binary.AppendVarint(b, r)
	}
	b = append(b, s.faults, s.crashes, s.stalls, s.resigns)
	common := s.nodes[0].img.shown // the origin of group times
	for i := range s.nodes {
		n := &s.nodes[i]
		b = append(b, n.img.hash[:]...)
		b = binary.AppendVarint(b, s.tick-n.turn)
		b = binary.AppendVarint(b, max(n.asleep-s.tick, 0))
		b = append(b, n.boots)
		b = binary.AppendVarint(b, int64(n.img.shown-common))
	}
	for i := range s.air {
		f := &s.air[i]
		b = append(b, f.hash[:]...)
		b = binary.AppendVarint(b, s.tick-f.sent)
		b = binary.AppendVarint(b, f.arrives-s.tick)
		if f.shown != 0 {
			b = binary.AppendVarint(b, int64(f.shown-common))
		}
	}
	for i := range s.lines {
		l := &s.lines[i]
		b = append(b, byte(l.Timeline.Leader))
		b = binary.AppendUvarint(b, uint64(l.Timeline.Boot))
		b = binary.AppendUvarint(b, l.Timeline.Sequence)
		b = binary.AppendVarint(b, l.Rate)
		b = binary.AppendVarint(b, int64(s.world.shows(l, s.tick)-common))
	}
	return digestOf(b), b
}

// spent reports whether nothing more may go wrong, with bounded faults.
func (s *state) spent() bool {
	o := &s.world.opt
	return o.Faults > 0 && int(s.faults) >= o.Faults && int(s.crashes) >= o.Crashes && int(s.stalls) >= o.Stalls && int(s.resigns) >= o.Resigns
}

// node returns the state of a node.
func (s *state) node(id timed.NodeID) *nodeState { return &s.nodes[id-1] }
