package demo

import (
	"errors"
	"fmt"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/timed"
)

// LeastStoryNodes is the least number of nodes for the story.
const LeastStoryNodes = 5

// pauseAtLeast is the least duration of the leader's pause.
const pauseAtLeast = time.Second

// story is the fixed story, with its memory between steps.
type story struct {
	*World
	all      failaware.Set
	leader   failaware.NodeID // of all, or of the larger side
	view     failaware.ViewID // of all
	minority failaware.Set
	sides    [2]failaware.ViewID
	stopped  time.Time
	paused   failaware.Instant // when the lead of the paused node began; 0 if it had none any more
	early    string            // the end of a paused node's lease, as observed
}

func newStory(w *World) *story { return &story{World: w, all: w.All()} }

// steps returns the story.
func (s *story) steps() []step {
	b := s.bounds
	n := s.all.Len()
	return []step{
		{fmt.Sprintf("start %d nodes", n), fmt.Sprintf("one leader, and one fresh view of all %d", n),
			b.Rejoin + b.View, s.StartAll, s.together, 0},
		{"split the network in two, the leader in the smaller part",
			"each side has a leader and a fresh view; the old view is stale everywhere", b.View, s.divide, s.divided, 0},
		{"heal the network", "one leader and one fresh view, in which the two branches meet", b.View, s.mend, s.merged, 0},
		{"crash the leader", "another leader, and a fresh view without it", b.View, s.crash, s.another, 0},
		{"restart it", fmt.Sprintf("a fresh view of all %d, and the leader stays", n), b.Rejoin + b.View, s.restart, s.rejoined, 0},
		{"ask the leader to resign", fmt.Sprintf("it gives up at once; then one leader again, and a fresh view of all %d", n),
			b.View, s.resign, s.resigned, 0},
		{"pause the leader, as by SIGSTOP", "its lease ends by itself, and the others elect another leader",
			b.View, s.pause, s.another, pauseAtLeast},
		{"resume it", "it says at once that it no longer leads; then one fresh view of all", b.View, s.resume, s.resumed, 0},
		{"cut a link one way", "neither side counts the other as alive; still one leader and one fresh view",
			b.Notice, s.cutOneWay, s.deaf, 0},
		{"slow another link down", "slow is not fast: its ends do not count each other as alive; still one leader",
			b.Notice, s.slowDown, s.slowed, 0},
		{"heal the network", "all nodes are alive for each other, with one fresh view", b.View, s.mend, s.whole, 0},
	}
}

// agree reports whether the nodes of a set, and no others, have one leader that all
// follow and one fresh view.
func (s *story) agree(set failaware.Set) (got string, lead failaware.NodeID, view failaware.ViewID, ok bool) {
	ok = true
	for id := range set.All() {
		n := s.Node(id)
		if n == nil {
			return fmt.Sprintf("node %v does not run", id), 0, view, false
		}
		l, v := n.Leader(), n.View()
		if lead == 0 {
			lead = l.Leader
		}
		if view.None() {
			view = v.View.ID
		}
		switch {
		case !l.UpToDate:
			got, ok = fmt.Sprintf("node %v follows nobody", id), false
		case l.Leader != lead || !set.Has(lead) || l.Leads != (lead == id):
			got, ok = fmt.Sprintf("node %v follows node %v", id, l.Leader), false
		case !v.UpToDate:
			got, ok = fmt.Sprintf("node %v has no fresh view", id), false
		case v.View.ID != view || v.View.Set != set:
			got, ok = fmt.Sprintf("node %v has the view %v", id, v.View.Set), false
		}
	}
	if ok {
		got = fmt.Sprintf("node %v leads, view %s of %v is fresh at all %d", lead, shortID(view), set, set.Len())
	}
	return got, lead, view, ok
}

func shortID(v failaware.ViewID) string { return fmt.Sprintf("%d@%v", v.Sequence, v.Leader) }

func (s *story) together() (string, bool, error) {
	got, lead, view, ok := s.agree(s.all)
	if ok {
		s.leader, s.view = lead, view
	}
	return got, ok, nil
}

// settle checks that the leader and the view are still those of the last step, because
// on a busy machine they may have changed.
func (s *story) settle() error {
	for end := time.Now().Add(basePatience + boundPatience*s.bounds.View); time.Now().Before(end); time.Sleep(pollEvery) {
		if _, ok, _ := s.together(); ok {
			return nil
		}
		if s.ctx.Err() != nil {
			return s.ctx.Err()
		}
	}
	return errors.New("the nodes no longer agree")
}

// divide puts the leader and the next nodes into the smaller part.
func (s *story) divide() error {
	if err := s.settle(); err != nil {
		return err
	}
	s.minority = timed.SetOf(s.leader)
	for id := s.leader; s.minority.Len() < s.all.Len()/2; {
		if id = s.all.Next(id); id == 0 {
			id = s.all.Min()
		}
		s.minority.Add(id)
	}
	s.Cut(true, across(s.minority, s.all.Minus(s.minority))...)
	return nil
}

