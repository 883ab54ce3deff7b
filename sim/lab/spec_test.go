package lab

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// liar makes false claims, by the time since its process started.
type liar struct {
	self  timed.NodeID
	begun timed.Instant
	next  timed.Instant
	lie   func(self timed.NodeID, since time.Duration) Claim
}

func (l *liar) Start(now timed.Instant, _ timed.Set, out []Effect) []Effect {
	l.begun, l.next = now, now
	return out
}

func (l *liar) HandleMessage(_ timed.Instant, _ timed.NodeID, _ *Message, _ timed.Set, out []Effect) []Effect {
	return out
}

func (l *liar) HandleTimeout(now timed.Instant, _ timed.Set, out []Effect) []Effect {
	if now >= l.next {
		l.next = now.Add(10 * time.Millisecond)
	}
	return out
}

func (l *liar) Deadline() timed.Instant { return l.next }

func (l *liar) Elect(_ timed.Instant, _ timed.Set, out []Effect) []Effect { return out }

func (l *liar) Claim(now timed.Instant) Claim { return l.lie(l.self, now.Sub(l.begun)) }

func lying(lie func(timed.NodeID, time.Duration) Claim) Algorithm {
	return Algorithm{Name: "liar", Machine: func(self timed.NodeID, _ *Ranking, _ Pace) Machine { return &liar{self: self, lie: lie} }}
}

// follow is the honest claim where node 1 leads everybody.
func follow(self timed.NodeID, _ time.Duration) Claim { return following(self, 1) }

// lie is a false claim that violates a specification, and the text of the violation.
type lie struct {
	claim func(timed.NodeID, time.Duration) Claim
	want  string
}

func lies() map[SpecName]lie {
	const mid = 20 * time.Second
	return map[SpecName]lie{
		Safety:   {func(self timed.NodeID, _ time.Duration) Claim { return following(self, 2) }, "process 1 takes 2 for the leader, not the best, 1"},
		Liveness: {func(timed.NodeID, time.Duration) Claim { return Claim{} }, "process 1 has elected nobody"},
		Assertion3: {func(self timed.NodeID, _ time.Duration) Claim {
			c := following(self, self)
			c.Group = Group{7, 7}
			return c
		}, "processes 1 and 2 are in group {7 7}, led by 1 and 2"},
		Assertion4: {func(self timed.NodeID, d time.Duration) Claim {
			c := follow(self, d)
			c.Group.Number = uint64(self)
			return c
		}, "clique {1 2 3}: process 1 follows 1, and 2 follows 1"},
		Assertion4Prime: {func(self timed.NodeID, d time.Duration) Claim {
			if d > mid && d < mid+time.Second {
				return following(self, 2)
			}
			return follow(self, d)
		}, "somebody changes its group"},
		SO: {func(self timed.NodeID, _ time.Duration) Claim {
			c := following(self, self)
			c.Support = timed.SetOf(1, 2, 3)
			return c
		}, "1 and 2 both lead with the support of {1 2 3}"},
		LS: {func(self timed.NodeID, d time.Duration) Claim {
			c := follow(self, d)
			c.Support = timed.SetOf(2, 3)
			return c
		}, "1 leads without its own support"},
		BI: {func(self timed.NodeID, d time.Duration) Claim {
			if self == 3 {
				return Claim{}
			}
			return follow(self, d)
		}, "1 leads, and 3, connected with it for"},
		T: {func(self timed.NodeID, d time.Duration) Claim {
			if d < mid {
				return follow(self, d)
			}
			return Claim{}
		}, "the Δ-partition {1 2 3} has no leader for"},
		Uniqueness: {func(self timed.NodeID, d time.Duration) Claim { return following(self, 1+timed.NodeID(d/mid)*(self-1)) }, "lead at once"},
		Stability: {func(self timed.NodeID, d time.Duration) Claim {
			if d > mid {
				return following(self, 2)
			}
			return follow(self, d)
		}, "{1} does not lead any more"},
		Eventual: {func(self timed.NodeID, _ time.Duration) Claim { return Claim{Elected: 1, Until: timed.Never} }, "nobody leads"},
	}
}

// Every checker notices an algorithm that violates its specification, and accepts one
// that satisfies all.
func TestEveryCheckerSeesWhatItChecks(t *testing.T) {
	quiet := Scenario{Name: "quiet", Nodes: 3, Duration: 40 * time.Second, Faults: noFaults}
	honest, err := Run(lying(follow), quiet, 1)
	require.NoError(t, err)
	for _, name := range Specs() {
		require.NoError(t, honest.violation(t, name), name)
		lie, ok := lies()[name]
		require.True(t, ok, name)
		o, err := Run(lying(lie.claim), quiet, 1)
		require.NoError(t, err)
		require.ErrorContains(t, o.violation(t, name), lie.want, name)
	}
	require.Panics(t, func() { newSpec("no such") })
}

// The other ways to break Assertion 4'.
func TestAssertion4PrimeSeesEveryWay(t *testing.T) {
	apart := Scenario{Name: "apart", Nodes: 3, Duration: 30 * time.Second,
		Faults: scripted(fault.Fault{At: warmup, Kind: fault.Split, Blocks: []timed.Set{timed.SetOf(1, 2), timed.SetOf(3)}})}
	for want, lie := range map[string]func(timed.NodeID, time.Duration) Claim{
		"process 3 follows 1, which it cannot reach":     follow,
		"3 groups, but 2 cliques cover the graph":        func(self timed.NodeID, _ time.Duration) Claim { return following(self, self) },
		"process 1 is in no group":                       func(timed.NodeID, time.Duration) Claim { return Claim{} },
		"process 1 follows 3, which is not in its group": func(self timed.NodeID, _ time.Duration) Claim { return following(self, 4-self) },
	} {
		o, err := Run(lying(lie), apart, 1)
		require.NoError(t, err)
		if want[0] == 'p' && want[8] == '3' || want[0] == '3' { // before the split it was all right, or one group too many
			require.Error(t, o.violation(t, Assertion4Prime), want)
		}
		o, err = Run(lying(lie), Scenario{Name: "apart", Nodes: 3, Duration: 8 * time.Second, Faults: scripted(
			fault.Fault{Kind: fault.Split, Blocks: []timed.Set{timed.SetOf(1, 2), timed.SetOf(3)}})}, 1)
		require.NoError(t, err)
		require.ErrorContains(t, o.violation(t, Assertion4Prime), want)
	}
}

// A specification whose premise never holds is not kept, but untested.
func TestPremisesAreNeeded(t *testing.T) {
	s := Scenario{Name: "lossy", Nodes: 3, Duration: 10 * time.Second, Faults: scripted(fault.Fault{Kind: fault.Loss, Rate: 0.1})}
	o, err := Run(lying(func(timed.NodeID, time.Duration) Claim { return Claim{} }), s, 1)
	require.NoError(t, err)
	for _, v := range o.Verdicts {
		require.NoError(t, v.Err)
		require.Equal(t, v.Spec == Assertion3, v.Tested, v.Spec)
	}
}
