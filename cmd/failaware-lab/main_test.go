package main

import (
	"os"
	"strings"
	"testing"

	"github.com/failaware/failaware/internal/cli/clitest"
)

func TestMain(m *testing.M) {
	clitest.Main(&program)
	os.Exit(m.Run())
}

func TestEveryCommandHasHelp(t *testing.T) { clitest.CheckHelp(t, &program) }

func TestWrongUsage(t *testing.T) {
	for args, want := range map[string]string{
		"bogus":                         `unknown command "bogus"`,
		"node":                          `unknown command "node"`,
		"--bogus":                       "see 'failaware-lab --help'",
		"sim -o xml":                    "it is none of table, json, ndjson",
		"sim --quorum majority:1,9":     "node 9 of a world with 5 nodes",
		"exhaust extra":                 "see 'failaware-lab exhaust --help'",
		"bench election extra":          "see 'failaware-lab bench election --help'",
		"plot":                          "requires at least 1 arg",
		"lab --algorithms none":         "--algorithms",
		"sim clocks --scenario nothing": "--scenario",
	} {
		clitest.CheckWrongUsage(t, &program, strings.Fields(args), want)
	}
}
