package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// Case is a run that can be repeated anywhere and changed: everything that it
// depends on, but for the applications and invariants of its user.
type Case struct {
	Seed     uint64
	Options  Options
	Schedule Schedule
	// Check names the promise that the run broke when it was recorded, and
	// Detail says how; both are empty when it broke none.
	Check, Detail string
	// Note says what the case is kept for.
	Note string
}

// CaseOf returns the case of a seed.
func CaseOf(seed uint64, opt Options) (Case, error) {
	opt = opt.withDefaults()
	if err := opt.Validate(); err != nil {
		return Case{}, err
	}
	s := Draw(seed, opt)
	opt.Faults = nil // they are in the schedule
	return Case{Seed: seed, Options: opt, Schedule: s}, nil
}

// Run runs the case. Applications, invariants and the trace are those of its
// Options.
func (c *Case) Run() (Result, error) { return c.RunContext(context.Background()) }

// RunContext is as Run, but ends before its time when ctx is done: the result
// is then what the run had come to.
func (c *Case) RunContext(ctx context.Context) (Result, error) {
	w, err := c.World()
	if err != nil {
		return Result{}, err
	}
	defer w.haltWith(ctx)()
	w.run()
	return w.result(), nil
}

// Record runs the case, and returns what happened in the time [from, to) of the
// run, or until a promise was broken or ctx was done.
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
	opt.Faults = nil
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	opt.Faults = c.Schedule.Faults // what is drawn for a long run may be more than MaxFaults
	for i := range opt.Faults {
		if err := opt.fits(&opt.Faults[i]); err != nil {
			return nil, err
		}
	}
	if err := c.Schedule.Weather.Validate(opt.Timing); err != nil {
		return nil, err
	}
	if err := c.validateTraffic(); err != nil {
		return nil, err
	}
	if s := c.Schedule.Servers; s != nil {
		if err := s.Validate(opt.Nodes); err != nil {
			return nil, err
		}
	}
	for i := 1; i < len(c.Schedule.Faults); i++ {
		if c.Schedule.Faults[i].At < c.Schedule.Faults[i-1].At {
			return nil, fmt.Errorf("sim: fault %d (%v) is before the one that precedes it", i+1, c.Schedule.Faults[i])
		}
	}
	return newWorldOf(c.Seed, opt, c.Schedule), nil
}

// Preset returns the name of the case's timing, or "custom".
func (c *Case) Preset() string {
	if name, _ := timingToFile(c.Options.withDefaults().Timing); name != "" {
		return name
	}
	return "custom"
}

// Validate reports weather that the constants of the model do not allow.
func (w *Weather) Validate(t timed.Timing) error {
	switch {
	case w.MinDelay < t.MinDelay:
		return fmt.Errorf("sim: least delay %v is below the MinDelay %v of the timing", w.MinDelay, t.MinDelay)
	case w.MaxDelay < w.MinDelay || w.MaxDelay > t.OneWayTimeout+time.Microsecond:
		return fmt.Errorf("sim: largest delay %v is outside [%v, %v]", w.MaxDelay, w.MinDelay, t.OneWayTimeout)
	case w.Lateness < 0 || w.Lateness > t.SchedulingDelay:
		return fmt.Errorf("sim: lateness %v is outside [0, %v]", w.Lateness, t.SchedulingDelay)
	}
	return nil
}

// caseFile is a case as it is kept in a file: durations and names as people
// write them.
type caseFile struct {
	Format       int         `json:"failaware_case"`
	Note         string      `json:"note,omitempty"`
	Check        string      `json:"check,omitempty"`
	Detail       string      `json:"detail,omitempty"`
	Seed         uint64      `json:"seed"`
	Nodes        int         `json:"nodes"`
	Duration     span        `json:"duration"`
	Mode         string      `json:"mode"`
	RankBy       string      `json:"rank"`
	Preset       string      `json:"preset,omitempty"`
	Timing       *timingFile `json:"timing,omitempty"`
	Codec        bool        `json:"codec,omitempty"`
	BrokenClocks bool        `json:"broken_clocks,omitempty"`
	Above        int         `json:"collate_above,omitempty"`
	Fanout       int         `json:"collate_fanout,omitempty"`
	Weather      weatherFile `json:"weather"`
	Faults       []faultFile `json:"faults"`
	// Later than the format, and absent where there is no broadcast, or no
	// quorum system.
	Traffic *trafficFile `json:"traffic,omitempty"`
	Servers *serversFile `json:"servers,omitempty"`
	Quorum  string       `json:"quorum,omitempty"`
	Epochs  bool         `json:"epochs,omitempty"`
}

