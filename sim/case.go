package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/sim/internal/jsonform"
	"github.com/failaware/failaware/timed"
)

// Case is a run that can be repeated anywhere, and changed. It has everything that the
// run depends on, except the application.
type Case struct {
	Seed     uint64
	Options  Options
	Schedule fault.Schedule
	// Check names the promise that the run broke when it was recorded, and Detail says
	// how; both are empty if it broke none.
	Check, Detail string
	// Note says why the case is kept.
	Note string
}

// CaseOf returns the case of a seed.
func CaseOf(seed uint64, opt Options) (Case, error) {
	opt = opt.withDefaults()
	if err := opt.Validate(); err != nil {
		return Case{}, err
	}
	s := opt.draw(seed)
	opt.Faults = nil // they are in the schedule
	return Case{Seed: seed, Options: opt, Schedule: s}, nil
}

// Run runs the case, with the application and the trace of its Options.
func (c *Case) Run() (Result, error) { return c.RunContext(context.Background()) }

// RunContext is Run, but ends early when ctx is done, with the result so far.
func (c *Case) RunContext(ctx context.Context) (Result, error) {
	w, err := c.World()
	if err != nil {
		return Result{}, err
	}
	defer w.haltWith(ctx)()
	w.run()
	return w.result(), nil
}

// Record runs the case, and returns the events in the time [from, to) of the run. They
// end earlier if a promise is broken or ctx is done.
func (c *Case) Record(ctx context.Context, from, to time.Duration) (*Recording, error) {
	quiet := *c
	quiet.Options.Trace = nil
	w, err := quiet.World()
	switch {
	case err != nil:
		return nil, err
	case from < 0 || to <= from:
		return nil, fmt.Errorf("sim: there is no time from %v to %v", from, to)
	}
	defer w.haltWith(ctx)()
	from, to = min(from, w.opt.Duration), min(to, w.opt.Duration)
	if w.runUntil(origin + int64(from)) {
		w.Record()
		w.runUntil(origin + int64(to))
	}
	r := w.Record()
	w.finishRecord()
	return r, nil
}

// World returns the world of the case, at its beginning.
func (c *Case) World() (*World, error) {
	opt := c.Options.withDefaults()
	opt.Faults = nil // long runs may draw more than MaxFaults
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	if err := c.Schedule.Validate(opt.Nodes, opt.Timing); err != nil {
		return nil, err
	}
	for i := range c.Schedule.Faults {
		if err := opt.fits(&c.Schedule.Faults[i]); err != nil {
			return nil, err
		}
	}
	switch t := c.Schedule.Traffic; {
	case t == nil && opt.Broadcast != nil:
		return nil, errors.New("sim: the option Broadcast needs Traffic in the schedule of a case")
	case t != nil && opt.Broadcast == nil:
		return nil, errors.New("sim: Traffic in the schedule of a case needs the option Broadcast")
	}
	return newWorldOf(c.Seed, opt, c.Schedule), nil
}

// Preset returns the name of the case's timing, or "custom".
func (c *Case) Preset() string {
	t := c.Options.withDefaults().Timing
	for _, name := range timed.Presets() {
		if p, _ := timed.Preset(name); p == t {
			return name
		}
	}
	return custom
}

const custom = "custom"

// caseForm is the form of a case in a file.
type caseForm struct {
	Format       int            `json:"failaware_case"`
	Note         string         `json:"note,omitempty"`
	Check        string         `json:"check,omitempty"`
	Detail       string         `json:"detail,omitempty"`
	Seed         uint64         `json:"seed"`
	Nodes        int            `json:"nodes"`
	Duration     time.Duration  `json:"duration"`
	Mode         string         `json:"mode"`
	RankBy       string         `json:"rank"`
	Preset       string         `json:"preset,omitempty"`
	Timing       *timingForm    `json:"timing,omitempty"` // without a preset
	Codec        bool           `json:"codec,omitempty"`
	BrokenClocks bool           `json:"broken_clocks,omitempty"`
	Above        int            `json:"collate_above,omitempty"`
	Fanout       int            `json:"collate_fanout,omitempty"`
	Baseline     fault.Baseline `json:"weather"`
	Faults       []fault.Fault  `json:"faults"`
	Traffic      *fault.Traffic `json:"traffic,omitempty"`
	Servers      *fault.Servers `json:"servers,omitempty"`
	Quorum       string         `json:"quorum,omitempty"`
	Epochs       bool           `json:"epochs,omitempty"`
	ByEpochs     bool           `json:"by_epochs,omitempty"`
	Calm         bool           `json:"calm,omitempty"` // of the administrator of Epochs
	Unequal      bool           `json:"unequal,omitempty"`
	Restless     bool           `json:"restless,omitempty"`
	Preempted    bool           `json:"preempted,omitempty"`
	Resolution   time.Duration  `json:"resolution,omitzero"`
}

