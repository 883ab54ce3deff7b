package lab

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// counted is one election as lectures count it: every message takes the same time,
// processes act at once, and only the named ones call for it.
type counted struct {
	Nodes    int
	Leader   timed.NodeID // the choice of all that run
	Messages map[Kind]int
	Total    int
	Time     float64 // in message times, until the last message arrived
}

// countRing counts the election of a ring of n processes, ranked by their ids,
// in which the named processes call for it at once.
func countRing(n int, s Suppression, callers ...timed.NodeID) (counted, error) {
	a := Algorithm{Name: "ring", Machine: func(self timed.NodeID, r *Ranking, p Pace) Machine {
		m := NewRing(self, r, s, NoRepair, p)
		m.Initiate = false
		return m
	}}
	return count(&a, n, timed.Set{}, callers)
}

// countBully counts the election by the bully algorithm of n processes, ranked by
// their ids, of which the highest has crashed. The callers notice that all at once. If
// informed is true, the failure detector of a caller also tells it whether a better
// process is left. answer is the time-out for answers in message times.
func countBully(n int, answer float64, informed bool, callers ...timed.NodeID) (counted, error) {
	down := timed.SetOf(timed.NodeID(n))
	a := Algorithm{Name: "bully", Machine: func(self timed.NodeID, r *Ranking, p Pace) Machine {
		m := NewBully(self, r, p)
		m.Initiate, m.Answer, m.Announce = false, time.Duration(answer*float64(messageTime))+messageTime/100, 5*messageTime*time.Duration(n)
		if informed {
			return &toldDown{m, down}
		}
		return m
	}}
	return count(&a, n, down, callers)
}

// toldDown is a machine whose detector knows which processes are down.
type toldDown struct {
	Machine
	down timed.Set
}

// Elect implements [Machine].
func (t *toldDown) Elect(now timed.Instant, alive timed.Set, out []Effect) []Effect {
	return t.Machine.Elect(now, alive.Minus(t.down), out)
}

// messageTime is the delay of every message in a counted election.
const messageTime = 4 * time.Millisecond

// quietTimes is after how many message times without a message nothing more is
// on its way, nor will be sent.
const quietTimes = 20

// called is when the counted election is called for.
const called = time.Second

func count(a *Algorithm, n int, down timed.Set, callers []timed.NodeID) (counted, error) {
	if n < 2 || n > MaxProcesses {
		return counted{}, fmt.Errorf("lab: a counted election of %d processes: must be 2 to %d", n, MaxProcesses)
	}
	s := Scenario{Name: "count", Nodes: n, Duration: called + 5*time.Minute}
	s.Faults = noFaults
	r, w, err := prepare(a, &s, 1, func(c *sim.Case) {
		c.Schedule.Baseline = fault.Baseline{MinDelay: messageTime, MaxDelay: messageTime}
		for id := range down.All() {
			c.Schedule.Faults = append(c.Schedule.Faults, fault.Fault{At: called / 2, Kind: fault.Crash, Node: id})
		}
	})
	if err != nil {
		return counted{}, err
	}
	r.ranking.Weights = HighestID(n).Weights
	if err := w.Run(called); err != nil {
		return counted{}, err
	}
	for _, id := range callers {
		if id < 1 || int(id) > n || down.Has(id) {
			return counted{}, fmt.Errorf("lab: process %d cannot call for an election of %d processes: it is down or does not exist", id, n)
		}
		r.hosts[id-1].elect()
	}
	c := counted{Nodes: n, Messages: map[Kind]int{}}
	start := w.Time()
	last, delivered := start, w.Counters().Delivered
	quiet := func() bool {
		if x := w.Counters().Delivered; x != delivered {
			last, delivered = w.Time(), x
		}
		c.Leader = r.elected(w)
		return c.Leader != 0 && w.Time()-last > quietTimes*messageTime
	}
	if err := w.RunUntil(s.Duration-called, quiet); err != nil {
		return counted{}, err
	}
	for k, x := range r.sent {
		if x > 0 {
			c.Messages[Kind(k)] = int(x)
			c.Total += int(x)
		}
	}
	c.Time = float64(last-start) / float64(messageTime)
	return c, nil
}

func noFaults(*rand.Rand) []fault.Fault { return nil }

// elected returns the process that all running processes have elected, or 0.
func (r *run) elected(w *sim.World) (l timed.NodeID) {
	for _, n := range w.Nodes() {
		if !n.Up() {
			continue
		}
		e := r.hosts[n.ID()-1].m.Claim(n.Instant()).Elected
		if e == 0 || l != 0 && e != l {
			return 0
		}
		l = e
	}
	return l
}
