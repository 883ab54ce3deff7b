package demo

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

func leads(id failaware.NodeID, support ...failaware.NodeID) claim {
	return claim{id: id, leader: failaware.LeaderAnswer{Leads: true, UpToDate: true, Leader: id, Support: timed.SetOf(support...)}}
}

func holdsView(id failaware.NodeID, leader failaware.NodeID, fresh bool, ids ...failaware.NodeID) claim {
	return claim{id: id, view: failaware.ViewAnswer{UpToDate: fresh,
		View: &failaware.View{ID: failaware.ViewID{Sequence: 1, Leader: leader, Boot: 1}, Set: timed.SetOf(ids...)}}}
}

func TestWatchFindsViolations(t *testing.T) {
	type round = []claim
	for name, c := range map[string]struct {
		first, second round
		broken        bool
	}{
		"two leaders apart":        {round{leads(1, 1, 2), leads(3, 3)}, round{leads(1, 1, 2), leads(3, 3)}, false},
		"two leaders of one":       {round{leads(1, 1, 2), leads(3, 2, 3)}, round{leads(1, 1, 2), leads(3, 2, 3)}, true},
		"one after the other":      {round{leads(1, 1, 2), {id: 3}}, round{{id: 1}, leads(3, 2, 3)}, false},
		"only in one round":        {round{leads(1, 1, 2), leads(3, 2, 3)}, round{{id: 1}, leads(3, 2, 3)}, false},
		"supports moved meanwhile": {round{leads(1, 1, 2), leads(3, 3)}, round{leads(1, 1), leads(3, 2, 3)}, false},
		"the same view": {round{holdsView(1, 1, true, 1, 2), holdsView(2, 1, true, 1, 2)},
			round{holdsView(1, 1, true, 1, 2), holdsView(2, 1, true, 1, 2)}, false},
		"views that overlap": {round{holdsView(1, 1, true, 1, 2), holdsView(2, 2, true, 2)},
			round{holdsView(1, 1, true, 1, 2), holdsView(2, 2, true, 2)}, true},
		"one of them stale": {round{holdsView(1, 1, true, 1, 2), holdsView(2, 2, true, 2)},
			round{holdsView(1, 1, false, 1, 2), holdsView(2, 2, true, 2)}, false},
		"views apart": {round{holdsView(1, 1, true, 1), holdsView(2, 2, true, 2)},
			round{holdsView(1, 1, true, 1), holdsView(2, 2, true, 2)}, false},
	} {
		require.Equal(t, c.broken, len(violations(c.first, c.second)) > 0, name)
	}
	_, broken := new(watch).result()
	require.Equal(t, []string{}, broken, "not null in JSON")
}

func TestWatchComparesClocks(t *testing.T) {
	at := func(id failaware.NodeID, when, deviation time.Duration, timeline uint64) claim {
		return claim{id: id, clock: failaware.Reading{Time: clocksync.Time(time.Hour + when), Deviation: deviation,
			Timeline: failaware.TimelineID{Leader: 1, Boot: 1, Sequence: timeline}}}
	}
	const us = time.Microsecond
	for name, c := range map[string]struct {
		b      claim
		broken bool
	}{
		"within":           {at(2, 40*us, 50*us, 1), false},
		"behind":           {at(2, -60*us, 50*us, 1), true},
		"ahead":            {at(2, 80*us, 50*us, 1), true},
		"another timeline": {at(2, 80*us, 50*us, 2), false},
		"unknown":          {at(2, 80*us, clocksync.UnknownBound, 1), false},
	} {
		first := []claim{at(1, 0, 0, 1), c.b}
		second := []claim{at(1, 10*us, 0, 1), c.b}
		require.Equal(t, c.broken, len(violations(first, second)) > 0, name)
	}
}
