package clitest

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	ossignal "os/signal"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/failaware/failaware/internal/cli"
)

// Command is a command of scripts, as testscript calls it.
type Command = func(ts *testscript.TestScript, neg bool, args []string)

var update = flag.Bool("update", false, "write the output that the command cmp finds into the scripts")

// Main runs the tests of a package as its TestMain. Meanwhile the command p, and the
// others by their names, can be executed: each is this test binary, which runs the
// command of that name.
func Main(m *testing.M, p *cli.Program, others map[string]func()) {
	if os.Getenv("GORACE") == "" {
		// Otherwise each process waits for a second before it ends.
		_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	if ossignal.Ignored(os.Interrupt) {
		// The commands would inherit that, as when a shell runs the tests in its background.
		// What is caught here has its usual effect in them.
		ossignal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	commands := maps.Clone(others)
	if commands == nil {
		commands = map[string]func(){}
	}
	commands[p.Root().Name()] = func() {
		os.Exit(p.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	testscript.Main(m, commands)
}

// Scripts are the scripts of a directory.
type Scripts struct {
	Dir        string
	Commands   map[string]Command     // besides those of this package
	Conditions map[string]func() bool // for words such as [awake] before a command

	patience time.Duration // instead of [LongEnough]
}

// Run plays scripts in parallel.
func (s Scripts) Run(t *testing.T) { testscript.Run(t, s.params()) }

func (s Scripts) params() testscript.Params {
	commands := map[string]Command{
		"addresses": addresses,
		"await":     await,
		"capture":   capture,
		"ended":     ended,
		"exits":     exits,
		"refused":   refused,
		"shutdown":  shutdown,
		"signal":    signal,
		"start":     start,
		"until":     until,
	}
	maps.Copy(commands, s.Commands)
	return testscript.Params{
		Dir:                s.Dir,
		Cmds:               commands,
		Condition:          s.condition,
		Setup:              s.setup,
		RequireUniqueNames: true,
		UpdateScripts:      *update,
	}
}

func (s Scripts) condition(name string) (bool, error) {
	c, ok := s.Conditions[name]
	if !ok {
		return false, fmt.Errorf("there is no condition %q", name)
	}
	return c(), nil
}

// setup prepares a script.
func (s Scripts) setup(env *testscript.Env) error {
	st := &state{t: env.T().(testing.TB), patience: cmp.Or(s.patience, LongEnough), processes: map[string]*process{}}
	for _, v := range env.Vars {
		name, _, _ := strings.Cut(v, "=")
		st.variables = append(st.variables, name)
	}
	env.Values[stateKey{}] = st
	env.Defer(st.end)
	return nil
}

// TB returns the test that plays a script. Its failures do not name the line of the
// script, so commands use it only for the processes that they start.
func TB(ts *testscript.TestScript) testing.TB { return stateOf(ts).t }
