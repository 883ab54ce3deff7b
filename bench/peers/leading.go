package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/failaware/failaware/internal/bench"
)

// Leading is what a group did that only leads: about crashes, stops, cuts, a hog, and rest.
type Leading struct {
	System   string `json:"system"`
	Tight    bool   `json:"tight"`
	Settings string `json:"settings"`
	// Leader and View are the times from kill -9 of the leader, or of any member if there
	// is none, until all others know the next leader, and agree on a view without it.
	Leader *bench.Summary `json:"next_leader,omitempty"`
	View   *bench.Summary `json:"next_view,omitempty"`
	// Merge is the time from the healing of a cut until all agree again.
	Merge  *bench.Summary `json:"merge,omitempty"`
	Failed int            `json:"rounds_failed,omitempty"`
	// Hog is what spinning threads did.
	Hog *Hog `json:"hog,omitempty"`
	// Idle is what the group takes at rest.
	Idle *Idle `json:"idle,omitempty"`
	// Stop and Cut are what leaders believed.
	Stop *Belief `json:"stopped,omitempty"`
	Cut  *Belief `json:"cut_off,omitempty"`

	crashes times
}

// Hog is what a group did beside threads that compute.
type Hog struct {
	Threads int     `json:"threads"`
	Seconds float64 `json:"seconds"`
	// Changes are how often a node saw another leader, or another view of members, and
	// Gaps how often one had none, or none that was up to date, for a while.
	Changes int `json:"changes"`
	Gaps    int `json:"gaps"`
}

// Idle is what one member takes, the mean of all.
type Idle struct {
	CPU  float64 `json:"cpu_percent_of_a_core"`
	Most float64 `json:"cpu_percent_of_the_busiest"`
	// Resident is memory without the program's code: libraries run in one program here,
	// which links all of them.
	Resident float64 `json:"resident_anonymous_mib"`
}

// Belief is for how long two nodes believed to lead, at most, over some faults.
type Belief struct {
	Faults int           `json:"faults"`
	Both   time.Duration `json:"both_ns"`
	// Answers is how often the old leader said that it leads while another one did.
	Answers int           `json:"wrong_answers"`
	Next    time.Duration `json:"next_leader_ns"` // after the fault, at most
}

// failover kills leaders.
func (g *group) failover(o *options, out *Leading) error {
	return g.repeat(o, o.rounds, func(round, victim int) error {
		leader, view, err := g.settled(victim, g.crash(victim))
		if err != nil {
			out.Failed++
		}
		out.crashes.add(leader, view)
		o.progress("%s, round %d: leader %v, view %v", o.name(g), round, leader.Round(100*time.Microsecond), view.Round(100*time.Microsecond))
		out.Leader, out.View = summarize(out.crashes.leaders), summarize(out.crashes.views)
		return g.restart(victim)
	})
}

// split cuts leaders off, and heals the network when the others have gone on.
func (g *group) split(o *options, out *Leading) error {
	if g.net.name == "" {
		return nil
	}
	var merges []time.Duration
	err := g.repeat(o, o.splits, func(round, victim int) error {
		at := now()
		if err := g.net.cut(victim); err != nil {
			return err
		}
		_, _, err := g.settled(victim, at)
		time.Sleep(time.Second) // a short cut is a lost packet to some
		healed := now()
		if err := g.net.heal(victim); err != nil {
			return err
		}
		if err != nil {
			out.Failed++
			return nil
		}
		if err := g.wait(wholeWait, g.whole); err != nil {
			return fmt.Errorf("after a cut was healed, whole again within %v: %w: %s", wholeWait, err, g.describe())
		}
		merges = append(merges, time.Duration(g.latest(0)-healed))
		o.progress("%s, split %d: whole again after %v", o.name(g), round, merges[len(merges)-1].Round(100*time.Microsecond))
		return nil
	})
	out.Merge = summarize(merges)
	return err
}

