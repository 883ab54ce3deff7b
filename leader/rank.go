package leader

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/internal/enum"
	"github.com/failaware/failaware/timed"
)

// Mode chooses between two specifications that contradict each other when
// connectivity is not transitive.
type Mode uint8

const (
	// Available (the default) leads every process: a process that follows a leader
	// out of the candidate's hearing does not block the candidate.
	Available Mode = iota
	// Strict keeps BI: a candidate leads only if every process that it hears
	// supports it.
	Strict
)

func (m Mode) String() string {
	return enum.Named("mode", m, "available", "strict")
}

// MarshalText returns the text of [Mode.String].
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads the text of [Mode.String].
func (m *Mode) UnmarshalText(text []byte) error { return enum.Unmarshal(m, text, Strict) }

// ParseMode reads the name of a mode: available or strict.
func ParseMode(s string) (Mode, error) {
	switch s {
	case "available":
		return Available, nil
	case "strict":
		return Strict, nil
	}
	return 0, fmt.Errorf("mode %q is neither available nor strict", s)
}

// RankBy chooses the total order of candidates.
type RankBy uint8

const (
	// Stable (the default): leaders before others, then the larger support set,
	// then the larger weight, then the smaller id. A newcomer never deposes a
	// leader, and of two merging partitions the larger keeps its leader.
	Stable RankBy = iota
	// ByID: the larger weight, then the smaller id. In the paper all weights are
	// the same.
	ByID
)

func (r RankBy) String() string {
	return enum.Named("rank", r, "stable", "id")
}

// MarshalText returns the text of [RankBy.String].
func (r RankBy) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the text of [RankBy.String].
func (r *RankBy) UnmarshalText(text []byte) error { return enum.Unmarshal(r, text, ByID) }

// ParseRankBy reads the name of a ranking: stable or id.
func ParseRankBy(s string) (RankBy, error) {
	switch s {
	case "stable":
		return Stable, nil
	case "id":
		return ByID, nil
	}
	return 0, fmt.Errorf("rank %q is neither id nor stable", s)
}

// State is a node's report about itself in every packet: its rank, the node that it is
// locked to, and the longest vote that it gives.
type State struct {
	Leading   bool   // it leads
	Contender bool   // it may become leader
	Global    bool   // it leads globally
	Named     bool   // a leader that resigned has named it as its successor
	Quorate   bool   // it hears a quorum, itself included, and so may lead globally
	Late      bool   // it acts later than it should: its silence, and that of others to it, may be its own fault
	Support   uint8  // size of its support set while it leads
	Weight    uint16 // configured preference; larger is preferred
	LockedTo  timed.Incarnation
	MaxLock   time.Duration // the longest vote that it gives
}

// rank is a place in the total order of candidates: the larger one comes first.
type rank uint64

// Bits of a rank above those of the weight and of the size of the support set.
const (
	rankNamed   rank = 1 << 24 // below all leaders
	rankLeads   rank = 1 << 32
	rankQuorate rank = 1 << 33
	rankGlobal  rank = 1 << 34
)

// rank returns the rank of a candidate. The most important bits are the highest.
func (r RankBy) rank(id timed.NodeID, leading bool, support uint8, weight uint16) rank {
	k := rank(weight)<<8 | rank(timed.MaxNodes-id)
	if r == Stable && leading {
		k |= rankLeads | rank(support)<<24
	}
	return k
}

// standing returns the bits that a rank gains from being the global leader, a named
// successor, or one that may lead globally. In both rankings the node that holds a quorum
// keeps it: deposing it would make the group wait for another election. A leader that
// cannot lead globally must not block the nodes that can: where links are missing, it would
// keep the votes of nodes that hear both.
func standing(global, leading, named, quorate bool) (k rank) {
	switch {
	case global:
		k = rankGlobal
	case named && !leading:
		k = rankNamed
	}
	if quorate {
		k |= rankQuorate
	}
	return k
}
