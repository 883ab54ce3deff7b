package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/failaware/failaware/internal/mutant/planted"
	"github.com/failaware/failaware/internal/mutant/sweep/swept"
)

// A killer is a check that may notice a change: a program of the changed code, and how
// to run it.
type killer struct {
	name  string
	bin   string
	dir   string
	args  []string
	limit time.Duration // three times as long as without a change
}

// workshop builds and runs killers.
type workshop struct {
	root, dir, overlay string
	campaigns          []string
	equivalent         map[string]string // the names of changes that make no difference
	seeds              int
	tests              []string // of packages that are tried besides
	built              map[string]*killer
}

// test returns the tests of a package as a killer; nil if there are none, or if they
// fail without any change.
func (w *workshop) test(ctx context.Context, pkg string, short bool) (*killer, error) {
	name := "tests of " + pkg
	if short {
		name = "short " + name
	}
	if k, ok := w.built[name]; ok {
		return k, nil
	}
	k := &killer{name: name, bin: filepath.Join(w.dir, strings.ReplaceAll(pkg, "/", "-")+".test"), dir: filepath.Join(w.root, filepath.FromSlash(pkg))}
	if err := w.command(ctx, "test", "-c", "-overlay="+w.overlay, "-o", k.bin, "./"+pkg); err != nil {
		return nil, err
	}
	if _, err := os.Stat(k.bin); err != nil {
		return nil, nil // no tests
	}
	k.args = []string{"-test.failfast", "-test.timeout=10m"}
	if short {
		k.args = append(k.args, "-test.short")
	}
	if deps, err := w.output(ctx, "list", "-test", "-deps", "./"+pkg); err == nil && strings.Contains(deps, "pgregory.net/rapid\n") {
		k.args = append(k.args, "-rapid.nofailfile")
	}
	return w.rated(ctx, k)
}

// usual are the campaigns of which a few seeds show most.
var usual = []string{"rough", "rough-strict-id", "uneven", "global-rough", "epochs", "collated", "servers", "broadcast-rough", "state", "state-disks-quorum"}

// worlds returns the small simulated campaigns as a killer.
func (w *workshop) worlds(ctx context.Context) (*killer, error) {
	const name = "small worlds"
	if k, ok := w.built[name]; ok {
		return k, nil
	}
	k := &killer{name: name, bin: filepath.Join(w.dir, "failaware-lab"), dir: w.dir, args: append([]string{"campaign", "run", "--quiet", fmt.Sprint("--seeds=", w.seeds)}, w.campaigns...)}
	if err := w.command(ctx, "build", "-overlay="+w.overlay, "-o", k.bin, "./cmd/failaware-lab"); err != nil {
		return nil, err
	}
	return w.rated(ctx, k)
}

// rated notes how long a killer may take.
func (w *workshop) rated(ctx context.Context, k *killer) (*killer, error) {
	k.limit = 10 * time.Minute
	began := time.Now()
	killed, out, err := k.play(ctx, -1)
	switch {
	case err != nil:
		return nil, err
	case killed:
		fmt.Fprintf(os.Stderr, "%s: fail without a change\n%s\n", k.name, out)
		k = nil
	default:
		k.limit = 3*time.Since(began) + 5*time.Second
		w.built[k.name] = k
		fmt.Fprintf(os.Stderr, "%s: %v\n", k.name, time.Since(began).Round(time.Millisecond))
	}
	return k, nil
}

// play runs a killer with a change, and reports whether it fails or takes too long.
func (k *killer) play(ctx context.Context, id int) (killed bool, out string, err error) {
	timed, cancel := context.WithTimeout(ctx, k.limit)
	defer cancel()
	cmd := exec.CommandContext(timed, k.bin, k.args...)
	cmd.Dir, cmd.Env = k.dir, append(os.Environ(), swept.Variable+"="+strconv.Itoa(id))
	text, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return false, "", ctx.Err()
	}
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended && timed.Err() == nil {
		return false, "", err
	}
	return err != nil, string(text), nil
}

func (w *workshop) command(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = w.root, os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

func (w *workshop) output(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = w.root
	out, err := cmd.Output()
	return string(out), err
}

// users are the packages whose tests look at a package from above, where its own tests
// are not all.
var users = map[string][]string{
	"timed": {"leader", "datagram", "clocksync", "internal/stack"}, "leader": {"internal/stack"}, "leader/epoch": {"leader", "internal/stack"},
	"membership": {"internal/stack"}, "datagram": {"internal/stack"}, "clocksync": {"internal/stack"}, "broadcast": {"internal/stack"},
	"internal/replica": {"replicate"}, "internal/journal": {"replicate"}, "replicate/internal/engine": {"replicate"},
	"internal/keep":  {"replicate/internal/engine"},
	"internal/admit": {"internal/loop"}, "internal/introduce": {"internal/loop"}, "internal/wire": {"internal/stack"},
}

// simulated are the packages that worlds run.
var simulated = map[string]bool{"timed": true, "leader": true, "leader/epoch": true, "leader/edict": true, "leader/quorum": true, "membership": true,
	"datagram": true, "clocksync": true, "broadcast": true, "internal/stack": true, "internal/life": true, "internal/replica": true,
	"internal/journal": true, "replicate/internal/engine": true, "internal/keep": true, "internal/wire": true, "internal/admit": true, "internal/introduce": true}

// killers returns the checks for the changes of a package, the quick ones first.
func (w *workshop) killers(ctx context.Context, pkg string) (all []*killer, err error) {
	add := func(k *killer, err2 error) {
		if k != nil {
			all = append(all, k)
		}
		err = errors.Join(err, err2)
	}
	add(w.test(ctx, pkg, true))
	add(w.test(ctx, pkg, false))
	for _, user := range slices.Concat(users[pkg], w.tests) {
		add(w.test(ctx, user, true))
	}
	if simulated[pkg] {
		add(w.worlds(ctx))
	}
	return all, err
}

// packages returns the packages of patterns, relative to the module.
func (w *workshop) packages(ctx context.Context, patterns []string) ([]string, error) {
	out, err := w.output(ctx, append([]string{"list"}, patterns...)...)
	var pkgs []string
	for p := range strings.FieldsSeq(out) {
		pkgs = append(pkgs, strings.TrimPrefix(path.Clean(p), planted.Module+"/"))
	}
	return pkgs, err
}
