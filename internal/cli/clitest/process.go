package clitest

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// stateKey is the key of a script's state among its values.
type stateKey struct{}

// state is shared by the commands of a script.
type state struct {
	t         testing.TB
	patience  time.Duration
	variables []string // names in the initial environment of the script
	processes map[string]*process
}

// process is a process that a script has started.
type process struct {
	cmd      *exec.Cmd
	out, err string        // files
	done     chan struct{} // closed when it has ended
	noted    bool          // the script has noted its end
}

func stateOf(ts *testscript.TestScript) *state { return ts.Value(stateKey{}).(*state) }

// process returns a process whose end the script has not noted.
func (s *state) process(ts *testscript.TestScript, name string) *process {
	p := s.processes[name]
	if p == nil || p.noted {
		ts.Fatalf("no process %s runs", name)
	}
	return p
}

// end kills the processes that still run. If the script failed, it shows the output of
// the processes.
func (s *state) end() {
	for name, p := range s.processes {
		_ = p.cmd.Process.Kill()
		<-p.done
		out, _ := os.ReadFile(p.out)
		problems, _ := os.ReadFile(p.err)
		if strings.Contains(string(problems), "WARNING: DATA RACE") {
			s.t.Errorf("%s has a data race", name)
		}
		if s.t.Failed() {
			s.t.Logf("%s:\n%s%s", name, out, problems)
		}
	}
}

// start implements the command start.
func start(ts *testscript.TestScript, neg bool, args []string) {
	const usage = "usage: start NAME [VARIABLE=VALUE...] PROGRAM ARG..."
	if neg || len(args) < 2 {
		ts.Fatalf(usage)
	}
	s, name, args := stateOf(ts), args[0], args[1:]
	if p := s.processes[name]; p != nil && !p.noted {
		ts.Fatalf("%s runs already", name)
	}
	var env []string
	for _, v := range s.variables {
		env = append(env, v+"="+ts.Getenv(v))
	}
	for len(args) > 0 && strings.Contains(args[0], "=") {
		env, args = append(env, args[0]), args[1:]
	}
	if len(args) == 0 {
		ts.Fatalf(usage)
	}
	spawn(ts, name, env, args)
}

// Spawn starts a process like the command start, in the initial environment of the
// script.
func Spawn(ts *testscript.TestScript, name string, args ...string) {
	start(ts, false, append([]string{name}, args...))
}

// spawn starts a process.
func spawn(ts *testscript.TestScript, name string, env, args []string) {
	p := &process{cmd: exec.Command(args[0], args[1:]...), done: make(chan struct{}),
		out: ts.MkAbs(name + ".out"), err: ts.MkAbs(name + ".err")}
	p.cmd.Dir, p.cmd.Env = ts.MkAbs("."), env
	stdout, err := os.Create(p.out)
	ts.Check(err)
	defer stdout.Close()
	stderr, err := os.Create(p.err)
	ts.Check(err)
	defer stderr.Close()
	p.cmd.Stdout, p.cmd.Stderr = stdout, stderr
	ts.Check(p.cmd.Start())
	stateOf(ts).processes[name] = p
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait()
	}()
}

// signal implements the command signal.
func signal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: signal SIGNAL NAME")
	}
	ts.Check(stateOf(ts).process(ts, args[1]).cmd.Process.Signal(signalOf(ts, args[0])))
}

// signalOf returns the signal of a name such as HUP.
func signalOf(ts *testscript.TestScript, name string) os.Signal {
	s, ok := signals[name]
	if !ok {
		ts.Fatalf("there is no signal %s", name)
	}
	return s
}

// ended implements the command ended.
func ended(ts *testscript.TestScript, neg bool, args []string) {
	f := options("ended")
	code := f.Int("code", 0, "")
	by := f.String("signal", "", "")
	if neg || f.Parse(args) != nil || f.NArg() != 1 && f.NArg() != 2 {
		ts.Fatalf("usage: ended [-code=N|-signal=SIGNAL] NAME [OTHER]")
	}
	want := fmt.Sprintf("exit status %d", *code)
	if *by != "" {
		want = "signal: " + signalOf(ts, *by).String()
	}
	name := f.Arg(0)
	if other := f.Arg(1); other != "" {
		s := stateOf(ts)
		lasts := other
		select {
		case <-s.process(ts, name).done:
		case <-s.process(ts, other).done:
			name, lasts = other, name
		case <-time.After(s.patience):
			ts.Fatalf("neither %s nor %s ends", name, other)
		}
		ts.Setenv("ENDED", name)
		ts.Setenv("LASTS", lasts)
	}
	awaitEnd(ts, name, want)
}

// awaitEnd waits until a process ends as wanted, and makes its output that of the
// last command.
func awaitEnd(ts *testscript.TestScript, name, want string) {
	s := stateOf(ts)
	p := s.process(ts, name)
	select {
	case <-p.done:
	case <-time.After(s.patience):
		ts.Fatalf("%s does not end", name)
	}
	p.noted = true
	_, _ = io.WriteString(ts.Stdout(), ts.ReadFile(p.out))
	_, _ = io.WriteString(ts.Stderr(), ts.ReadFile(p.err))
	if got := strings.TrimSuffix(p.cmd.ProcessState.String(), " (core dumped)"); got != want {
		ts.Fatalf("%s ended with %s instead of %s", name, got, want)
	}
}

// shutdown implements the command shutdown.
func shutdown(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: shutdown NAME...")
	}
	for _, name := range args {
		ts.Check(stateOf(ts).process(ts, name).cmd.Process.Signal(signalOf(ts, "TERM")))
	}
	for _, name := range args {
		awaitEnd(ts, name, "exit status 0")
	}
}

// options returns the flags of a command, which the caller defines.
func options(command string) *flag.FlagSet {
	f := flag.NewFlagSet(command, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	return f
}
