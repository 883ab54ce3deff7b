package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/failaware/failaware/timed"
)

// FailoverOptions are the choices of [Failover].
type FailoverOptions struct {
	Setup
	Nodes     int
	Count     int  // crashes of leaders, and of followers
	Followers bool // also crash followers
}

// Check returns an error if the choices make no sense.
func (o *FailoverOptions) Check() error {
	return errors.Join(least("nodes", o.Nodes, 3), least("count", o.Count, 1))
}

// FailoverResult is the result of [Failover].
type FailoverResult struct {
	Head
	Nodes    int     `json:"nodes"`
	Leader   Crashes `json:"leader_crash"`
	Follower Crashes `json:"follower_crash"`
}

// Crashes holds the times after crashes of one kind, by the hardware clock. Each begins just
// before the signal, and ends when the processes of the survivors can know.
type Crashes struct {
	// Elected: until a survivor leads by the votes of all survivors, each of
	// which knows it. Not for crashes of followers: their leader stays.
	Elected Summary `json:"elected"`
	// View: until all survivors hold the same new view, of just them, and up to
	// date.
	View Summary `json:"view"`
	// Leaderless: the time for which no survivor led, until View.
	Leaderless Summary `json:"leaderless"`
	// Stale: the time for which a survivor's view was not up to date, until View;
	// the longest of all survivors.
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
	return Crashes{Summarize(c.elected), Summarize(c.view), Summarize(c.leaderless), Summarize(c.stale), c.failed}
}

// Failover crashes nodes of a group, leader and follower in turn, and measures how the
// others recover. The node is started again before the next crash.
func Failover(ctx context.Context, opt FailoverOptions) (*FailoverResult, error) {
	ctx, cancel := opt.bounded(ctx)
	defer cancel()
	r := &FailoverResult{Head: opt.head(FailoverKind), Nodes: opt.Nodes}
	g, err := opt.startGroup(ctx, opt.Nodes, nil)
	if err != nil {
		return nil, err
	}
	defer g.stop()
	var leaders, followers crashTimes
	r.CutShort, err = opt.repeat(ctx, opt.Count, "crashes of the leader", func() error {
		if err := g.trial(ctx, true, &leaders); err != nil || !opt.Followers {
			return err
		}
		return g.trial(ctx, false, &followers)
	})
	if err != nil {
		return nil, err
	}
	r.Leader, r.Follower = leaders.summary(), followers.summary()
	if opt.Timing == timed.Local() && r.Leader.Elected.Count > 0 {
		r.Aims = []Aim{aimMillis("crash → new leader, p50", r.Leader.Elected.P50, 35*time.Millisecond),
			aimMillis("crash → new leader, p99", r.Leader.Elected.P99, 60*time.Millisecond)}
	}
	return r, nil
}

// crashWait is the time limit for the survivors of a crash.
const crashWait = 10 * time.Second

// trial crashes the leader or a follower, and starts it again.
func (g *group) trial(ctx context.Context, leads bool, times *crashTimes) error {
	victim, err := g.calm(ctx)
	if err != nil {
		return err
	}
	if !leads {
		victim = pick(g.all.Without(victim))
	}
	survivors := g.all.Without(victim)
	g.tell(survivors, command{Do: doExpect, Expect: survivors})
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

// take records the times of a completed trial.
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

// Text implements [Result].
func (r *FailoverResult) Text(w io.Writer) error {
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
	var more []string
	if n := r.Leader.Failed + r.Follower.Failed; n > 0 {
		more = append(more, fmt.Sprintf("%d trials failed: no new leader and view within %v", n, crashWait))
	}
	return r.text(w, fmt.Sprintf("%d nodes, a process each, timing %s; SIGKILL, as known by the processes of the survivors", r.Nodes, r.Preset), rows, more...)
}
