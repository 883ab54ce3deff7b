package main

import (
	"time"

	"github.com/failaware/failaware/sim"
)

// tally is what a campaign adds up. Its fields are the last line's.
type tally struct {
	Seeds            uint64  `json:"seeds"`
	SimulatedSeconds float64 `json:"simulated_seconds"`
	Events           uint64  `json:"events"`
	EventsPerSecond  float64 `json:"events_per_second"`
	Violations       int     `json:"violations"`
	StablePeriods    int     `json:"stable_periods"`
	MissedLiveness   int     `json:"missed_liveness"`
	WorstElectionMS  float64 `json:"worst_election_ms"`
	WorstViewMS      float64 `json:"worst_view_ms"`
	BoundElectionMS  float64 `json:"bound_election_ms"`
	BoundViewMS      float64 `json:"bound_view_ms"`
	RejoinMS         float64 `json:"rejoin_ms"`
	Led              float64 `json:"led"`
	Fresh            float64 `json:"fresh"`
	Groups           int     `json:"groups,omitempty"`
	Cover            int     `json:"clique_cover,omitempty"`
	WorstSettleMS    float64 `json:"worst_settle_ms,omitempty"`
	Elections        uint64  `json:"elections"`
	Views            uint64  `json:"views"`
	Crashes          uint64  `json:"crashes"`
	Splits           uint64  `json:"splits"`
	Stalls           uint64  `json:"stalls"`
	Lost             uint64  `json:"packets_lost"`
	Late             uint64  `json:"packets_late"`
	Hash             string  `json:"hash"`
	Interrupted      bool    `json:"interrupted,omitempty"`

	hash           uint64
	led, fresh, up time.Duration
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (t *tally) add(r *sim.Result) {
	t.Seeds++
	t.SimulatedSeconds += r.Simulated.Seconds()
	t.Events += r.Events
	t.StablePeriods += r.Stable
	t.MissedLiveness += r.Missed
	t.WorstElectionMS = max(t.WorstElectionMS, milliseconds(r.WorstElect))
	t.WorstViewMS = max(t.WorstViewMS, milliseconds(r.WorstView))
	t.led, t.fresh, t.up = t.led+r.LedTime, t.fresh+r.FreshTime, t.up+r.UpTime
	t.Elections += r.Counters.Elections
	t.Views += r.Counters.Views
	t.Crashes += r.Counters.Crashes
	t.Splits += r.Counters.Splits
	t.Stalls += r.Counters.Stalls
	t.Lost += r.Counters.Lost + r.Counters.Cut
	t.Late += r.Counters.Late
	t.hash += spread(r.Hash, r.Seed)
}

// spread prepares a run's hash for a sum that is the same in any order of the
// seeds.
func spread(hash, seed uint64) uint64 { return hash * (2*seed + 1) }

// share returns a/b, or 0 of nothing.
func share(a, b time.Duration) float64 {
	if b == 0 {
		return 0
	}
	return float64(int(10000*float64(a)/float64(b))) / 10000
}
