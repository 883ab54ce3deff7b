package chaos

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/failaware/failaware/internal/chaos/member"
	"github.com/failaware/failaware/internal/chaos/oracle"
	"github.com/failaware/failaware/timed"
)

// runner plays a schedule.
type runner struct {
	Options
	dir        string
	bounds     timed.Bounds
	timing     timed.Timing
	hosts      *hosts
	net        *network
	keys       *keyring
	nodes      []*node  // by number; the first is nil
	log        *os.File // the log of the harness
	store      store
	result     *Result
	late       lateness
	changed    chan struct{} // has a value after a report
	violations []oracle.Violation
	mu         sync.Mutex     // guards log and violations
	storms     sync.WaitGroup // that last

	voters       []int          // whose majorities shall be the quorums of the registers
	replacing    bool           // they are others than before this episode
	replacements sync.WaitGroup // for that, while faults go on
	replaced     atomic.Int64   // how often that was done before the faults ended
}

// node is one of the nodes, with its present process.
type node struct {
	number     int
	process    atomic.Pointer[process] // the latest one; it may have ended
	started    int
	disk       disk
	torn       string // a file that is missing: the start may be refused
	mustRefuse bool   // it must be
	lost       bool   // its disk is: it starts in another epoch
	joins      bool   // it has lost its disk, and learns the epoch
	full       bool   // its disk was full in this episode
}

// Run plays a schedule and has the oracle judge. The error is about the machine or the
// harness, and not about the nodes.
func Run(ctx context.Context, o Options) (*Result, error) {
	if why := Missing(); why != "" {
		return nil, errors.New("chaos: " + why)
	}
	timing, err := timed.Preset(o.Preset)
	if err != nil {
		return nil, err
	}
	bounds, err := timing.Validate()
	if err != nil {
		return nil, err
	}
	r := &runner{Options: o, timing: timing, bounds: bounds, nodes: make([]*node, o.Nodes+1), changed: make(chan struct{}, 1),
		result: &Result{Seed: o.Seed, Nodes: o.Nodes, Preset: o.Preset, Kinds: o.Kinds, First: o.First}}
	began := time.Now()
	if err := r.whole(ctx); err != nil {
		return nil, err
	}
	r.result.Took, r.result.Replaced = time.Since(began), int(r.replaced.Load())
	h, err := oracle.Load(r.logs())
	if err != nil {
		return nil, err
	}
	r.result.Verdict = oracle.Judge(h, limits(timing))
	r.result.Violations = append(r.result.Violations, r.violations...)
	if len(r.result.Violations) == 0 && o.Dir == "" {
		_ = os.RemoveAll(r.dir) // it is temporary
	}
	return r.result, nil
}

func (r *runner) progress(format string, args ...any) {
	if r.Progress != nil {
		r.Progress(format, args...)
	}
}

func (r *runner) logs() string { return filepath.Join(r.dir, "logs") }

// violated records a violation that the harness itself has seen.
func (r *runner) violated(rule, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.violations = append(r.violations, oracle.Violation{Rule: rule, Text: fmt.Sprintf(format, args...)})
}

// whole plays the episodes and leaves no process, disk or namespace behind, not even if it
// panics.
func (r *runner) whole(ctx context.Context) error {
	defer r.tearDown()
	return r.play(ctx)
}