// repeat has something happen to leaders, or to any members if there are none: some times,
// or as often as there is time for.
func (g *group) repeat(o *options, times int, happen func(round, victim int) error) error {
	const least = 2
	stopAt := time.Now().Add(o.part)
	for round := 1; round <= times && (round <= least || time.Now().Before(stopAt)); round++ {
		if err := g.untilWhole(); err != nil {
			return err
		}
		// A group is at rest again some time after a member has started. Then all moments of its
		// periods are equally likely.
		time.Sleep(300*time.Millisecond + rand.N(200*time.Millisecond))
		victim := g.leader()
		if !g.sys.leads {
			victim = 1 + rand.N(g.count())
		}
		if err := happen(round, victim); err != nil {
			return err
		}
	}
	return g.untilWhole()
}

// times are those of all rounds.
type times struct{ leaders, views []time.Duration }

func (t *times) add(leader, view time.Duration) {
	if leader > 0 {
		t.leaders = append(t.leaders, leader)
	}
	if view > 0 {
		t.views = append(t.views, view)
	}
}

// summarize returns nil if there is nothing.
func summarize(list []time.Duration) *bench.Summary {
	if len(list) == 0 {
		return nil
	}
	s := bench.Summarize(list)
	return &s
}

// settled returns after which times all others agree on a leader, and on a view, without a
// node that is gone since an instant.
func (g *group) settled(without int, since int64) (leader, view time.Duration, err error) {
	err = g.wait(settleWait, func() bool {
		l, v := g.agreed(without)
		took := time.Duration(g.latest(without) - since)
		if g.sys.leads && l && leader == 0 {
			leader = took
		}
		if g.sys.views && v && view == 0 {
			view = took
		}
		return (leader != 0 || !g.sys.leads) && (view != 0 || !g.sys.views)
	})
	return leader, view, err
}

// beside counts changes beside threads that compute.
func (g *group) beside(o *options, out *Leading) error {
	if err := g.untilWhole(); err != nil {
		return err
	}
	const threads = 4
	g.mu.Lock()
	changes, gaps := g.changes, g.gaps
	g.mu.Unlock()
	hog := exec.Command(self(), "hog", fmt.Sprint(threads), o.hog.String())
	if err := hog.Run(); err != nil {
		return err
	}
	time.Sleep(100 * time.Millisecond)
	g.mu.Lock()
	out.Hog = &Hog{threads, o.hog.Seconds(), g.changes - changes, g.gaps - gaps}
	g.mu.Unlock()
	o.progress("%s: %d changes and %d gaps beside %d spinning threads", o.name(g), out.Hog.Changes, out.Hog.Gaps, threads)
	return g.untilWhole()
}

// idle measures what the members take at rest.
func (g *group) idle(o *options, out *Leading) error {
	if err := g.untilWhole(); err != nil {
		return err
	}
	time.Sleep(time.Second)
	before, err := g.usage()
	if err != nil {
		return err
	}
	start := time.Now()
	time.Sleep(o.idle)
	after, err := g.usage()
	if err != nil {
		return err
	}
	i := &Idle{}
	for k := range after {
		cpu := 100 * float64(after[k].cpu-before[k].cpu) / float64(time.Since(start))
		i.CPU += cpu / float64(len(after))
		i.Most = max(i.Most, cpu)
		i.Resident += float64(after[k].resident) / (1 << 20) / float64(len(after))
	}
	out.Idle = i
	o.progress("%s: idle at %.2f %% of a core, %.1f MiB", o.name(g), i.CPU, i.Resident)
	return nil
}

// fault is how long a leader is stopped or cut off: until another one leads for a while. It
// is 0 if that takes too long.
func (g *group) fault() time.Duration {
	if g.tight {
		return g.sys.faults[1]
	}
	return g.sys.faults[0]
}

