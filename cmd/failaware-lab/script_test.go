package main

import (
	"testing"

	"github.com/failaware/failaware/internal/bench"
	"github.com/failaware/failaware/internal/chaos"
	"github.com/failaware/failaware/internal/cli/clitest"
	"github.com/failaware/failaware/internal/race"
)

func TestMain(m *testing.M) { clitest.Main(m, &program, nil) }

func TestEveryCommandHasHelp(t *testing.T) { clitest.CheckHelp(t, &program) }

// [awake] is the condition that processors can be kept awake, and [chaos] that real nodes can
// run through faults.
func TestScripts(t *testing.T) {
	clitest.Scripts{
		Dir: "testdata/script",
		Conditions: map[string]func() bool{
			"awake": func() bool { return bench.MayKeepAwake() == nil },
			"chaos": func() bool { return chaos.Missing() == "" },
			"race":  func() bool { return race.Enabled },
		},
	}.Run(t)
}
