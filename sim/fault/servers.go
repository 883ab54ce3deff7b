package fault

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/timed"
)

// Servers are the external references of a world's time. Without a leap second, UTC is true
// time there.
type Servers struct {
	// MinReferences is the setting of all nodes.
	MinReferences int      `json:"min_references"`
	List          []Server `json:"list"`
	// Ahead is by how much the wall clocks of machines are ahead when processes start.
	Ahead time.Duration `json:"ahead,omitzero"`
	// Settled, if not 0, is the time after which one leader has heard all servers, of which
	// most tell the truth, and stays. Then the falsetickers deceive nobody, even when the
	// others fall silent.
	Settled time.Duration `json:"settled,omitzero"`
	// Leap, if not nil, is a leap second.
	Leap *LeapSecond `json:"leap,omitzero"`
}

// Server is a time server. Nodes query it by exchanges of messages.
type Server struct {
	// Nodes are its clients.
	Nodes timed.Set `json:"nodes"`
	// Every is the mean time between two queries of a node.
	Every time.Duration `json:"every"`
	// MinDelay and Delay are the least and the largest delay of a message, either way.
	MinDelay time.Duration `json:"min_delay,omitzero"`
	Delay    time.Duration `json:"delay"`
	// Tail is the mean of a random addition to each delay: of an exponential distribution
	// or, with an Index above 0, a Pareto distribution of shape 1/Index. Asymmetry is
	// the share of it that moves from answers to queries: 1 is all, −1 the reverse.
	Tail      time.Duration `json:"tail,omitzero"`
	Index     float64       `json:"tail_index,omitempty"`
	Asymmetry float64       `json:"asymmetry,omitempty"`
	// Loss is the probability that a message is lost, either way.
	Loss float64 `json:"loss,omitempty"`
	// Burst is the number of queries of a node at first, BurstEvery apart.
	Burst int `json:"burst,omitempty"`
	// Error is the largest error that the server claims, and Bias its error while it
	// tells the truth.
	Error time.Duration `json:"error"`
	Bias  time.Duration `json:"bias"`
	// Between From and Until it is a falseticker: off by Shift, and by Ramp parts per
	// billion of the time since From.
	Shift time.Duration `json:"shift,omitzero"`
	Ramp  int64         `json:"ramp_ppb,omitempty"`
	From  time.Duration `json:"from,omitzero"`
	Until time.Duration `json:"until,omitzero"`
	// Announces is what it says of the leap second before that comes.
	Announces Leap `json:"announces,omitzero"`
	// Lag is by how much it takes the leap second late, and still announces it.
	Lag time.Duration `json:"lag,omitzero"`
	// Between Silent and Back it does not answer.
	Silent time.Duration `json:"silent,omitzero"`
	Back   time.Duration `json:"back,omitzero"`
}

// Limits of servers.
const (
	maxServers = 32
	maxBurst   = 16
	// minEvery is the shortest mean time between two queries.
	minEvery = 200 * time.Millisecond
	// BurstEvery is the mean time between two queries of a burst.
	BurstEvery = 2 * time.Second
)

// Falseticker reports whether a server ever lies.
func (s *Servers) Falseticker(i int) bool {
	x := &s.List[i]
	return x.Shift != 0 || x.Ramp != 0 || s.Leap != nil && x.Announces != s.Leap.Kind
}

// ErrorAt returns the error of the server's clock at a true time since the start of
// the run.
func (s *Server) ErrorAt(at time.Duration) time.Duration {
	if at < s.From || at >= s.Until {
		return s.Bias
	}
	return s.Bias + s.Shift + time.Duration(float64(at-s.From)*float64(s.Ramp)/1e9)
}

// Outnumbered reports whether the falsetickers are too few to deceive any partition,
// whichever of the servers it hears.
func (s *Servers) Outnumbered() bool { return s.MinReferences > 2*s.falsetickers() }

func (s *Servers) falsetickers() (n int) {
	for i := range s.List {
		if s.Falseticker(i) {
			n++
		}
	}
	return n
}

// Spread returns by how much two group times can differ at the end of a run, because
// falsetickers deceived one. A message that is ordered by its stamp may have to wait for
// that long.
func (s *Servers) Spread(run time.Duration) (most time.Duration) {
	if s.Outnumbered() {
		return 0
	}
	for i := range s.List {
		x := &s.List[i]
		most = max(most, x.Shift.Abs()+time.Duration(math.Abs(float64(x.Ramp))*float64(run)/1e9))
	}
	return 2 * most
}

// Validate returns an error if no world with that many nodes can have the servers.
func (s *Servers) Validate(nodes int) error {
	switch {
	case s.MinReferences < 1 || s.MinReferences > maxServers:
		return fmt.Errorf("fault: servers: MinReferences %d is outside [1, %d]", s.MinReferences, maxServers)
	case len(s.List) > maxServers:
		return fmt.Errorf("fault: servers: %d are more than %d", len(s.List), maxServers)
	case s.Ahead.Abs() > timed.MaxDuration:
		return fmt.Errorf("fault: servers: Ahead %v is outside ±%v", s.Ahead, timed.MaxDuration)
	case s.Settled < 0 || s.Settled > MaxDuration:
		return fmt.Errorf("fault: servers: Settled %v is outside [0, %v]", s.Settled, MaxDuration)
	case s.Settled > 0 && len(s.List) <= 2*s.falsetickers():
		return fmt.Errorf("fault: servers: Settled: %d of %d are falsetickers, which is no minority", s.falsetickers(), len(s.List))
	}
	for i := range s.List {
		if err := s.List[i].validate(nodes); err != nil {
			return fmt.Errorf("fault: server %d: %w", i+1, err)
		}
	}
	return s.validateLeap()
}

