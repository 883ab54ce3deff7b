package fault

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/sim/internal/jsonform"
	"github.com/failaware/failaware/timed"
)

// Traffic is the broadcast of a world: the configuration of its nodes, and their own
// random messages.
type Traffic struct {
	// Config is the configuration of all nodes, without Self and Timing.
	Config broadcast.Config
	// Rate is how often per second of true time each node broadcasts one to three random
	// messages, on average; 0 means never.
	Rate float64
	// Largest is the largest payload, in bytes. The logarithms of sizes are uniform.
	Largest int
	// Hush stops the traffic in stable periods, so that no later message reveals the
	// loss of the last one.
	Hush bool
	// Mix has the options of messages, with equal probabilities.
	Mix []broadcast.Options
	// WrongWalls, if not 0, bounds the errors of the wall clocks of half of the processes
	// when they start. The logarithms of errors are uniform from a millisecond on.
	WrongWalls time.Duration
}

// Limits of traffic.
const (
	// MaxTraffic is the largest Rate.
	MaxTraffic = 1e6
	// minLargest is the smallest Largest: each payload has room for a unique number.
	minLargest = 16
)

// Validate returns an error that names the invalid field if no world can have the traffic.
func (t *Traffic) Validate() error {
	if err := t.Config.Validate(); err != nil {
		return fmt.Errorf("fault: traffic: %w", err)
	}
	switch c := t.Config.WithDefaults(); {
	case !(t.Rate >= 0 && t.Rate <= MaxTraffic):
		return fmt.Errorf("fault: traffic: Rate: %v is outside [0, %v]", t.Rate, float64(MaxTraffic))
	case t.Largest < minLargest || t.Largest > c.MaxPayload:
		return fmt.Errorf("fault: traffic: Largest: %d is outside [%d, %d]", t.Largest, minLargest, c.MaxPayload)
	case t.WrongWalls < 0 || t.WrongWalls > mostWrong:
		return fmt.Errorf("fault: traffic: WrongWalls: %v is outside [0, %v]", t.WrongWalls, mostWrong)
	case len(t.Mix) == 0:
		return errors.New("fault: traffic: Mix is empty")
	}
	for _, o := range t.Mix {
		if !o.Valid() {
			return fmt.Errorf("fault: traffic: Mix: %v %v: no such options", o.Order, o.Atomicity)
		}
	}
	return nil
}

// Gap draws the time until a node's next messages, in nanoseconds.
func (t *Traffic) Gap(s random.Stream) int64 { return 1 + int64(s.Exponential()/t.Rate*1e9) }

// Message draws the options and the size of a message.
func (t *Traffic) Message(s random.Stream) (broadcast.Options, int) {
	opt := t.Mix[s.Below(int64(len(t.Mix)))]
	return opt, int(s.LogUniform(minLargest, float64(t.Largest)+1))
}

// Wall draws by how much the wall clock of a process is wrong when it starts.
func (t *Traffic) Wall(s random.Stream) time.Duration {
	d := time.Duration(s.LogUniform(1e6, max(1e6, float64(t.WrongWalls))))
	switch s.Below(4) {
	case 0:
		return d
	case 1:
		return -d
	}
	return 0
}

// AppendPayload appends a payload of a size that is unique if no other has the same boot id
// and number.
func AppendPayload(b []byte, boot timed.BootID, number uint64, size int) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(boot))
	b = binary.BigEndian.AppendUint64(b, number)
	for i := len(b); i < size; i++ {
		b = append(b, byte(i)^byte(number))
	}
	return b
}

// AllOptions returns the nine combinations of order and atomicity. The random draws of
// recorded seeds depend on their sequence.
func AllOptions() (all []broadcast.Options) {
	for _, o := range []broadcast.Order{broadcast.Unordered, broadcast.TotalOrder, broadcast.TimedOrder} {
		for _, a := range []broadcast.Atomicity{broadcast.WeakAtomicity, broadcast.StrongAtomicity, broadcast.StrictAtomicity} {
			all = append(all, broadcast.Options{Order: o, Atomicity: a})
		}
	}
	return all
}

// Shares of seeds with a broadcast, and limits of their draws.
const (
	quorumSeeds = 0.25 // order messages in quorums only
	fullMix     = 0.4  // have all nine combinations
	largeSeeds  = 0.4  // have payloads of many fragments
	wideSeeds   = 0.2  // send packets as large as datagrams can be
	hushSeeds   = 0.3  // have stable periods without messages

	largestDrawn = 12_000 // bytes of a payload
	mostInBurst  = 300    // messages

	mostWrong = 3 * time.Hour // of a wall clock
)

// traffic draws the traffic of a seed, and the faults of its applications. It has
// its own random numbers, so that it does not change anything else.
func (f *swarm) traffic() *Traffic {
	s := random.New(f.seed, random.Traffic)
	t := &Traffic{Config: f.config(s), Mix: drawMix(s), Hush: s.Chance(hushSeeds)}
	t.Largest = int(s.LogUniform(minLargest, 400))
	if s.Chance(largeSeeds) {
		t.Largest = int(s.LogUniform(400, largestDrawn))
	}
	t.Config.MaxPayload = t.Largest
	if f.Config != nil {
		t.Config = *f.Config
		t.Largest = max(minLargest, min(t.Largest, t.Config.WithDefaults().MaxPayload))
	}
	if !f.Quiet {
		t.Rate = s.LogUniform(0.1, 10) / f.Timing.Expires.Seconds()
	}
	if !f.Calm {
		f.ofApplications(s)
	}
	if f.WrongWalls {
		t.WrongWalls = time.Duration(s.LogUniform(float64(f.Timing.Expires), float64(mostWrong)))
	}
	return t
}

