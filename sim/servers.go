package sim

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/timed"
)

// Servers are the external references of a world's time. UTC is true time there.
type Servers struct {
	// MinReferences is that of all nodes.
	MinReferences int
	List          []Server
}

// Server is a time server, which some nodes ask by exchanges of messages.
type Server struct {
	// Nodes are those that ask it.
	Nodes timed.Set
	// Every is the mean time between two questions of one node.
	Every time.Duration
	// MinDelay and Delay are the least and the largest delay of a message, either way.
	MinDelay, Delay time.Duration
	// Tail is the mean of what is added to each delay, by an exponential distribution or,
	// with an Index above 0, a Pareto distribution of shape 1/Index. Asymmetry is how much
	// of it goes from the answer's way to the question's: 1 is all, and −1 the reverse.
	Tail             time.Duration
	Index, Asymmetry float64
	// Loss is the probability that a message is lost, either way.
	Loss float64
	// Burst is how many questions a node asks at first, burstEvery apart.
	Burst int
	// Error is how far off the server says that it is at most, and Bias how far it
	// is while it tells the truth.
	Error, Bias time.Duration
	// Between From and Until it lies: by Shift, and by Ramp parts per billion of
	// the time since From.
	Shift       time.Duration
	Ramp        int64
	From, Until time.Duration
	// Between Silent and Back it does not answer.
	Silent, Back time.Duration
}

// Lies reports whether the server ever lies.
func (s *Server) Lies() bool { return s.Shift != 0 || s.Ramp != 0 }

// Outnumbered reports whether so few of the servers lie that nobody is ever
// deceived, whichever of them a partition hears.
func (s *Servers) Outnumbered() bool {
	liars := 0
	for i := range s.List {
		if s.List[i].Lies() {
			liars++
		}
	}
	return s.MinReferences > 2*liars
}

// spread is how far group time can be led astray, and so how long a message that
// is ordered by its stamp may have to wait for clocks that were not.
func (s *Servers) spread(run time.Duration) (most time.Duration) {
	if s.Outnumbered() {
		return 0
	}
	for i := range s.List {
		x := &s.List[i]
		most = max(most, x.Shift.Abs()+time.Duration(math.Abs(float64(x.Ramp))*float64(run)/1e9))
	}
	return 2 * most
}

// maxServers is how many servers a world has at most.
const maxServers = 32

// Validate reports servers that no world of so many nodes can have.
func (s *Servers) Validate(nodes int) error {
	switch {
	case s.MinReferences < 1 || s.MinReferences > maxServers:
		return fmt.Errorf("sim: servers: MinReferences %d is outside [1, %d]", s.MinReferences, maxServers)
	case len(s.List) > maxServers:
		return fmt.Errorf("sim: servers: %d are more than %d", len(s.List), maxServers)
	}
	for i := range s.List {
		if err := s.List[i].validate(nodes); err != nil {
			return fmt.Errorf("sim: server %d: %w", i+1, err)
		}
	}
	return nil
}

func (s *Server) validate(nodes int) error {
	switch {
	case s.Nodes.Empty():
		return errors.New("field Nodes: nobody asks it")
	case s.Every < leastEvery || s.Every > MaxDuration:
		return fmt.Errorf("field Every: %v is outside [%v, %v]", s.Every, leastEvery, MaxDuration)
	case s.MinDelay < 0 || s.MinDelay > s.Delay:
		return fmt.Errorf("field MinDelay: %v is outside [0, Delay]", s.MinDelay)
	case s.Tail < 0 || s.Tail > timed.MaxDuration:
		return fmt.Errorf("field Tail: %v is outside [0, %v]", s.Tail, timed.MaxDuration)
	case validTail(s.Index) != nil:
		return fmt.Errorf("field Index: %w", validTail(s.Index))
	case !(s.Asymmetry >= -1 && s.Asymmetry <= 1):
		return fmt.Errorf("field Asymmetry: %v is outside [-1, 1]", s.Asymmetry)
	case !(s.Loss >= 0 && s.Loss <= 1):
		return fmt.Errorf("field Loss: %v is outside [0, 1]", s.Loss)
	case s.Burst < 0 || s.Burst > maxBurst:
		return fmt.Errorf("field Burst: %d is outside [0, %d]", s.Burst, maxBurst)
	case s.Delay < 0 || s.Delay > timed.MaxDuration:
		return fmt.Errorf("field Delay: %v is outside [0, %v]", s.Delay, timed.MaxDuration)
	case s.Error < 0 || s.Error > timed.MaxDuration:
		return fmt.Errorf("field Error: %v is outside [0, %v]", s.Error, timed.MaxDuration)
	case s.Bias.Abs() > s.Error:
		return fmt.Errorf("field Bias: %v is more than Error %v", s.Bias, s.Error)
	case s.Shift.Abs() > timed.MaxDuration:
		return fmt.Errorf("field Shift: %v is outside ±%v", s.Shift, timed.MaxDuration)
	case s.Ramp < -maxRate || s.Ramp > maxRate:
		return fmt.Errorf("field Ramp: %d ppb is outside ±%d", s.Ramp, int64(maxRate))
	}
	for id := range s.Nodes.All() {
		if int(id) > nodes {
			return fmt.Errorf("field Nodes: %d: must be 1 to %d", id, nodes)
		}
	}
	return nil
}

