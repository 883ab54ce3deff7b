package clitest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli"
)

// prog prints its arguments. With --code it ends with that exit code, and with
// --forever it does not end.
var prog = cli.Program{Root: func() *cobra.Command {
	var code int
	var forever bool
	cmd := &cobra.Command{Use: "prog", RunE: func(cmd *cobra.Command, args []string) error {
		fmt.Fprintln(cmd.OutOrStdout(), strings.Join(args, " "))
		if forever {
			select {}
		}
		if code != 0 {
			return &cli.ExitError{Code: cli.ExitCode(code)}
		}
		return nil
	}}
	cmd.Flags().IntVar(&code, "code", 0, "exit code")
	cmd.Flags().BoolVar(&forever, "forever", false, "do not end")
	return cmd
}}

func TestMain(m *testing.M) { Main(m, &prog, nil) }

// endless are the scripts whose last line waits for an event that never happens.
var endless = []string{"await x y", "start p prog --forever\nended p", "start p prog --forever\nstart q prog --forever\nended p q", "until prog --code 1"}

// Each script has a mistake in its last line.
func TestScriptsFail(t *testing.T) {
	for script, want := range map[string]string{
		"exits 3 prog --code 4":                                     "exit code 4 instead of 3",
		"exits 1 prog":                                              "exit code 0 instead of 1",
		"refused prog":                                              "exit code 0 instead of 2",
		"refused prog --code 2":                                     "the program has written to standard output",
		"refused -lines=2 prog --bogus":                             "1 lines say what is wrong, not 2",
		"refused sh -c 'echo bad >&2; exit 2'":                      `a line does not begin with "sh: "`,
		"refused sh -c 'echo sh: failaware: bad >&2; exit 2'":       "or names the program again",
		"refused sh -c 'exit 2'":                                    "0 lines say what is wrong, not 1",
		"await x y":                                                 "x does not match `y` in 1 places",
		"start p prog hello\nawait p.out bye":                       "p.out does not match `bye` in 1 places: hello",
		"start p prog hello\nawait -count=2 p.out hello":            "p.out does not match `hello` in 2 places: hello",
		"start p prog\nended -code=1 p":                             "p ended with exit status 0 instead of exit status 1",
		"start p prog --code 5\nended p":                            "p ended with exit status 5 instead of exit status 0",
		"start p prog --forever\nsignal KILL p\nended -code=137 p":  "p ended with signal: killed instead of exit status 137",
		"start p prog\nended p\nstdout .":                           "no match for `.`",
		"start p prog --forever\nstart p prog":                      "p runs already",
		"start p prog\nended p\nended p":                            "no process p runs",
		"start p prog --forever\nended p":                           "p does not end",
		"start p prog --forever\nstart q prog --forever\nended p q": "neither p nor q ends",
		"start p prog --forever\nstart q prog --code 5\nended -code=5 p q\nshutdown $ENDED":        "no process q runs",
		"start p prog --forever\nstart q prog --code 5\nended -code=5 q p\nended -code=5 $LASTS q": "no process q runs",
		"until prog --code 1": "the condition did not become true",
		"start p prog --code 1\nended -code=1 p\nstart p prog --code 1\nawait p.out .": "p.out does not match",
		"signal TERM p":                                                    "no process p runs",
		"start p prog --forever\nsignal QUACK p":                           "there is no signal QUACK",
		"exec echo 1 2\ncapture X stdout '(3)'":                            "does not match `(3)`",
		"exec echo 1 2\ncapture X stdout '1'":                              "or that has not one group",
		"exec echo 1 2\ncapture X stdout '(.)'\nexec echo $X\nstdout 2":    "no match for `2`",
		"addresses A B\nexec test $A = $B":                                 "unexpected command failure",
		"start p X=1 sh -c 'echo $X'\nended p\nstdout 2":                   "no match for `2`",
		"[nonsense] exec true":                                             `there is no condition "nonsense"`,
		"! await x y":                                                      "usage: await",
		"start p":                                                          "usage: start",
		"until -code=1 -stdout='a' sh -c 'echo a; exit 1'\nstdout b":       "no match for `b`",
		"until -stderr=a sh -c 'echo a >>n; cat n >&2'\nstderr -count=1 z": "no match for `z`",
		"until sh -c 'echo x >>n; test $(cat n | wc -l) = 4'\ngrep xxxx n": "no match for `xxxx`",
	} {
		t.Run(script, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("the scripts use a shell and signals")
			}
			t.Parallel()
			patience := LongEnough
			if slices.Contains(endless, script) {
				patience = 100 * time.Millisecond
			}
			log := play(t, script+"\n", patience)
			require.Contains(t, log, want)
			last := strings.Count(script, "\n") + 1
			require.Contains(t, log, fmt.Sprintf("script.txtar:%d: ", last), "it fails elsewhere")
		})
	}
}

// play runs a script that must fail, and returns its log.
func play(t *testing.T, script string, patience time.Duration) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "script.txtar"), []byte(script), 0o600))
	r := &recorder{T: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		testscript.RunT(r, Scripts{Dir: dir, patience: patience}.params())
	}()
	<-done
	require.True(t, r.failed, "it passes: %s", r.log.String())
	return r.log.String()
}

// recorder records that a script fails, which is not a failure of its test.
type recorder struct {
	*testing.T
	log    strings.Builder
	failed bool
}

func (r *recorder) Log(args ...any)                 { fmt.Fprintln(&r.log, args...) }
func (r *recorder) Logf(format string, args ...any) { fmt.Fprintf(&r.log, format+"\n", args...) }
func (r *recorder) Failed() bool                    { return r.failed }
func (r *recorder) Verbose() bool                   { return false }
func (r *recorder) Parallel()                       {}

func (r *recorder) Run(_ string, f func(testscript.T)) { f(r) }

func (r *recorder) Fatal(args ...any) {
	r.Log(args...)
	r.FailNow()
}

func (r *recorder) FailNow() {
	r.failed = true
	runtime.Goexit()
}
