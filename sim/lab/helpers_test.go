package lab

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/sim/fault"
)

func scripted(faults ...fault.Fault) func(*rand.Rand) []fault.Fault {
	return func(*rand.Rand) []fault.Fault { return slices.Clone(faults) }
}

func scenario(t *testing.T, name string) Scenario {
	s, err := FindScenarios(name)
	require.NoError(t, err)
	require.Len(t, s, 1)
	return s[0]
}

func algorithm(t *testing.T, name string) Algorithm {
	a, err := FindAlgorithms(name)
	require.NoError(t, err)
	require.Len(t, a, 1)
	return a[0]
}

// outcome runs a named algorithm.
func outcome(t *testing.T, name string, s Scenario, seed uint64) Outcome {
	o, err := Run(algorithm(t, name), s, seed)
	require.NoError(t, err)
	return o
}

// violation returns how a run violated a specification, or nil; the premise of the
// specification must have held.
func violation(t *testing.T, name string, s Scenario, seed uint64, spec SpecName) error {
	return outcome(t, name, s, seed).violation(t, spec)
}

func (o Outcome) violation(t *testing.T, spec SpecName) error {
	for _, v := range o.Verdicts {
		if v.Spec == spec {
			require.True(t, v.Tested, "%s was not tested", spec)
			return v.Err
		}
	}
	t.Fatalf("no specification %q", spec)
	return nil
}
