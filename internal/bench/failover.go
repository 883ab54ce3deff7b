package bench

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"time"

	"github.com/failaware/failaware/timed"
)

// FailoverOptions are the choices of [Failover].
type FailoverOptions struct {
	Nodes     int
	Count     int // crashes of leaders, and of followers
	Preset    string
	Timing    timed.Timing
	Limit     time.Duration
	Launch    Launcher // must start processes
	Progress  func(format string, args ...any)
	Followers bool // crash followers, too
}

// FailoverResult is what [Failover] found.
type FailoverResult struct {
	Machine  Machine `json:"machine"`
	Nodes    int     `json:"nodes"`
	Preset   string  `json:"preset"`
	Leader   Crashes `json:"leader_crash"`
	Follower Crashes `json:"follower_crash"`
	CutShort bool    `json:"cut_short"` // the time was up before Count was reached
	Aims     []Aim   `json:"aims"`
}

// Crashes are the times after crashes of one kind. Instants are those at which
// the processes of the survivors could know, on the hardware clock, and the
// first one is read just before the signal is sent.
type Crashes struct {
	// Elected: until a survivor leads by the votes of all survivors, each of
	// which knows it. Not for crashes of followers: their leader stays.
	Elected Summary `json:"elected"`
	// View: until all survivors hold the same new view, of just them, and up to
	// date.
	View Summary `json:"view"`
	// Leaderless: for how long no survivor led, until View.
	Leaderless Summary `json:"leaderless"`
	// Stale: for how long a survivor's view was not up to date, until View; the
	// longest of all survivors.
	Stale Summary `json:"stale"`
	// Failed trials did not reach View in time.
	Failed int `json:"failed"`
}

// crashTimes gathers trials.
type crashTimes struct {
	elected, view, leaderless, stale []time.Duration
	failed                           int
}

func (c *crashTimes) summary() Crashes {
	return Crashes{summarize(c.elected), summarize(c.view), summarize(c.leaderless), summarize(c.stale), c.failed}
}

// Failover crashes nodes of a group, leader and follower in turn, and measures
// how the others get over it. The node is started again before the next crash.
func Failover(ctx context.Context, opt FailoverOptions) (*FailoverResult, error) {
	if opt.Launch == nil {
		return nil, errors.New("bench: only processes can crash")
	}
	if opt.Nodes < 3 {
		return nil, errors.New("bench: a crash needs at least three nodes")
	}
	r := &FailoverResult{Machine: machine(), Nodes: opt.Nodes, Preset: opt.Preset}
	g, err := newGroup(opt.Launch, opt.Nodes, opt.Timing)
	if err != nil {
		return nil, err
	}
	defer g.stop()
	if err := g.startAll(ctx); err != nil {
		return nil, err
	}
	stopAt := time.Now().Add(opt.Limit)
	var leaders, followers crashTimes
	told := time.Time{}
	for i := range opt.Count {
		if r.CutShort = time.Now().After(stopAt); r.CutShort {
			break
		}
		if err := g.trial(ctx, true, &leaders); err != nil {
			return nil, err
		}
		if opt.Followers {
			if err := g.trial(ctx, false, &followers); err != nil {
				return nil, err
			}
		}
		if opt.Progress != nil && time.Since(told) > time.Second {
			told = time.Now()
			opt.Progress("%d of %d crashes of the leader", i+1, opt.Count)
		}
	}
	r.Leader, r.Follower = leaders.summary(), followers.summary()
	if opt.Timing == timed.Local() && r.Leader.Elected.Count > 0 {
		r.Aims = []Aim{aimMillis("crash → new leader, p50", r.Leader.Elected.P50, 35*time.Millisecond),
			aimMillis("crash → new leader, p99", r.Leader.Elected.P99, 60*time.Millisecond)}
	}
	return r, nil
}

// crashWait is how long the survivors of a crash have.
const crashWait = 10 * time.Second

// trial crashes the leader or a follower, and starts it again.
func (g *group) trial(ctx context.Context, leads bool, times *crashTimes) error {
	victim, err := g.calm(ctx)
	if err != nil {
		return err
	}
	if !leads {
		others := g.all
		others.Remove(victim)
		victim = pick(others)
	}
	survivors := g.all
	survivors.Remove(victim)
	for id := range survivors.All() {
		g.members[id].child.tell(command{Do: doExpect, Expect: idSet{survivors}})
	}
	at := g.crash(victim)
	t := &timeline{ids: survivors}
	err = g.wait(ctx, crashWait, func() bool {
		n := g.current(survivors)
		return t.led(n) && t.fresh(n)
	})
	if err != nil && !errors.Is(err, errPatience) {
		return err
	}
	if t = g.timelineOf(survivors); err == nil {
		times.take(t, at, leads)
	} else {
		times.failed++
	}
	return g.restart(victim)
}

// take takes the times of a trial that came to its end.
func (c *crashTimes) take(t *timeline, at timed.Instant, leads bool) {
	elected, ok := t.first(at, t.led)
	view, fine := t.first(at, t.fresh)
	if !ok || !fine {
		c.failed++
		return
	}
	if leads {
		c.elected = append(c.elected, elected.Sub(at))
	}
	c.view = append(c.view, view.Sub(at))
	c.leaderless = append(c.leaderless, t.total(at, timed.Later(view, elected), t.leaderless))
	c.stale = append(c.stale, t.longestStale(at, view))
}

// pick returns any of the ids.
func pick(ids timed.Set) timed.NodeID {
	at := rand.N(ids.Len())
	for id := range ids.All() {
		if at--; at < 0 {
			return id
		}
	}
	return timed.NoNode
}

// Text writes the result as a table.
func (r *FailoverResult) Text(w io.Writer) {
	p := page{w}
	p.machine(r.Machine)
	p.line("setup: %d nodes, a process each, timing %s; SIGKILL, as known by the processes of the survivors", r.Nodes, r.Preset)
	rows := [][]string{summaryHead("crash of", "")}
	add := func(who string, c Crashes) {
		if c.Elected.Count > 0 {
			rows = append(rows, summaryRow(c.Elected, who, "→ new leader of all survivors"))
		}
		rows = append(rows, summaryRow(c.View, who, "→ new fresh view at all survivors"),
			summaryRow(c.Leaderless, who, "without leader"), summaryRow(c.Stale, who, "view stale"))
	}
	add("leader", r.Leader)
	if r.Follower.View.Count > 0 {
		add("follower", r.Follower)
	}
	p.table(rows)
	if n := r.Leader.Failed + r.Follower.Failed; n > 0 {
		p.line("%d trials failed: no new leader and view within %v", n, crashWait)
	}
	if r.CutShort {
		p.line("the time was up before all trials were made")
	}
	p.aims(r.Aims)
}