func (s *Server) validate(nodes int) error {
	for _, d := range []struct {
		field      string
		value      time.Duration
		least, max time.Duration
	}{
		{"Every", s.Every, minEvery, MaxDuration}, {"Delay", s.Delay, 0, timed.MaxDuration}, {"MinDelay", s.MinDelay, 0, s.Delay},
		{"Tail", s.Tail, 0, timed.MaxDuration}, {"Error", s.Error, 0, timed.MaxDuration}, {"Bias", s.Bias, -s.Error, s.Error},
		{"Shift", s.Shift, -timed.MaxDuration, timed.MaxDuration},
	} {
		if d.value < d.least || d.value > d.max {
			return fmt.Errorf("field %s: %v is outside [%v, %v]", d.field, d.value, d.least, d.max)
		}
	}
	switch {
	case s.Nodes.Empty():
		return errors.New("field Nodes: it has no clients")
	case validIndex(s.Index) != nil:
		return fmt.Errorf("field Index: %w", validIndex(s.Index))
	case !(s.Asymmetry >= -1 && s.Asymmetry <= 1):
		return fmt.Errorf("field Asymmetry: %v is outside [-1, 1]", s.Asymmetry)
	case !(s.Loss >= 0 && s.Loss <= 1):
		return fmt.Errorf("field Loss: %v is outside [0, 1]", s.Loss)
	case s.Burst < 0 || s.Burst > maxBurst:
		return fmt.Errorf("field Burst: %d is outside [0, %d]", s.Burst, maxBurst)
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

// Shares of seeds and of servers.
const (
	serverSeeds         = 0.1 // have external references
	truthfulWorlds      = 0.4 // of them have no falseticker
	outnumberedWorlds   = 0.4 // of them have falsetickers that are too few to deceive a node
	silentServers       = 0.3 // of the servers fail for some time
	rampingFalsetickers = 0.4 // of the falsetickers drift off slowly
	serversBehindTails  = 0.3 // of the servers have delays with tails, and losses
)

// servers draws the external references of a seed.
func (f *swarm) servers() *Servers {
	s := random.New(f.seed, random.Servers)
	switch given := f.Servers; {
	case f.NoServers:
		return nil
	case given != nil && len(given.List) > 0:
		return given
	case given == nil && (f.Calm || !s.Chance(serverSeeds)):
		return nil
	}
	out, falsetickers, n := &Servers{MinReferences: 1}, 0, int(s.Between(1, 7))
	switch kind := s.Unit(); {
	case kind < truthfulWorlds:
	case kind < truthfulWorlds+outnumberedWorlds:
		n = max(n, 3)
		falsetickers = int(s.Between(1, int64(n-1)/2))
		out.MinReferences = 2*falsetickers + 1
	default:
		falsetickers = int(s.Between(1, int64(n)))
	}
	for i := range n {
		out.List = append(out.List, f.server(s, i < falsetickers))
	}
	r := random.New(f.seed, random.Tails)
	for i := range out.List {
		if r.Chance(serversBehindTails) {
			out.List[i].worsen(r)
		}
	}
	return out
}

// worsen puts the server behind links with losses and delays with tails, which mostly
// differ for queries and answers.
func (s *Server) worsen(r random.Stream) {
	s.Tail, s.Index = time.Duration(r.LogUniform(1e4, 1e7)), r.Index()
	s.Asymmetry, s.Loss = 2*r.Unit()-1, r.Unit()/2
}

func (f *swarm) server(s random.Stream, falseticker bool) Server {
	x := Server{Every: time.Duration(s.LogUniform(0.2, 3) * float64(time.Second)),
		Delay: time.Duration(s.LogUniform(20e3, 20e6)), Error: time.Duration(s.LogUniform(1e3, 5e6))}
	x.Bias = time.Duration((2*s.Unit() - 1) * float64(x.Error))
	share := s.Unit()
	for id := range f.all.All() {
		if s.Chance(share) {
			x.Nodes.Add(id)
		}
	}
	if x.Nodes.Empty() {
		x.Nodes.Add(timed.NodeID(1 + s.Below(int64(f.Nodes))))
	}
	length := float64(f.Duration)
	if s.Chance(silentServers) {
		x.Silent = time.Duration(s.Unit() * length)
		x.Back = x.Silent + time.Duration(s.Unit()*length/2)
	}
	if falseticker {
		sign := 1 - 2*s.Below(2)
		x.From = time.Duration(s.Unit() * length / 2)
		x.Until = x.From + time.Duration(s.Unit()*length)
		if s.Chance(rampingFalsetickers) {
			x.Ramp = sign * int64(s.LogUniform(1e3, 3e7))
		} else {
			x.Shift = time.Duration(float64(sign) * s.LogUniform(1e5, 2e10))
		}
	}
	return x
}