// config draws a configuration with limits that traffic sometimes reaches.
func (f *swarm) config(s random.Stream) broadcast.Config {
	c := broadcast.Config{
		Window:      int(s.LogUniform(1<<13, 1<<19)),
		MaxMessages: int(s.LogUniform(largestDrawn/broadcast.MinPacketBytes+1, 2048)),
		PacketBytes: int(s.LogUniform(256, 1400)),
		Backlog:     int(s.LogUniform(1<<12, 1<<18)),
		SlowAfter:   max(timed.MinDuration, time.Duration(s.LogUniform(0.5, 5)*float64(f.Timing.Expires))),
	}
	if s.Chance(wideSeeds) {
		c.PacketBytes = int(s.LogUniform(1400, broadcast.MaxPacketBytes))
	}
	if s.Chance(quorumSeeds) {
		c.Quorum = Majority(f.all)
	}
	return c
}

func drawMix(s random.Stream) []broadcast.Options {
	all := AllOptions()
	if s.Chance(fullMix) {
		return all
	}
	for i := range all { // some of them, in any order
		j := i + int(s.Below(int64(len(all)-i)))
		all[i], all[j] = all[j], all[i]
	}
	return slices.Clone(all[:s.Between(1, 4)])
}

// ofApplications draws bursts and slow consumers.
func (f *swarm) ofApplications(s random.Stream) {
	f.on[ClassBurst], f.on[ClassSlowConsumer] = s.Chance(0.5) && !f.Quiet, s.Chance(0.5)
	if !f.on[ClassBurst] && !f.on[ClassSlowConsumer] {
		return
	}
	expires := float64(f.Timing.Expires)
	pace := s.LogUniform(2, 12) / max(f.Roughness, 0.1) * expires
	for at := time.Duration(0); ; {
		at += time.Duration(pace * (0.05 + 2*s.Unit()))
		if at >= f.Duration {
			return
		}
		x := Fault{At: at, Node: timed.NodeID(1 + s.Below(int64(f.Nodes)))}
		if burst := s.Chance(0.5); burst && f.on[ClassBurst] || !f.on[ClassSlowConsumer] {
			x.Kind, x.Size = Burst, int(s.LogUniform(4, mostInBurst))
		} else {
			x.Kind, x.For = SlowConsumer, time.Duration(s.LogUniform(0.05, 15)*expires)
		}
		f.out = append(f.out, x)
	}
}

// Majority returns the quorum system of the majorities of a group, nil if it is empty.
func Majority(group timed.Set) quorum.System {
	q, err := quorum.Majority(group)
	if err != nil {
		return nil
	}
	return q
}

// quorumMembers returns the members of a quorum system, none if it is nil.
func quorumMembers(q quorum.System) (s timed.Set) {
	if q != nil {
		s = q.Members()
	}
	return s
}

// trafficForm is the form of Traffic in a file.
type trafficForm struct {
	Window        int           `json:"window"`
	MaxMessages   int           `json:"max_messages"`
	MaxPayload    int           `json:"max_payload"`
	PacketBytes   int           `json:"packet_bytes"`
	Backlog       int           `json:"backlog"`
	SlowAfter     time.Duration `json:"slow_after"`
	RequireQuorum timed.Set     `json:"require_quorum,omitzero"`
	Rate          float64       `json:"rate"`
	Largest       int           `json:"largest"`
	Hush          bool          `json:"hush,omitempty"`
	WrongWalls    time.Duration `json:"wrong_walls,omitempty"`
	Mix           []string      `json:"mix"` // "total strict"
}

// MarshalJSON implements [json.Marshaler].
func (t *Traffic) MarshalJSON() ([]byte, error) {
	c := t.Config.WithDefaults()
	f := trafficForm{c.Window, c.MaxMessages, c.MaxPayload, c.PacketBytes, c.Backlog, c.SlowAfter, quorumMembers(c.Quorum), t.Rate, t.Largest, t.Hush, t.WrongWalls, nil}
	for _, o := range t.Mix {
		f.Mix = append(f.Mix, optionsText(o))
	}
	return jsonform.Marshal(&f)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *Traffic) UnmarshalJSON(b []byte) error {
	var f trafficForm
	if err := jsonform.Unmarshal(b, &f); err != nil {
		return err
	}
	*t = Traffic{Rate: f.Rate, Largest: f.Largest, Hush: f.Hush, WrongWalls: f.WrongWalls, Config: broadcast.Config{Window: f.Window, MaxMessages: f.MaxMessages,
		MaxPayload: f.MaxPayload, PacketBytes: f.PacketBytes, Backlog: f.Backlog, SlowAfter: f.SlowAfter, Quorum: Majority(f.RequireQuorum)}}
	for _, text := range f.Mix {
		o, err := parseOptions(text)
		if err != nil {
			return err
		}
		t.Mix = append(t.Mix, o)
	}
	return nil
}

var _ json.Unmarshaler = (*Traffic)(nil)

func optionsText(o broadcast.Options) string { return o.Order.String() + " " + o.Atomicity.String() }

// parseOptions reads an order and an atomicity.
func parseOptions(text string) (broadcast.Options, error) {
	for _, o := range AllOptions() {
		if text == optionsText(o) {
			return o, nil
		}
	}
	return broadcast.Options{}, fmt.Errorf("fault: mix: %q: must be an order and an atomicity, such as %q", text,
		optionsText(broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.StrictAtomicity}))
}
