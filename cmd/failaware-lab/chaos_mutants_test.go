//go:build mutants

package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/failaware/failaware/internal/chaos"
	"github.com/failaware/failaware/internal/cli/clitest"
)

// Real nodes with planted bugs break promises, and the oracle says which. The scripts may
// use this command besides those of package clitest:
//
//	noticed BUG KINDS RULE
//	    Check that a chaos run with these kinds of faults breaks this rule.
func TestBugsOnRealNodesNoticed(t *testing.T) {
	if why := chaos.Missing(); why != "" {
		t.Skip(why)
	}
	clitest.Scripts{Dir: "testdata/chaos", Commands: map[string]clitest.Command{"noticed": noticed}}.Run(t)
}

// chaosTries limits the runs until a bug is noticed: whether it matters depends on the moment
// of a fault. Nearly always one is enough.
const chaosTries = 5

func noticed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: noticed BUG KINDS RULE")
	}
	ts.Setenv("FAILAWARE_MUTANT", args[0])
	for seed := range chaosTries {
		err := ts.Exec("failaware-lab", "chaos", "--seed", strconv.Itoa(seed+1), "--kinds", args[1], "--episodes", "2")
		if err != nil && strings.Contains(ts.ReadFile("stdout"), "VIOLATION: "+args[2]) {
			return
		}
	}
	ts.Fatalf("%s was not noticed", args[0])
}