// believe stops leaders and cuts them off, while all nodes ask all the time whether they
// lead.
func (g *group) believe(o *options, out *Leading) (err error) {
	if g.fault() == 0 {
		return nil
	}
	if _, err := g.askAll(func(int) command { return command{Do: doCampaign} }, time.Minute); err != nil {
		return err
	}
	if out.Stop, err = g.faults(o, "stopped", g.stopped); err != nil || g.net.name == "" {
		return err
	}
	out.Cut, err = g.faults(o, "cut off", g.cutOff)
	return err
}

// faults has a fault happen to leaders again and again.
func (g *group) faults(o *options, what string, fault func(o *options, id int) (int64, error)) (*Belief, error) {
	b := &Belief{}
	stopAt := time.Now().Add(o.part)
	for round := 0; round < o.faults && (round == 0 || time.Now().Before(stopAt)); round++ {
		if _, err := g.beliefs(); err != nil {
			return nil, err
		}
		leader, err := g.believer()
		if err != nil {
			return nil, err
		}
		at, err := fault(o, leader)
		if err != nil {
			return nil, err
		}
		if err := g.untilWhole(); err != nil {
			return nil, err
		}
		time.Sleep(o.settle) // the old leader acts on what it believes
		all, err := g.beliefs()
		if err != nil {
			return nil, err
		}
		if err := b.add(all, leader, at); err != nil {
			return nil, fmt.Errorf("%s: %w", g.sys.name, err)
		}
	}
	o.progress("%s, leader %s: another one after %v at most, both for %v at most, %d wrong answers",
		o.name(g), what, b.Next.Round(time.Millisecond), b.Both.Round(100*time.Microsecond), b.Answers)
	return b, nil
}

// beliefs returns, and forgets, when the nodes said that they lead.
func (g *group) beliefs() ([][]spell, error) {
	reports, err := g.askAll(func(int) command { return command{Do: doBeliefs} }, 10*time.Second)
	var all [][]spell
	for _, r := range reports {
		all = append(all, r.Beliefs)
	}
	return all, err
}

// believer returns the node that says that it leads.
func (g *group) believer() (int, error) {
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		all, err := g.beliefs()
		if err != nil {
			return 0, err
		}
		who, n := 0, 0
		for i, spells := range all {
			if len(spells) > 0 {
				who, n = i+1, n+1
			}
		}
		if n == 1 {
			return who, nil
		}
	}
	return 0, errors.New("nobody says that it leads")
}

// stopped stops the process that leads, until well after another one does.
func (g *group) stopped(o *options, id int) (int64, error) {
	p := g.nodes[id-1].child.cmd.Process
	at := now()
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return 0, os.NewSyscallError("kill", err)
	}
	time.Sleep(g.fault())
	return at, p.Signal(syscall.SIGCONT)
}

// cutOff cuts the node that leads off from the others.
func (g *group) cutOff(o *options, id int) (int64, error) {
	at := now()
	if err := g.net.cut(id); err != nil {
		return 0, err
	}
	time.Sleep(g.fault())
	return at, g.net.heal(id)
}

// add takes what the nodes said in one fault.
func (b *Belief) add(all [][]spell, old int, at int64) error {
	var next int64
	for i, spells := range all {
		for _, s := range spells {
			if i+1 != old && s.To >= at && (next == 0 || s.From < next) {
				next = s.From
			}
		}
	}
	if next == 0 {
		return errors.New("no other node said that it leads")
	}
	b.Faults++
	b.Next = max(b.Next, time.Duration(next-at))
	for _, mine := range all[old-1] {
		for i, spells := range all {
			if i+1 == old {
				continue
			}
			for _, s := range spells {
				both := min(mine.To, s.To) - max(mine.From, s.From)
				if both < 0 {
					continue
				}
				b.Both = max(b.Both, time.Duration(both))
				if mine.To > mine.From {
					b.Answers += 1 + int(int64(mine.Answers-1)*both/(mine.To-mine.From))
				} else {
					b.Answers++
				}
			}
		}
	}
	return nil
}
