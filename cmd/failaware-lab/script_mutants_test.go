//go:build mutants

package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/failaware/failaware/internal/cli/clitest"
	"github.com/failaware/failaware/sim"
)

// The scripts may use these commands besides those of package clitest:
//
//	shrunk CASE CHECK MOST
//	    Check that a case breaks this promise by MOST faults at most, and that the
//	    output of the last command begins with them.
//	steps SEARCH
//	    Check that the output of the last command contains all steps of the violation
//	    that an exhaustive search has found.
func TestScriptsOfKilledBugs(t *testing.T) {
	clitest.Scripts{
		Dir:      "testdata/mutants",
		Commands: map[string]clitest.Command{"shrunk": shrunk, "steps": steps},
	}.Run(t)
}

func shrunk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: shrunk CASE CHECK MOST")
	}
	most, err := strconv.Atoi(args[2])
	ts.Check(err)
	c, err := sim.ReadCase(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	lines := strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n")
	var summary struct{ Shrunk struct{ Faults []string } }
	ts.Check(json.Unmarshal([]byte(lines[len(lines)-1]), &summary))
	faults := summary.Shrunk.Faults
	if n := len(c.Schedule.Faults); c.Check != args[1] || n == 0 || n > most || n != len(faults) {
		ts.Fatalf("the case breaks %s with %d faults; the summary has %d", c.Check, n, len(faults))
	}
	for i, fault := range faults {
		if lines[i] != fault {
			ts.Fatalf("line %d is %q instead of %q", i+1, lines[i], fault)
		}
	}
}

func steps(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: steps SEARCH")
	}
	var found struct{ Violation struct{ Steps []string } }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &found))
	if len(found.Violation.Steps) == 0 {
		ts.Fatalf("%s has no steps", args[0])
	}
	for _, step := range found.Violation.Steps {
		if !strings.Contains(ts.ReadFile("stdout"), step) {
			ts.Fatalf("step %q is missing", step)
		}
	}
}