type weatherFile struct {
	MinDelay span `json:"min_delay"`
	MaxDelay span `json:"max_delay"`
	Lateness span `json:"lateness"`
}

type faultFile struct {
	At     span      `json:"at"`
	Kind   FaultKind `json:"fault"`
	Node   uint8     `json:"node,omitempty"`
	Peer   uint8     `json:"peer,omitempty"`
	Blocks []idList  `json:"blocks,omitempty"`
	Down   idList    `json:"down,omitzero"`
	Rate   float64   `json:"rate,omitempty"`
	Extra  span      `json:"extra,omitzero"`
	Size   int       `json:"size,omitempty"`
	For    span      `json:"for,omitzero"`
}

type timingFile struct {
	MaxDriftPPB     int64 `json:"max_drift_ppb"`
	MinDelay        span  `json:"min_delay"`
	OneWayTimeout   span  `json:"one_way_timeout"`
	FastThreshold   span  `json:"fast_threshold"`
	SchedulingDelay span  `json:"scheduling_delay"`
	ElectionPeriod  span  `json:"election_period"`
	KeepalivePeriod span  `json:"keepalive_period"`
	Expires         span  `json:"expires"`
	LockTime        span  `json:"lock_time"`
	MaxLockTime     span  `json:"max_lock_time"`
}

// span is a duration that files hold as text.
type span time.Duration

func (s span) MarshalText() ([]byte, error) { return []byte(time.Duration(s).String()), nil }

func (s *span) UnmarshalText(b []byte) error {
	d, err := time.ParseDuration(string(b))
	*s = span(d)
	return err
}

const caseFormat = 1

// Limits of case files.
const MaxCaseBytes = 256 << 20

