// Package check checks the claims of simulated nodes against the truth that only their
// world knows: true time, and the state of all processes at once. The world reports
// events in order, and the checks run after each.
package check

import (
	"fmt"
	"slices"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// Config describes the world of a Checker.
type Config struct {
	Nodes  int // processes with later places are rivals
	Timing timed.Timing
	Bounds timed.Bounds
	// Servers are the time servers, or nil.
	Servers *fault.Servers
	// Readers says that the answers of all nodes are read after every turn.
	Readers bool
	// Resolution is that of the hardware clocks, in nanoseconds.
	Resolution int64
	// Single says that the only faults of the world are losses of single packets.
	Single bool
	// Start is the true time at which the run begins.
	Start int64
	// Violated is called with each broken promise; node 0 stands for the whole world.
	Violated func(check string, node timed.NodeID, detail string)
}

// Counts counts events and situations.
type Counts struct {
	Views, Elections uint64
	Situations       [situation.Count]uint64
}

// Checker checks the claims of all nodes against each other and against the truth.
type Checker struct {
	Config
	Now       int64 // true time; the world sets it
	processes []*Process
	cast      *Broadcasts  // nil without a broadcast
	global    *globalLeads // nil without a quorum system
	Change    *epochs      // nil where the quorum system is not replaced
	Counts    Counts
	digest    Hash // see Digest

	Claims      []Claims
	views       map[membership.ViewID]*membership.View
	latest      [timed.MaxNodes + 1]*membership.View // that was committed last, by member
	lines       map[clocksync.TimelineID]*timeline
	onLine      []*timeline       // the timeline of each process
	reading     clocksync.Reading // of the turn under way
	readers     []reader          // of each process
	lastRead    int               // the process whose answers were read last
	seen        []membership.ViewID
	heard       []hearing    // heard[c.pair(q, p)]: when q last heard p's present incarnation
	grain       int64        // the error of a bound that whole nanoseconds, and coarse clocks, can cause
	paces       []pace       // of each process
	clockErrors []clockError // of each process

	LeadChanges uint64 // how often a lead began or ended

	// Faults, if set, is called with all events, and no check fails. It lets tests see the
	// evidence of broken clocks.
	Faults func(*Process, *stack.Event)
	// HeardUTC, if set, is called with events about external time.
	HeardUTC func(*stack.Event)
	Broken   bool     // a clock has left ρ
	Damaged  bool     // a damaged packet has passed the checksum
	Cloned   bool     // a process was cloned
	Clones   []bool   // the processes that noticed it
	Quit     *Process // the process that found its id in use, and must stop
	Leaves   *Process // the process whose application is too slow, and must leave

	honest   int64         // the time from which falsetickers deceive nobody
	promised timed.Instant // by the line that was announced in the turn under way

	Live liveness
}

// timeline is the truth about a group time: a line over its leader's hardware clock.
type timeline struct {
	id    clocksync.TimelineID
	clock *hardware.Clock
	line  clocksync.Line

	promised timed.Instant // the time until which the line was announced
}

// Reset prepares the checker for a world without processes.
func (c *Checker) Reset(cfg Config, now int64) {
	*c = Checker{Config: cfg, Now: now, views: map[membership.ViewID]*membership.View{}, lines: map[clocksync.TimelineID]*timeline{}}
	c.grain = granularity + 4*c.Resolution
	c.honest = honestFrom(cfg.Servers, now)
	c.Live = liveness{c: c, last: now}
}

// Add adds a process that does not run yet.
func (c *Checker) Add(p *Process) {
	c.processes = append(c.processes, p)
	n := len(c.processes)
	heard := make([]hearing, n*n)
	for q := range c.Claims {
		copy(heard[q*n:], c.heard[q*len(c.Claims):(q+1)*len(c.Claims)])
	}
	c.heard = heard
	c.Claims = append(c.Claims, Claims{})
	c.Clones = append(c.Clones, false)
	c.onLine = append(c.onLine, nil)
	c.readers = append(c.readers, reader{})
	c.paces = append(c.paces, pace{})
	c.paces[n-1].reset(c.Now, c.Nodes)
	c.clockErrors = append(c.clockErrors, clockError{})
	c.seen = append(c.seen, membership.ViewID{})
}

// pair returns the index of two processes in a table of pairs.
func (c *Checker) pair(q, p *Process) int { return q.Index*len(c.Claims) + p.Index }

// withBrokenClocks lists the checks that hold although clocks leave ρ.
var withBrokenClocks = []string{"M1", "M2", "M3", "codec", "forged", "mismatch", "liveness",
	"invention", "duplicate", "FIFO", "id", "order", "atomicity", "strict", "EVS", "transition", "view", "outcome", "quorum", "memory", "borrowed"}

// withClones lists the checks that hold although boot ids are used twice.
var withClones = []string{"codec", "forged", "mismatch", "liveness"}

// withDamage lists the checks that hold although damaged packets are accepted.
var withDamage = []string{"codec", "liveness"}

// Fail reports a promise that was broken at a process.
func (c *Checker) Fail(check string, n *Process, format string, args ...any) {
	c.FailAt(check, n.ID, format, args...)
}

// FailAt reports a promise that was broken at a node. It ignores checks that rest on
// clocks, boot ids or undamaged packets once these are known to be broken.
func (c *Checker) FailAt(check string, id timed.NodeID, format string, args ...any) {
	if c.Faults != nil || c.Broken && !slices.Contains(withBrokenClocks, check) ||
		c.Cloned && !slices.Contains(withClones, check) || c.Damaged && !slices.Contains(withDamage, check) {
		return
	}
	c.Violated(check, id, fmt.Sprintf(format, args...))
}

// Sometimes counts that the run reached a situation.
func (c *Checker) Sometimes(s situation.Kind) { c.Counts.Situations[s]++ }