func (s *story) divided() (string, bool, error) {
	a, _, viewA, okA := s.agree(s.minority)
	b, lead, viewB, okB := s.agree(s.all.Minus(s.minority))
	if !okA || !okB {
		return a + "; " + b, false, nil
	}
	s.leader, s.sides = lead, [2]failaware.ViewID{viewA, viewB}
	return fmt.Sprintf("%s; %s; %s is stale", a, b, shortID(s.view)), true, nil
}

func (s *story) mend() error {
	s.Heal()
	return nil
}

// merged looks for both sides among the ancestors of the view of all.
func (s *story) merged() (string, bool, error) {
	got, lead, view, ok := s.agree(s.all)
	if !ok {
		return got, false, nil
	}
	var branches string
	from := map[failaware.ViewID]int{s.sides[0]: 1, s.sides[1]: 2}
	records := s.journal.installed()
	for range records { // until a pass finds nothing new, for any order of records
		before := len(from)
		for _, r := range records {
			if from[r.View.ID] != 0 {
				continue
			}
			sides := 0
			for _, m := range r.Merged {
				sides |= from[m.From]
			}
			if sides != 0 {
				from[r.View.ID] = sides
			}
			if sides == 3 && branches == "" {
				branches = "from"
				for _, m := range r.Merged {
					branches += fmt.Sprintf(" %v %v", m.Members, shortID(m.From))
				}
			}
		}
		if len(from) == before {
			break
		}
	}
	if from[view] != 3 {
		return got + "; its lineage is not known yet", false, nil
	}
	s.leader, s.view = lead, view
	return got + ", " + branches, true, nil
}

func (s *story) crash() error {
	if err := s.settle(); err != nil {
		return err
	}
	s.stopped = time.Now()
	s.Crash(s.leader)
	return nil
}

// another waits for another leader than the crashed or paused one. A paused node must
// not believe for longer than its lease that it leads.
func (s *story) another() (string, bool, error) {
	if n := s.Node(s.leader); n != nil {
		if asked := time.Now(); n.Leads() {
			if asked.Sub(s.stopped) > s.bounds.Depose {
				return "", false, fmt.Errorf("node %v says that it leads %v after it was paused", s.leader, asked.Sub(s.stopped))
			}
		} else if s.early == "" {
			s.early = fmt.Sprintf(", the lease of node %v was over after %v", s.leader, brief(time.Since(s.stopped)))
		}
	}
	got, lead, _, ok := s.agree(s.all.Without(s.leader))
	return got + s.early, ok && lead != s.leader, nil
}

func (s *story) restart() error { return s.Start(s.leader) }

// rejoined waits for a view of all. The restarted node leads it only on a machine that
// is not timely.
func (s *story) rejoined() (string, bool, error) {
	got, lead, view, ok := s.agree(s.all)
	if !ok {
		return got, false, nil
	}
	if lead == s.leader {
		got += " (it leads, because the others were not timely)"
	}
	s.leader, s.view = lead, view
	return got, true, nil
}

func (s *story) resign() error {
	for {
		if err := s.settle(); err != nil {
			return err
		}
		if err := s.Resign(s.leader); !errors.Is(err, failaware.ErrNotLeader) {
			return err
		}
	}
}

// resigned waits for another leader and a later view: the previous view must not be
// fresh again, and the leader that handed over must not lead again.
func (s *story) resigned() (string, bool, error) {
	got, lead, view, ok := s.agree(s.all)
	if ok && view == s.view {
		return got, false, fmt.Errorf("the view %s is fresh again although its leader resigned", shortID(view))
	}
	if ok && lead == s.leader {
		return got, false, fmt.Errorf("node %v leads again although it handed over", lead)
	}
	if ok {
		s.leader, s.view = lead, view
	}
	return got, ok, nil
}

func (s *story) pause() error {
	if err := s.settle(); err != nil {
		return err
	}
	s.Pause(s.leader)
	s.paused = s.Node(s.leader).Leader().Since
	s.stopped, s.early = time.Now(), ""
	return nil
}

func (s *story) resume() error {
	if s.Node(s.leader).Leads() {
		return fmt.Errorf("the paused node %v still says that it leads", s.leader)
	}
	s.Resume(s.leader)
	// On a busy machine it may have found out that it is alone, and lead anew.
	if a := s.Node(s.leader).Leader(); a.Leads && a.Since == s.paused {
		return fmt.Errorf("node %v says that it leads after its pause", s.leader)
	}
	return nil
}

func (s *story) resumed() (string, bool, error) {
	old := s.leader
	got, ok, err := s.rejoined()
	return fmt.Sprintf("node %v answers no at once; %s", old, got), ok, err
}
