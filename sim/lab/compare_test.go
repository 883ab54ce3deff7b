package lab

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCompareIsTheSameWithManyJobs(t *testing.T) {
	algs, err := FindAlgorithms("bully,invitation,local")
	require.NoError(t, err)
	scenarios, err := FindScenarios("stoller,trio-cut")
	require.NoError(t, err)
	p := Plan{Algorithms: algs, Scenarios: scenarios, First: 5, Seeds: 3}
	one, err := Compare(context.Background(), p)
	require.NoError(t, err)
	p.Jobs = 4
	four, err := Compare(context.Background(), p)
	require.NoError(t, err)
	require.Equal(t, one, four)
	require.Len(t, one, 6)
	r := one[1]
	require.Equal(t, "invitation", r.Algorithm)
	require.Equal(t, "stoller", r.Scenario)
	require.Equal(t, 3*time.Minute, r.Simulated)
	four4 := r.Spec(Assertion4)
	require.Equal(t, 3, four4.Violated)
	require.EqualValues(t, 5, four4.First)
	require.Contains(t, four4.Detail, "clique {2 3}")
	require.Equal(t, Tally{Spec: Assertion4Prime, Promised: true, Tested: 3}, r.Spec(Assertion4Prime))
}

func TestBadPlansAreNamed(t *testing.T) {
	_, err := Compare(context.Background(), Plan{})
	require.ErrorContains(t, err, "0 seeds: must be 1 to 1000000")
	_, err = FindAlgorithms("ring,raft")
	require.ErrorContains(t, err, `there is no algorithm "raft": the names are all, ring, ring-initiator`)
	_, err = FindScenarios("")
	require.ErrorContains(t, err, `there is no scenario ""`)
	_, err = countRing(65, ByParticipant, 1)
	require.ErrorContains(t, err, "must be 2 to 64")
	_, err = countBully(4, 2, false, 4)
	require.ErrorContains(t, err, "process 4 cannot call for an election")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Compare(ctx, Plan{Algorithms: Algorithms(), Scenarios: Scenarios(), Seeds: 1})
	require.ErrorIs(t, err, context.Canceled)
}

// The first claim of the laboratory: each algorithm keeps its promises in
// every scenario, and our local election never has two leaders in one connected set.
func TestPromisesAreKeptInEveryScenario(t *testing.T) {
	algs, err := FindAlgorithms("invitation,majority,nerio-drift,nerio-skew,local,local-strict,local-global")
	require.NoError(t, err)
	rows, err := Compare(context.Background(), Plan{Algorithms: algs, Scenarios: Scenarios(), First: 11, Seeds: 1, Jobs: 2})
	require.NoError(t, err)
	tested := map[string]map[SpecName]bool{}
	for _, r := range rows {
		if tested[r.Algorithm] == nil {
			tested[r.Algorithm] = map[SpecName]bool{}
		}
		for _, x := range r.Specs {
			if x.Promised {
				require.Zero(t, x.Violated, "%s, %s: %s: %s", r.Scenario, r.Algorithm, x.Spec, x.Detail)
				tested[r.Algorithm][x.Spec] = tested[r.Algorithm][x.Spec] || x.Tested > 0
			}
		}
		if a := algorithm(t, r.Algorithm); a.Own() {
			require.Zero(t, r.Two, "%s, %s", r.Scenario, r.Algorithm)
		}
	}
	for _, a := range algs {
		for _, name := range a.Promises {
			require.True(t, tested[a.Name][name], "%s: %s was tested nowhere", a.Name, name)
		}
	}
}

// The classics have two leaders in one connected set, in these scenarios and seeds.
func TestClassicsHaveTwoLeaders(t *testing.T) {
	for name, where := range map[string]string{"ring": "trio-cut", "ring-initiator": "partition", "ring-predecessor": "trio-cut",
		"bully": "partition", "bully-phi": "partition", "bully-fast": "partition", "invitation": "bridge"} {
		require.Greater(t, outcome(t, name, scenario(t, where), 2).Two, 2*time.Second, "%s in %s", name, where)
	}
}

// Mode available is the worst in no column: strictly behind all others in none.
func TestLocalIsNotTheWorst(t *testing.T) {
	scenarios, err := FindScenarios("crash,stoller,trio-cut,trio-overload,one-way,partition")
	require.NoError(t, err)
	algs := slices.DeleteFunc(Algorithms(), func(a Algorithm) bool { return a.Own() && a.Name != "local" })
	rows, err := Compare(context.Background(), Plan{Algorithms: algs, Scenarios: scenarios, First: 1, Seeds: 1, Jobs: 2})
	require.NoError(t, err)
	for name, cost := range map[string]func(*Row) float64{
		"led":                   func(r *Row) float64 { return -r.LedShare() },
		"two leaders":           func(r *Row) float64 { return r.TwoShare() },
		"time to elect":         func(r *Row) float64 { return r.TimeToElect().Seconds() },
		"messages per election": func(r *Row) float64 { return r.MessagesPerElection() },
		"changes per hour":      func(r *Row) float64 { return r.ChangesPerHour() },
		"messages per second":   func(r *Row) float64 { return r.MessagesPerSecond() },
	} {
		for of := range slices.Chunk(rows, len(algs)) {
			own, others := of[len(algs)-1], of[:len(algs)-1]
			require.Equal(t, "local", own.Algorithm)
			require.True(t, slices.ContainsFunc(others, func(r Row) bool { return cost(&r) >= cost(&own) }), "%s, %s", own.Scenario, name)
		}
	}
}

// Spec returns the tally of a specification.
func (r *Row) Spec(name SpecName) Tally {
	for _, t := range r.Specs {
		if t.Spec == name {
			return t
		}
	}
	return Tally{Spec: name}
}