const (
	maxBurst   = 16
	burstEvery = 2 * time.Second
)

// leastEvery is the shortest mean time between two questions.
const leastEvery = 200 * time.Millisecond

// Shares of seeds.
const (
	serverSeeds   = 0.1 // have external references
	honestWorlds  = 0.4 // of them, have no liar
	minorityLies  = 0.4 // have liars that are too few to deceive anybody
	silentServers = 0.3 // of the servers fail for some time
	rampingLiars  = 0.4 // of the liars run off slowly
)

// servers draws the external references of a seed.
func (f *forecaster) servers() *Servers {
	s := random.New(f.seed, random.Servers)
	switch o := f.opt.Servers; {
	case f.opt.Bare:
		return nil // nobody asks them
	case o != nil && len(o.List) > 0:
		return o
	case o == nil && (f.opt.Calm || !s.Chance(serverSeeds)):
		return nil
	}
	out, liars, n := &Servers{MinReferences: 1}, 0, int(s.Between(1, 7))
	switch kind := s.Unit(); {
	case kind < honestWorlds:
	case kind < honestWorlds+minorityLies:
		n = max(n, 3)
		liars = int(s.Between(1, int64(n-1)/2))
		out.MinReferences = 2*liars + 1
	default:
		liars = int(s.Between(1, int64(n)))
	}
	for i := range n {
		out.List = append(out.List, f.server(s, i < liars))
	}
	out.worsen(random.New(f.seed, random.Tails))
	return out
}

// worsen gives some servers worse ways: delays with tails, mostly unlike for
// questions and answers, and losses.
func (s *Servers) worsen(r random.Stream) {
	for i := range s.List {
		if x := &s.List[i]; r.Chance(tailedServers) {
			x.Tail, x.Index = time.Duration(r.LogUniform(1e4, 1e7)), r.Index()
			x.Asymmetry, x.Loss = 2*r.Unit()-1, r.Unit()/2
		}
	}
}

func (f *forecaster) server(s random.Stream, lies bool) Server {
	x := Server{Every: time.Duration(s.LogUniform(0.2, 3) * float64(time.Second)),
		Delay: time.Duration(s.LogUniform(20e3, 20e6)), Error: time.Duration(s.LogUniform(1e3, 5e6))}
	x.Bias = time.Duration((2*s.Unit() - 1) * float64(x.Error))
	some := s.Unit()
	for id := range f.all.All() {
		if s.Chance(some) {
			x.Nodes.Add(id)
		}
	}
	if x.Nodes.Empty() {
		x.Nodes.Add(timed.NodeID(1 + s.Below(int64(f.opt.Nodes))))
	}
	some = float64(f.opt.Duration)
	if s.Chance(silentServers) {
		x.Silent = time.Duration(s.Unit() * some)
		x.Back = x.Silent + time.Duration(s.Unit()*some/2)
	}
	if lies {
		sign := 1 - 2*s.Below(2)
		x.From = time.Duration(s.Unit() * some / 2)
		x.Until = x.From + time.Duration(s.Unit()*some)
		if s.Chance(rampingLiars) {
			x.Ramp = sign * int64(s.LogUniform(1e3, 3e7))
		} else {
			x.Shift = time.Duration(float64(sign) * s.LogUniform(1e5, 2e10))
		}
	}
	return x
}