// setUp makes the network, the disks and the keys, and starts the members.
func (r *runner) setUp() (err error) {
	if r.dir = r.Dir; r.dir == "" {
		if r.dir, err = os.MkdirTemp("", "failaware-chaos-*"); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(r.logs(), 0o755); err != nil {
		return err
	}
	if old, err := os.ReadDir(r.logs()); err != nil || len(old) > 0 {
		return errors.Join(fmt.Errorf("%s has the logs of another run", r.logs()), err)
	}
	r.progress("the logs are in %s", r.logs())
	if r.log, err = os.Create(filepath.Join(r.logs(), oracle.Name(0, 0))); err != nil {
		return err
	}
	if err := r.openStore(); err != nil {
		return err
	}
	if r.hosts, err = newHosts(r.Nodes); err != nil {
		return err
	}
	f, err := openFabric(r.hosts, r.Seed)
	if err != nil {
		return err
	}
	r.net = &network{hosts: r.hosts, fabric: f, rules: map[int]string{}, bent: map[[2]int]bool{}}
	r.keys = newKeyring()
	r.voters = r.all(0)
	for i := 1; i <= r.Nodes; i++ {
		n := &node{number: i}
		r.nodes[i] = n
		if n.disk, err = newDisk(filepath.Join(r.dir, fmt.Sprintf("disk-%d", i))); err != nil {
			return err
		}
		if err := r.keys.write(r.keyFile(i)); err != nil {
			return err
		}
		if err := r.start(n); err != nil {
			return err
		}
	}
	return nil
}

// tearDown ends everything.
func (r *runner) tearDown() {
	var all sync.WaitGroup
	for _, n := range r.nodes {
		if n != nil && n.process.Load() != nil {
			all.Go(n.process.Load().close)
		}
	}
	all.Wait()
	r.store.close()
	for _, n := range r.nodes {
		if n != nil {
			n.disk.remove()
		}
	}
	if r.net != nil {
		r.net.fabric.close()
		r.result.Switch = map[string]int{}
		for i, name := range fabricNames {
			r.result.Switch[name] = int(r.net.fabric.counts[i].Load())
		}
	}
	if r.hosts != nil {
		r.hosts.remove()
	}
	_ = r.log.Close() // each record was written by one call
}

func (r *runner) keyFile(number int) string {
	return filepath.Join(r.dir, fmt.Sprintf("keys-%d", number))
}

// start starts a process of a node.
func (r *runner) start(n *node) error {
	n.started++
	r.result.Restarts++
	cfg := member.Config{Node: n.number, Process: n.started, Preset: r.Preset, State: n.disk.dir, Keys: r.keyFile(n.number), Join: n.joins,
		Log: filepath.Join(r.logs(), oracle.Name(n.number, n.started))}
	for i := 1; i <= r.Nodes; i++ {
		cfg.Peers = append(cfg.Peers, r.hosts.addr(i))
	}
	launch := r.Launch()
	p, err := startProcess(r.hosts.command(n.number, launch.Path, launch.Args[1:]...), cfg, r.wake, r.store.ask)
	if err == nil {
		n.process.Store(p)
	}
	return err
}

func (r *runner) wake() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// play plays the episodes.
func (r *runner) play(ctx context.Context) error {
	if err := r.setUp(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go r.late.run(ctx)
	if err := r.heal(ctx); err != nil {
		return fmt.Errorf("at the start: %w", err)
	}
	s := Schedule{r.Seed, r.Nodes, r.Kinds}
	until := time.Now().Add(r.For)
	for number := r.First; time.Now().Before(until) && (r.Only == 0 || number < r.First+r.Only); number++ {
		e := s.Episode(number)
		r.result.Played = append(r.result.Played, e)
		r.progress("%v", e)
		if err := r.episode(ctx, e); err != nil {
			return fmt.Errorf("%v: %w", e, err)
		}
		if err := r.heal(ctx); err != nil {
			return fmt.Errorf("%v: %w", e, err)
		}
	}
	if len(r.result.Played) == 0 {
		return fmt.Errorf("chaos: no episode begins within %v, so there is nothing to judge", r.For)
	}
	r.finish()
	return nil
}

// episode begins and ends the faults of an episode.
func (r *runner) episode(ctx context.Context, e Episode) error {
	type step struct {
		at time.Duration
		do func() error
	}
	var steps []step
	for i := range e.Faults {
		f := &e.Faults[i]
		steps = append(steps, step{f.At, func() error { return r.begin(f) }}, step{f.At + f.For, func() error { return r.end(f) }})
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	began := time.Now()
	for _, s := range steps {
		select {
		case <-time.After(s.at - time.Since(began)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := s.do(); err != nil {
			return err
		}
	}
	return nil
}

// Waits of a healing.
const (
	patience = 90 * time.Second // after which the group must be whole on any machine
	calm     = 300 * time.Millisecond
)

// heal waits until the group is whole, and logs how long that took.
func (r *runner) heal(ctx context.Context) error {
	r.storms.Wait()
	r.replacements.Wait()
	if err := r.keys.wait(); err != nil {
		r.violated("keys rotate", "%v", err)
	}
	if err := r.startAll(ctx); err != nil {
		return err
	}
	from := member.Now()
	r.late.reset()
	r.askAll(member.DoSample)
	text := r.await(ctx, r.disagreement)
	to := member.Now()
	late := max(r.late.reset(), r.askAll(member.DoSample))
	if text == "" {
		text = r.await(ctx, r.withoutRegisters)
	}
	h := oracle.Record{Kind: oracle.Heal, From: from, To: to, Bound: int64(r.bounds.View + r.bounds.Rejoin), Late: int64(late), Text: text}
	r.write(h)
	for _, n := range r.nodes[1:] {
		n.full = false
	}
	r.progress("whole after %v (bound %v, the machine was at most %v late) %s", time.Duration(to-from).Round(time.Millisecond),
		time.Duration(h.Bound).Round(time.Millisecond), late.Round(100*time.Microsecond), text)
	if text != "" {
		return nil // the verdict says it
	}
	select {
	case <-time.After(calm):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// write writes a record of the harness.
func (r *runner) write(record oracle.Record) {
	b, err := json.Marshal(record)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		_, err = r.log.Write(append(b, '\n'))
	}
	if err != nil {
		r.violations = append(r.violations, oracle.Violation{Rule: "the harness writes its log", Text: err.Error()})
	}
}

// await waits until obstacle returns "", or returns the last obstacle after some time.
func (r *runner) await(ctx context.Context, obstacle func() string) string {
	limit := time.After(patience)
	for {
		missing := obstacle()
		if missing == "" {
			return ""
		}
		select {
		case <-r.changed:
		case <-ctx.Done():
			return ""
		case <-limit:
			return missing
		}
	}
}

// disagreement returns the obstacle to one leader and one view in each group, or "".
func (r *runner) disagreement() string {
	first := r.nodes[1].process.Load().lastStatus()
	for _, n := range r.nodes[1:] {
		s := n.process.Load().lastStatus()
		switch {
		case s == nil || first == nil:
			return fmt.Sprintf("node %d says nothing: %s", n.number, n.process.Load().failure())
		case s.SizeA != r.Nodes || s.SizeB != r.Nodes || s.ViewA == "" || s.ViewA != first.ViewA || s.ViewB == "" || s.ViewB != first.ViewB:
			return fmt.Sprintf("node %d is in the views %q of %d and %q of %d, node 1 in %q and %q", n.number, s.ViewA, s.SizeA, s.ViewB, s.SizeB, first.ViewA, first.ViewB)
		case s.Leader == "" || s.Leader != first.Leader:
			return fmt.Sprintf("node %d follows %q, node 1 %q", n.number, s.Leader, first.Leader)
		case s.Epochs != first.Epochs:
			return fmt.Sprintf("node %d is in the epochs %d, node 1 in %d", n.number, s.Epochs, first.Epochs)
		case s.Global[0] == 0 || s.Global[1] == 0 || s.Global != first.Global:
			return fmt.Sprintf("node %d has the global leaders %d, node 1 has %d", n.number, s.Global, first.Global)
		}
	}
	return ""
}

// withoutRegisters names a node that does not have the registers, or returns "".
func (r *runner) withoutRegisters() string {
	for _, n := range r.nodes[1:] {
		if s := n.process.Load().lastStatus(); s == nil || !s.Working {
			return fmt.Sprintf("node %d does not have the registers", n.number)
		}
	}
	return ""
}

// askAll sends all members a command, and returns the worst lateness that they report.
func (r *runner) askAll(do string) (late time.Duration) {
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, n := range r.nodes[1:] {
		all.Go(func() {
			a, err := n.process.Load().ask(member.Command{Do: do})
			if err != nil && !errors.Is(err, errEnded) {
				r.violated("a member answers", "node %d: %v", n.number, err)
			}
			mu.Lock()
			defer mu.Unlock()
			late = max(late, time.Duration(a.Late))
		})
	}
	all.Wait()
	return late
}

// finish stops the load, and makes the members log their final state.
func (r *runner) finish() {
	r.askAll(member.DoQuiet)
	time.Sleep(2 * time.Second) // for the operations under way
	r.askAll(member.DoState)
	r.askAll(member.DoProfile)
}
