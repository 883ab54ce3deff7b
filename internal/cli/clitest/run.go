package clitest

import (
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// exits implements the command exits.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := Exec(ts, args[1:]...); got != want {
		ts.Fatalf("exit code %d instead of %d", got, want)
	}
}

// Exec runs a program to its end. Its output becomes that of the last command. Exec
// returns the exit code, -1 for a signal.
func Exec(ts *testscript.TestScript, args ...string) int {
	err := ts.Exec(args[0], args[1:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	ts.Check(err)
	return 0
}

// refused implements the command refused.
func refused(ts *testscript.TestScript, neg bool, args []string) {
	f := options("refused")
	lines := f.Int("lines", 1, "")
	if neg || f.Parse(args) != nil || f.NArg() == 0 {
		ts.Fatalf("usage: refused [-lines=N] PROGRAM ARG...")
	}
	if code := Exec(ts, f.Args()...); code != 2 {
		ts.Fatalf("exit code %d instead of 2", code)
	}
	if ts.ReadFile("stdout") != "" {
		ts.Fatalf("the program has written to standard output")
	}
	problems, prefix := 0, filepath.Base(f.Arg(0))+": "
	for line := range strings.Lines(ts.ReadFile("stderr")) {
		rest, ok := strings.CutPrefix(line, prefix)
		if !ok || strings.Contains(rest, "failaware: ") {
			ts.Fatalf("a line does not begin with %q, or names the program again: %s", prefix, line)
		}
		if !strings.HasPrefix(rest, "see '") {
			problems++
		}
	}
	if problems != *lines {
		ts.Fatalf("%d lines say what is wrong, not %d", problems, *lines)
	}
}

// until implements the command until.
func until(ts *testscript.TestScript, neg bool, args []string) {
	f := options("until")
	code := f.Int("code", 0, "")
	stdout, stderr := f.String("stdout", "", ""), f.String("stderr", "", "")
	if neg || f.Parse(args) != nil || f.NArg() == 0 {
		ts.Fatalf("usage: until [-code=N] [-stdout=REGEXP] [-stderr=REGEXP] PROGRAM ARG...")
	}
	out, problems := pattern(ts, *stdout), pattern(ts, *stderr)
	for end := time.Now().Add(stateOf(ts).patience); ; {
		if Exec(ts, f.Args()...) == *code && out.MatchString(ts.ReadFile("stdout")) && problems.MatchString(ts.ReadFile("stderr")) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("the condition did not become true")
		}
		time.Sleep(poll)
	}
}

// pattern compiles a regular expression as testscript does: ^ and $ match at lines.
func pattern(ts *testscript.TestScript, expr string) *regexp.Regexp {
	re, err := regexp.Compile("(?m)" + expr)
	ts.Check(err)
	return re
}
