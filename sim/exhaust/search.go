package exhaust

import (
	"context"
	"errors"
	"time"
)

// Report is the result of a search.
type Report struct {
	Roots       int    `json:"roots"`       // beginnings of paths
	States      int    `json:"states"`      // distinct, up to a shift of time
	Transitions uint64 `json:"transitions"` // ways from one state to a next one
	Turns       uint64 `json:"turns"`       // of nodes, those of the calm suffixes included
	Leaves      int    `json:"leaves"`      // distinct states at the full depth
	Suffixes    int    `json:"suffixes"`    // states from which all went on calmly until it was at rest
	// Depth is the number of messages on a path up to which every fate was explored.
	Depth int `json:"depth"`
	// Exhausted is true if that is the requested depth, and no promise was broken.
	Exhausted bool `json:"exhausted"`
	// Stopped is the reason that ended a search which is not exhausted: "violation",
	// "states" (their limit), "time" (the context's) or "interrupted".
	Stopped string `json:"stopped,omitempty"`
	// Layers counts the states by the number of messages whose fates were chosen before.
	Layers []int `json:"layers"`
	// Longest is the longest time from the start of a path to its leaf.
	Longest time.Duration `json:"longest_ns"`
	// WorstRest is the longest time from the last fault to one leader and one
	// up-to-date view of all; Bound is its bound by Timing.Validate.
	WorstRest time.Duration `json:"worst_rest_ns"`
	Bound     time.Duration `json:"bound_ns"`
	// Violation is the broken promise, or nil.
	Violation *Violation `json:"violation,omitempty"`
}

// Run explores all paths, breadth-first by the number of messages whose fate was
// chosen. When ctx is done it returns the results so far, without an error. The
// error is that of [Options.Validate], before anything is explored.
func Run(ctx context.Context, opt Options) (Report, error) {
	if err := opt.Validate(); err != nil {
		return Report{}, err
	}
	s := newSearch(opt.withDefaults())
	s.run(ctx)
	return s.report, nil
}

// search is one run. Waiting states are kept by depth, so that each is explored with the
// fewest messages first.
type search struct {
	opt    Options
	layers [][]*state
	seen   map[digest]uint8 // the least depth that a state was found at
	tree   []branch
	report Report
	buf    []byte
}

// branch is the first step that reached a state, so that paths can be printed.
type branch struct {
	from   uint32 // itself: a root
	choice uint32 // its index among the choices there
	root   uint16
}

func newSearch(opt Options) *search {
	s := &search{opt: opt, layers: make([][]*state, opt.Depth+1), seen: map[digest]uint8{}}
	s.report.Layers = make([]int, opt.Depth+1)
	bounds, _ := opt.Timing.Validate()
	s.report.Bound = bounds.View
	return s
}

// progressEvery is the number of states between two reports of progress.
const progressEvery = 512

func (s *search) run(ctx context.Context) {
	for i, root := range roots(s.opt) {
		s.report.Roots++
		first, bad := newWorld(s.opt, root).start()
		if bad != nil {
			s.violated(bad, &Path{Options: s.opt, Root: root})
			return
		}
		s.tree = append(s.tree, branch{uint32(len(s.tree)), 0, uint16(i)})
		first.index = uint32(len(s.tree) - 1)
		s.add(first)
	}
	for depth := range s.layers {
		for len(s.layers[depth]) > 0 {
			if err := ctx.Err(); err != nil {
				s.report.Stopped = "interrupted"
				if errors.Is(err, context.DeadlineExceeded) {
					s.report.Stopped = "time"
				}
				return
			}
			if s.report.States >= s.opt.States {
				s.report.Stopped = "states"
				return
			}
			last := len(s.layers[depth]) - 1
			st := s.layers[depth][last]
			s.layers[depth][last] = nil
			s.layers[depth] = s.layers[depth][:last]
			if !s.explore(st) {
				s.report.Stopped = "violation"
				return
			}
			if s.opt.Progress != nil && s.report.States%progressEvery == 0 {
				s.opt.Progress(s.progress(depth))
			}
		}
		s.report.Depth = depth
	}
	s.report.Exhausted = true
}

func (s *search) progress(depth int) Progress {
	p := Progress{Depth: depth, States: s.report.States}
	for _, l := range s.layers {
		p.Waiting += len(l)
	}
	return p
}

// add lets a state wait to be explored, unless it has been found before with as
// few messages.
func (s *search) add(st *state) bool {
	var key digest
	key, s.buf = st.digest(s.buf)
	if least, ok := s.seen[key]; ok && int(least) <= st.depth {
		return false
	}
	s.seen[key] = uint8(st.depth)
	s.layers[st.depth] = append(s.layers[st.depth], st)
	return true
}

// explore lets all that can happen next happen. It returns false on a violation.
func (s *search) explore(st *state) bool {
	var key digest
	if key, s.buf = st.digest(s.buf); int(s.seen[key]) < st.depth {
		return true // found again since, with fewer messages
	}
	r := &s.report
	r.States++
	r.Layers[st.depth]++
	r.Longest = max(r.Longest, st.world.since(st.tick))
	leaf := st.depth == s.opt.Depth
	if (leaf || st.last) && !s.opt.NoSuffix && !s.rests(st) {
		return false
	}
	if leaf {
		r.Leaves++
		return true
	}
	x := st.world.expand(st)
	for i := range x.outs {
		for j := range x.outs[i] {
			r.Turns += uint64(len(x.outs[i][j].claims) - 1)
		}
	}
	if x.bad != nil {
		p := s.pathTo(st.index)
		p.Choices = append(p.Choices, Choice{Outcomes: x.at})
		s.violated(x.bad, p)
		return false
	}
	n := uint32(0)
	for _, next := range x.choices() {
		r.Transitions++
		next.index = uint32(len(s.tree))
		if s.add(next) {
			s.tree = append(s.tree, branch{st.index, n, s.tree[st.index].root})
		}
		n++
	}
	return true
}

// rests lets a state go on calmly. It returns false on a violation.
func (s *search) rests(st *state) bool {
	r := &s.report
	took, turns, bad := st.world.rest(st)
	r.Suffixes++
	r.WorstRest = max(r.WorstRest, took)
	r.Turns += turns
	if bad != nil {
		s.violated(bad, s.pathTo(st.index))
	}
	return bad == nil
}

// violated ends the search.
func (s *search) violated(f *failure, p *Path) {
	s.report.Stopped = "violation"
	s.report.Violation = &Violation{Check: f.check, Node: int(f.node), Detail: f.detail, Path: *p}
	s.report.Violation.tell()
}