// timingForm has the fields of [timed.Timing].
type timingForm struct {
	MaxDrift        timed.Drift   `json:"max_drift_ppb"`
	OneWayTimeout   time.Duration `json:"one_way_timeout"`
	FastThreshold   time.Duration `json:"fast_threshold"`
	MinDelay        time.Duration `json:"min_delay"`
	SchedulingDelay time.Duration `json:"scheduling_delay"`
	ElectionPeriod  time.Duration `json:"election_period"`
	KeepalivePeriod time.Duration `json:"keepalive_period"`
	Expires         time.Duration `json:"expires"`
	LockTime        time.Duration `json:"lock_time"`
	MaxLockTime     time.Duration `json:"max_lock_time"`
}

const caseFormat = 1

// MaxCaseBytes is the size of the largest case file that [ReadCase] reads.
const MaxCaseBytes = 256 << 20

// Write writes the case as JSON.
func (c *Case) Write(w io.Writer) error {
	o, s := c.Options.withDefaults(), &c.Schedule
	f := caseForm{Format: caseFormat, Note: c.Note, Check: c.Check, Detail: c.Detail, Seed: c.Seed, Nodes: o.Nodes, Duration: o.Duration,
		Mode: o.Mode.String(), RankBy: o.RankBy.String(), Preset: c.Preset(), Codec: o.Codec, BrokenClocks: o.BrokenClocks,
		Above: o.Collation.Above, Fanout: o.Collation.Fanout, Baseline: s.Baseline, Faults: slices.Concat([]fault.Fault{}, s.Faults),
		Traffic: s.Traffic, Servers: s.Servers, Quorum: o.Quorum, Epochs: o.Epochs, ByEpochs: o.Broadcast != nil && o.Broadcast.ByEpochs, Calm: o.Calm,
		Unequal: o.Unequal, Restless: o.Restless, Preempted: o.Preempted, Resolution: o.Resolution}
	if f.Preset == custom {
		t := timingForm(o.Timing)
		f.Preset, f.Timing = "", &t
	}
	b, err := jsonform.Marshal(&f)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", "  "); err != nil {
		return err
	}
	out.WriteByte('\n')
	_, err = out.WriteTo(w)
	return err
}

// ReadCase reads a case that [Case.Write] wrote. The error names the fault of the
// file; a case without an error can be run.
func ReadCase(r io.Reader) (Case, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxCaseBytes))
	if err != nil {
		return Case{}, err
	}
	var f caseForm
	if err := jsonform.Unmarshal(b, &f); err != nil {
		return Case{}, fmt.Errorf("sim: not a case: %w", err)
	}
	if f.Format != caseFormat {
		return Case{}, fmt.Errorf("sim: a case of format %d: this program reads %d", f.Format, caseFormat)
	}
	c := Case{Seed: f.Seed, Check: f.Check, Detail: f.Detail, Note: f.Note,
		Options: Options{Nodes: f.Nodes, Duration: f.Duration, Codec: f.Codec, BrokenClocks: f.BrokenClocks, Quorum: f.Quorum, Epochs: f.Epochs, Calm: f.Calm,
			Unequal: f.Unequal, Restless: f.Restless, Preempted: f.Preempted, Resolution: f.Resolution,
			Collation: leader.Collation{Above: f.Above, Fanout: f.Fanout}},
		Schedule: fault.Schedule{Baseline: f.Baseline, Faults: f.Faults, Traffic: f.Traffic, Servers: f.Servers}}
	o := &c.Options
	var errMode, errRank, errTiming error
	o.Mode, errMode = leader.ParseMode(f.Mode)
	o.RankBy, errRank = leader.ParseRankBy(f.RankBy)
	if f.Timing != nil {
		o.Timing = timed.Timing(*f.Timing)
	} else {
		o.Timing, errTiming = timed.Preset(f.Preset)
	}
	if err := errors.Join(errMode, errRank, errTiming); err != nil {
		return Case{}, fmt.Errorf("sim: not a case: %w", err)
	}
	if f.Traffic != nil {
		o.Broadcast = &Broadcast{ByEpochs: f.ByEpochs}
	}
	_, err = c.World()
	return c, err
}