// Write writes the case as JSON.
func (c *Case) Write(w io.Writer) error {
	b, err := json.MarshalIndent(c.file(), "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

func (c *Case) file() *caseFile {
	o := c.Options.withDefaults()
	f := &caseFile{Format: caseFormat, Note: c.Note, Check: c.Check, Detail: c.Detail, Seed: c.Seed, Nodes: o.Nodes,
		Duration: span(o.Duration), Mode: o.Mode.String(), RankBy: o.RankBy.String(), Codec: o.Codec, Quorum: o.Quorum, Epochs: o.Epochs, BrokenClocks: o.BrokenClocks,
		Above: o.Collation.Above, Fanout: o.Collation.Fanout,
		Weather: weatherFile{span(c.Schedule.Weather.MinDelay), span(c.Schedule.Weather.MaxDelay), span(c.Schedule.Weather.Lateness)},
		Faults:  []faultFile{}, Traffic: trafficToFile(c.Schedule.Traffic), Servers: serversToFile(c.Schedule.Servers)}
	f.Preset, f.Timing = timingToFile(o.Timing)
	for i := range c.Schedule.Faults {
		x := &c.Schedule.Faults[i]
		y := faultFile{At: span(x.At), Kind: x.Kind, Node: uint8(x.Node), Peer: uint8(x.Peer), Down: idList(x.Down), Rate: x.Rate,
			Extra: span(x.Extra), Size: x.Size, For: span(x.For)}
		for _, b := range x.Blocks {
			y.Blocks = append(y.Blocks, idList(b))
		}
		f.Faults = append(f.Faults, y)
	}
	return f
}

// idList is a set as files hold it: numbers, where a slice of ids, which are
// bytes, would be taken for binary data.
type idList timed.Set

func (l idList) MarshalJSON() ([]byte, error) {
	numbers := []int{}
	for id := range timed.Set(l).All() {
		numbers = append(numbers, int(id))
	}
	return json.Marshal(numbers)
}

func (l *idList) UnmarshalJSON(b []byte) error {
	var numbers []int
	if err := json.Unmarshal(b, &numbers); err != nil {
		return err
	}
	var s timed.Set
	for _, n := range numbers {
		if n < 1 || n > MaxNodes {
			return fmt.Errorf("node %d: must be 1 to %d", n, MaxNodes)
		}
		s.Add(timed.NodeID(n))
	}
	*l = idList(s)
	return nil
}

func timingToFile(t timed.Timing) (string, *timingFile) {
	for _, name := range timed.Presets() {
		if p, _ := timed.Preset(name); p == t {
			return name, nil
		}
	}
	return "", &timingFile{int64(t.MaxDrift), span(t.MinDelay), span(t.OneWayTimeout), span(t.FastThreshold), span(t.SchedulingDelay),
		span(t.ElectionPeriod), span(t.KeepalivePeriod), span(t.Expires), span(t.LockTime), span(t.MaxLockTime)}
}

func (f *timingFile) timing() timed.Timing {
	return timed.Timing{MaxDrift: timed.Drift(f.MaxDriftPPB), MinDelay: time.Duration(f.MinDelay),
		OneWayTimeout: time.Duration(f.OneWayTimeout), FastThreshold: time.Duration(f.FastThreshold),
		SchedulingDelay: time.Duration(f.SchedulingDelay), ElectionPeriod: time.Duration(f.ElectionPeriod),
		KeepalivePeriod: time.Duration(f.KeepalivePeriod), Expires: time.Duration(f.Expires),
		LockTime: time.Duration(f.LockTime), MaxLockTime: time.Duration(f.MaxLockTime)}
}

// ReadCase reads a case that [Case.Write] wrote. The error says what is wrong
// with the file; what it says can be run.
func ReadCase(r io.Reader) (Case, error) {
	d := json.NewDecoder(io.LimitReader(r, MaxCaseBytes))
	d.DisallowUnknownFields()
	var f caseFile
	if err := d.Decode(&f); err != nil {
		return Case{}, fmt.Errorf("sim: not a case: %w", err)
	}
	if f.Format != caseFormat {
		return Case{}, fmt.Errorf("sim: a case of format %d: this program reads %d", f.Format, caseFormat)
	}
	c := Case{Seed: f.Seed, Check: f.Check, Detail: f.Detail, Note: f.Note}
	o := &c.Options
	o.Nodes, o.Duration, o.Codec, o.BrokenClocks = f.Nodes, time.Duration(f.Duration), f.Codec, f.BrokenClocks
	o.Quorum, o.Epochs = f.Quorum, f.Epochs
	o.Collation = leader.Collation{Above: f.Above, Fanout: f.Fanout}
	var err, e error
	o.Mode, err = leader.ParseMode(f.Mode)
	o.RankBy, e = leader.ParseRankBy(f.RankBy)
	err = errors.Join(err, e)
	if f.Timing != nil {
		o.Timing = f.Timing.timing()
	} else {
		o.Timing, e = timed.Preset(f.Preset)
		err = errors.Join(err, e)
	}
	if err != nil {
		return Case{}, fmt.Errorf("sim: not a case: %w", err)
	}
	c.Schedule.Weather = Weather{time.Duration(f.Weather.MinDelay), time.Duration(f.Weather.MaxDelay), time.Duration(f.Weather.Lateness)}
	for _, x := range f.Faults {
		y := Fault{At: time.Duration(x.At), Kind: x.Kind, Node: timed.NodeID(x.Node), Peer: timed.NodeID(x.Peer), Down: timed.Set(x.Down),
			Rate: x.Rate, Extra: time.Duration(x.Extra), Size: x.Size, For: time.Duration(x.For)}
		for _, b := range x.Blocks {
			y.Blocks = append(y.Blocks, timed.Set(b))
		}
		c.Schedule.Faults = append(c.Schedule.Faults, y)
	}
	if err := c.readTraffic(f.Traffic); err != nil {
		return Case{}, err
	}
	c.Schedule.Servers = f.Servers.servers()
	_, err = c.World()
	return c, err
}
