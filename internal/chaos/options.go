package chaos

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/failaware/failaware/internal/chaos/oracle"
	"github.com/failaware/failaware/timed"
)

// Options configure a run.
type Options struct {
	Seed   uint64
	Nodes  int
	Preset string
	For    time.Duration
	First  int // the number of the first episode
	// Only, if not 0, is the largest number of episodes.
	Only int
	// Kinds, if not empty, are the only kinds of faults.
	Kinds []Kind
	Dir   string // for logs and disks; empty means a temporary one
	// Launch returns a command that runs a member, and Hog one that calls [Hog].
	Launch, Hog func() *exec.Cmd
	// Progress, if not nil, is called with progress messages.
	Progress func(format string, args ...any)
}

// maxEpisode limits the numbers of episodes, far beyond what a day has.
const maxEpisode = 1_000_000

// Check returns an error if an option is invalid.
func (o *Options) Check() error {
	switch {
	case o.Seed == 0:
		return errors.New("--seed: it must be at least 1")
	case o.Nodes < 3 || o.Nodes > 9:
		return fmt.Errorf("--nodes %d: it must be 3 to 9", o.Nodes)
	case o.For <= 0 || o.For > 24*time.Hour:
		return errors.New("--minutes: it must be above 0 and at most a day")
	case o.First < 0 || o.First > maxEpisode:
		return fmt.Errorf("--first %d: it must be 0 to %d", o.First, maxEpisode)
	case o.Only < 0 || o.Only > maxEpisode:
		return fmt.Errorf("--episodes %d: it must be 0 to %d", o.Only, maxEpisode)
	}
	return checkKinds(o.Kinds)
}

// shown is how many violations of one rule are printed.
const shown = 5

// Result is the outcome of a run.
type Result struct {
	Seed     uint64         `json:"seed"`
	Nodes    int            `json:"nodes"`
	Preset   string         `json:"preset"`
	Kinds    []Kind         `json:"kinds,omitempty"`
	First    int            `json:"first_episode"`
	Played   []Episode      `json:"episodes"`
	Took     time.Duration  `json:"took_ns"`
	Switch   map[string]int `json:"switch"`
	Refusals int            `json:"torn_disks_refused"` // refused starts with a missing file
	Restarts int            `json:"starts"`
	Replaced int            `json:"quorums_replaced"` // of the registers, during other faults
	*oracle.Verdict
}

// Judge judges the logs of an earlier run again.
func Judge(o Options, logs string) (*Result, error) {
	timing, err := timed.Preset(o.Preset)
	if err != nil {
		return nil, err
	}
	h, err := oracle.Load(logs)
	if err != nil {
		return nil, err
	}
	return &Result{Seed: o.Seed, Nodes: o.Nodes, Preset: o.Preset, First: o.First, Verdict: oracle.Judge(h, limits(timing))}, nil
}

// limits returns the limits that runs must keep.
func limits(p timed.Timing) oracle.Limits {
	return oracle.Limits{Lateness: p.SchedulingDelay / 2, Slack: 500 * time.Millisecond,
		Most:    oracle.Use{Goroutines: 20, Files: 10, Live: 32 << 20, Resident: 64 << 20},
		Settled: oracle.Use{Goroutines: 5, Files: 3, Live: 4 << 20, Resident: 16 << 20}}
}

// Text writes the result for people.
func (r *Result) Text(w io.Writer) error {
	kinds := map[Kind]int{}
	for _, e := range r.Played {
		for _, f := range e.Faults {
			kinds[f.Kind]++
		}
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("seed %d, %d nodes, timing %s: %d episodes in %v", r.Seed, r.Nodes, r.Preset, len(r.Played), r.Took.Round(time.Second))
	line("faults: %s", list(kinds))
	line("processes started: %d; with a file missing, refused to start: %d", r.Restarts, r.Refusals)
	line("quorums of the registers that were replaced before the faults ended: %d of %d", r.Replaced, kinds[Epoch])
	line("the switch: %s", list(r.Switch))
	line("compared: %s", list(r.Counts))
	var took []time.Duration
	for _, h := range r.Heals {
		took = append(took, h.Took)
	}
	slices.Sort(took)
	if n := len(took); n > 0 {
		line("healings: %d, median %v, longest %v, bound %v; longer than the bound on a late machine: %d", n,
			took[n/2].Round(time.Millisecond), took[n-1].Round(time.Millisecond), r.Heals[0].Bound, r.Excused)
	}
	for _, g := range r.Growth {
		if g.For > time.Minute {
			line("growth: %v", g)
		}
	}
	broken := map[string]int{}
	for _, v := range r.Violations {
		if broken[v.Rule]++; broken[v.Rule] <= shown {
			line("VIOLATION: %v", v)
		}
	}
	if len(broken) > 0 {
		line("violations: %s", list(broken))
	}
	if len(r.Violations) > 0 {
		line("again: failaware-lab chaos --seed %d --nodes %d --preset %s --first %d --episodes %d%s", r.Seed, r.Nodes, r.Preset, r.First, len(r.Played), r.kinds())
		for _, e := range r.Played {
			line("%v", e)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// kinds returns the flag for the kinds of faults.
func (r *Result) kinds() string {
	if len(r.Kinds) == 0 {
		return ""
	}
	return " --kinds " + strings.ReplaceAll(strings.Trim(fmt.Sprint(r.Kinds), "[]"), " ", ",")
}

// list returns counts in the order of their names.
func list[K ~string](counts map[K]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(parts, ", ")
}
