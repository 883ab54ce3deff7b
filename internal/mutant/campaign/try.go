package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/failaware/failaware/internal/mutant/planted"
)

// quick is the number of seeds of each kind of world that are tried first.
const quick = 10

// A step is one check of a bug that is not in the table.
type step struct {
	name string
	args []string // of go test
}

// An outcome is the result of a step.
type outcome struct {
	Step    string   `json:"step"`
	Noticed bool     `json:"noticed"`
	Flaky   bool     `json:"fails_without_the_bug,omitempty"`
	By      []string `json:"by,omitempty"` // the tests that failed, with the first line of each
	Seconds float64  `json:"seconds"`
}

// A trial says how a bug is tried.
type trial struct {
	first, seeds uint64
	limit        time.Duration // for the tests of one package
	all          bool          // play the slow tests too, and continue after a check has noticed the bug
	json         bool
}

// try looks for a check that notices a bug, and reports whether one does.
func try(ctx context.Context, from string, t trial) (noticed bool, err error) {
	start := time.Now()
	dir, err := os.MkdirTemp("", "campaign-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	b, err := readBug(ctx, from, dir)
	if err != nil {
		return false, err
	}
	if out, err := b.run(ctx, true, "build", "./..."); err != nil {
		return false, fmt.Errorf("with the bug the module does not compile: %w\n%s", err, out)
	}
	steps, err := b.steps(ctx, t.first, t.seeds)
	if err != nil {
		return false, err
	}
	if t.all {
		steps = append(steps, step{"all other tests", []string{"./..."}})
	}
	enc := json.NewEncoder(os.Stdout)
	by := ""
	for _, s := range steps {
		o := b.play(ctx, s, t.limit)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if o.Noticed && !noticed {
			noticed, by = true, fmt.Sprintf("%s, after %v", s.name, time.Since(start).Round(100*time.Millisecond))
		}
		if t.json {
			enc.Encode(o)
		} else {
			o.print()
		}
		if noticed && !t.all {
			break
		}
	}
	switch {
	case t.json:
		return noticed, enc.Encode(map[string]any{"noticed": noticed, "by": by, "seconds": time.Since(start).Seconds()})
	case noticed:
		fmt.Println("\nnoticed by", by)
	default:
		fmt.Println("\nNOT noticed, in", time.Since(start).Round(100*time.Millisecond))
	}
	return noticed, nil
}

// steps returns the checks in the order of their cost.
func (b *bug) steps(ctx context.Context, first, seeds uint64) ([]step, error) {
	above, err := b.above(ctx)
	if err != nil {
		return nil, err
	}
	worlds := func(first, seeds uint64) step {
		return step{fmt.Sprintf("%d seeds of each kind of world", seeds), []string{"-tags=" + planted.Tag, "-run=^TestWorldsHold$", "./sim",
			"-args", "-first", fmt.Sprint(first), "-seeds", fmt.Sprint(seeds)}}
	}
	all := []step{{"tests of the changed packages", b.changed}, worlds(first, min(quick, seeds))}
	if len(above) > 0 {
		all = append(all, step{"tests of the packages that import them", above})
	}
	if seeds > quick {
		all = append(all, worlds(first+quick, seeds-quick))
	}
	return append(all, step{"the exhaustive searches", []string{"./sim/exhaust"}}), nil
}

// above returns the packages that import those that the bug changes, without the
// programs and the simulator, whose tests take long.
func (b *bug) above(ctx context.Context) (above []string, err error) {
	changed, err := b.run(ctx, true, append([]string{"list"}, b.changed...)...)
	if err != nil {
		return nil, fmt.Errorf("list the changed packages: %w\n%s", err, changed)
	}
	own := strings.Fields(changed)
	all, err := b.run(ctx, true, "list", "-f", "{{.ImportPath}}{{range .Deps}} {{.}}{{end}}", "./...")
	if err != nil {
		return nil, fmt.Errorf("list the packages: %w\n%s", err, all)
	}
	for line := range strings.Lines(all) {
		f := strings.Fields(line)
		rel := strings.TrimPrefix(f[0], planted.Module+"/")
		if rel == "sim" || strings.HasPrefix(rel, "sim/") || strings.HasPrefix(rel, "cmd/") || slices.Contains(own, f[0]) {
			continue
		}
		if slices.ContainsFunc(f[1:], func(dep string) bool { return slices.Contains(own, dep) }) {
			above = append(above, f[0])
		}
	}
	return above, nil
}

// play runs one step with the bug and, if it fails, without.
func (b *bug) play(ctx context.Context, s step, limit time.Duration) outcome {
	start := time.Now()
	defer b.forgetDraws(start)
	o := outcome{Step: s.name}
	args := append([]string{"test", "-timeout=" + limit.String()}, s.args...)
	out, err := b.run(ctx, true, args...)
	o.Seconds = time.Since(start).Seconds()
	if err == nil {
		return o
	}
	o.By = failures(out)
	if _, err := b.run(ctx, false, args...); err != nil {
		o.Flaky = true
	} else {
		o.Noticed = true
	}
	return o
}

// forgetDraws removes the files in which package rapid keeps failed draws, so that
// they fail no later test.
func (b *bug) forgetDraws(since time.Time) {
	for _, dirs := range []string{"", "*", "*/*", "*/*/*"} {
		files, _ := filepath.Glob(filepath.Join(b.root, dirs, "testdata", "rapid", "*", "*.fail"))
		for _, file := range files {
			if info, err := os.Stat(file); err == nil && info.ModTime().After(since) {
				os.Remove(file)
			}
		}
	}
}

// run runs the go command in the module, with the bug or without.
func (b *bug) run(ctx context.Context, planted bool, args ...string) (string, error) {
	if planted {
		args = append([]string{args[0], "-overlay=" + b.overlay}, args[1:]...)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = b.root
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// failures returns the failed tests of go test's output, each with its message; or
// else the beginning of the first panic, or the end of the output.
func failures(out string) (by []string) {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	for i, l := range lines {
		name, failed := strings.CutPrefix(l, "--- FAIL: ")
		message := ""
		if i+1 < len(lines) {
			message = lines[i+1]
		}
		if !failed || strings.HasPrefix(message, "--- FAIL: ") { // the subtest says more
			continue
		}
		if strings.HasSuffix(message, ":") { // of package require: the error stands below
			for _, l := range lines[i+2 : min(len(lines), i+10)] {
				if text, ok := strings.CutPrefix(l, "Error:"); ok {
					message += " " + strings.TrimSpace(text)
					break
				}
			}
		}
		name, _, _ = strings.Cut(name, " (")
		by = append(by, strings.TrimSuffix(name+": "+message, ": "))
	}
	if len(by) > 0 {
		return by
	}
	if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "panic: ") || strings.HasPrefix(l, "fatal error: ") }); i >= 0 {
		return lines[i:min(len(lines), i+most)]
	}
	return lines[max(0, len(lines)-most):]
}

// most is how many failed tests of a step are printed.
const most = 5

func (o outcome) print() {
	verdict := "passed"
	switch {
	case o.Noticed:
		verdict = "NOTICED"
	case o.Flaky:
		verdict = "fails without the bug, too"
	}
	fmt.Printf("%-45s %7.1f s  %s\n", o.Step, o.Seconds, verdict)
	for _, by := range o.By[:min(len(o.By), most)] {
		fmt.Println("    " + by)
	}
	if more := len(o.By) - most; more > 0 {
		fmt.Printf("    and %d more\n", more)
	}
}
