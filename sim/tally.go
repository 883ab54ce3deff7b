package sim

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/sim/internal/check"
	"github.com/failaware/failaware/sim/situation"
)

// Tally has the sums of a campaign over its runs.
type Tally struct {
	Seeds            uint64  `json:"seeds"`
	SimulatedSeconds float64 `json:"simulated_seconds"`
	Events           uint64  `json:"events"`            // that were handled
	EventsPerSecond  float64 `json:"events_per_second"` // of the time that the campaign took
	TimesRealTime    float64 `json:"times_real_time"`   // simulated time, divided by the time that the campaign took
	Violations       int     `json:"violations"`
	StablePeriods    int     `json:"stable_periods"`            // at whose end all must be led, with up-to-date views
	MissedLiveness   int     `json:"missed_liveness"`           // of the stable periods
	WorstElectionMS  float64 `json:"worst_election_ms"`         // in stable periods
	WorstViewMS      float64 `json:"worst_view_ms"`             // in stable periods
	BoundElectionMS  float64 `json:"bound_election_ms"`         // guaranteed by the timing
	BoundViewMS      float64 `json:"bound_view_ms"`             // likewise
	RejoinMS         float64 `json:"rejoin_ms"`                 // added to both bounds by a restarted node
	Led              float64 `json:"led"`                       // share of the time of running nodes
	Fresh            float64 `json:"fresh"`                     // share of the time of running nodes
	Groups           int     `json:"groups,omitempty"`          // at the ends of all runs of [RunTopology]
	Cover            int     `json:"clique_cover,omitempty"`    // the cliques of minimum covers, of the same runs
	WorstSettleMS    float64 `json:"worst_settle_ms,omitempty"` // the longest time until nothing changed, of the same runs
	Elections        uint64  `json:"elections"`
	Views            uint64  `json:"views"`
	Crashes          uint64  `json:"crashes"`
	Restarts         uint64  `json:"restarts"`
	Lost             uint64  `json:"packets_lost"`
	Late             uint64  `json:"packets_late"`
	Repeated         uint64  `json:"packets_repeated"`
	Corrupted        uint64  `json:"packets_corrupted"`
	Forged           uint64  `json:"packets_forged"`
	// Of the broadcast; the worst delivery is the longest in stable periods.
	Broadcasts      uint64  `json:"broadcasts,omitempty"`
	Deliveries      uint64  `json:"deliveries,omitempty"`
	WorstDeliveryMS float64 `json:"worst_delivery_ms,omitempty"`
	BoundDeliveryMS float64 `json:"bound_delivery_ms,omitempty"`
	// Faults counts the faults by class, and Sometimes the situations.
	Faults    map[string]uint64 `json:"faults,omitempty"`
	Sometimes map[string]uint64 `json:"sometimes,omitempty"`
	// Reached counts the situations of the application: see [World.Sometimes].
	Reached map[string]uint64 `json:"reached,omitempty"`
	// Never lists the situations that a campaign with these options should reach and
	// this one did not.
	Never       []string `json:"never_reached,omitempty"`
	Hash        string   `json:"hash"`                  // of all runs: the same for the same seeds and options
	Interrupted bool     `json:"interrupted,omitempty"` // not all seeds were run

	counters       Counters
	hash           uint64
	led, fresh, up time.Duration
	still          bool // the runs were of [RunTopology]
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// add adds the result of a run.
func (t *Tally) add(r *Result) {
	t.Seeds++
	t.SimulatedSeconds += r.Simulated.Seconds()
	t.Events += r.Events
	t.StablePeriods += r.Stable
	t.MissedLiveness += r.Missed
	t.WorstElectionMS = max(t.WorstElectionMS, milliseconds(r.WorstElect))
	t.WorstViewMS = max(t.WorstViewMS, milliseconds(r.WorstView))
	t.led, t.fresh, t.up = t.led+r.LedTime, t.fresh+r.FreshTime, t.up+r.UpTime
	t.counters.add(&r.Counters)
	t.WorstDeliveryMS = max(t.WorstDeliveryMS, milliseconds(r.WorstDelivery))
	t.hash += spread(r.Hash, r.Seed)
	for what, n := range r.Reached {
		if t.Reached == nil {
			t.Reached = map[string]uint64{}
		}
		t.Reached[what] += n
	}
	if x := r.Topology; x != nil {
		t.still = true
		t.Groups += x.Leaders.Len()
		t.Cover += x.Cover
		t.WorstSettleMS = max(t.WorstSettleMS, milliseconds(x.Settled))
	}
}

func (c *Counters) add(d *Counters) {
	c.Delivered, c.Timeouts = c.Delivered+d.Delivered, c.Timeouts+d.Timeouts
	c.Lost, c.Late, c.Cut = c.Lost+d.Lost, c.Late+d.Late, c.Cut+d.Cut
	c.Reordered, c.Repeated = c.Reordered+d.Reordered, c.Repeated+d.Repeated
	c.Corrupted, c.Forged = c.Corrupted+d.Corrupted, c.Forged+d.Forged
	c.Crashes, c.Restarts = c.Crashes+d.Crashes, c.Restarts+d.Restarts
	c.Elections, c.Views = c.Elections+d.Elections, c.Views+d.Views
	c.Casts, c.Deliveries = c.Casts+d.Casts, c.Deliveries+d.Deliveries
	for i := range c.Faults {
		c.Faults[i] += d.Faults[i]
	}
	for i := range c.Sometimes {
		c.Sometimes[i] += d.Sometimes[i]
	}
}

// TallyOf adds up runs outside of a campaign, such as that of a case. took is the time that
// they took.
func TallyOf(opt Options, took time.Duration, results ...Result) Tally {
	var t Tally
	violations := 0
	for i := range results {
		t.add(&results[i])
		if results[i].Violation != nil {
			violations++
		}
	}
	t.finish(opt, violations, took)
	return t
}

// finish computes the values that follow from the sums.
func (t *Tally) finish(opt Options, violations int, elapsed time.Duration) {
	opt = opt.withDefaults()
	c := &t.counters
	t.Violations = violations
	if s := elapsed.Seconds(); s > 0 {
		t.EventsPerSecond = float64(int(float64(t.Events) / s))
		t.TimesRealTime = float64(int(t.SimulatedSeconds / s))
	}
	t.Led, t.Fresh = share(t.led, t.up), share(t.fresh, t.up)
	t.Elections, t.Views, t.Crashes, t.Restarts = c.Elections, c.Views, c.Crashes, c.Restarts
	t.Lost, t.Late, t.Repeated, t.Corrupted, t.Forged = c.Lost+c.Cut, c.Late+c.Reordered, c.Repeated, c.Corrupted, c.Forged
	t.Broadcasts, t.Deliveries = c.Casts, c.Deliveries
	t.Hash = fmt.Sprintf("%016x", t.hash)
	if t.still {
		return
	}
	if b, err := opt.slowest().Validate(); err == nil {
		t.BoundElectionMS, t.BoundViewMS, t.RejoinMS = milliseconds(b.Elect), milliseconds(b.View), milliseconds(b.Rejoin)
	}
	if opt.Broadcast != nil {
		t.BoundDeliveryMS = milliseconds(check.DeliveryBound(opt.Timing, opt.Nodes, true))
	}
	t.Faults, t.Sometimes, t.Never = map[string]uint64{}, map[string]uint64{}, nil
	for i, n := range c.Faults {
		if opt.Broadcast == nil && fault.Class(i) >= fault.ClassBurst {
			continue
		}
		t.Faults[fault.Class(i).String()] = n
	}
	for i, n := range c.Sometimes {
		if s := situation.Kind(i); opt.Broadcast == nil && s >= situation.CastUndelivered && s < situation.LocalBesideGlobal ||
			opt.Quorum == "" && s >= situation.LocalBesideGlobal || opt.Collation.Above == 0 && collates(s) {
			continue
		}
		t.Sometimes[situation.Kind(i).String()] = n
	}
	for _, s := range Expected(opt) {
		if c.Sometimes[s] == 0 {
			t.Never = append(t.Never, s.String())
		}
	}
}

// spread prepares a run's hash for a sum that is the same in any order of the
// seeds.
func spread(hash, seed uint64) uint64 { return hash * (2*seed + 1) }

// share returns a/b, or 0 if b is 0.
func share(a, b time.Duration) float64 {
	if b == 0 {
		return 0
	}
	return float64(int(10000*float64(a)/float64(b))) / 10000
}
