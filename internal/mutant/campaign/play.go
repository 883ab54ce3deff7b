//go:build mutants

package main

import (
	"bytes"
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

	"github.com/failaware/failaware/internal/mutant/kill"
)

const module = "github.com/failaware/failaware"

// binaries are the compiled tests of the packages that the table names.
type binaries struct{ dir, root string }

func (b binaries) remove() { os.RemoveAll(b.dir) }

// build compiles the tests, each package once.
func build(ctx context.Context) (binaries, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return binaries{}, fmt.Errorf("find the module: %w", err)
	}
	dir, err := os.MkdirTemp("", "campaign-")
	if err != nil {
		return binaries{}, err
	}
	b := binaries{dir, strings.TrimSpace(string(root))}
	args := []string{"test", "-c", "-tags", "mutants", "-o", dir + string(filepath.Separator)}
	var pkgs []string
	for _, k := range kill.Table {
		if pkg := path.Join(module, k.Package); !slices.Contains(pkgs, pkg) {
			pkgs = append(pkgs, pkg)
		}
	}
	cmd := exec.CommandContext(ctx, "go", append(args, pkgs...)...)
	cmd.Dir, cmd.Stderr = b.root, os.Stderr
	if err := cmd.Run(); err != nil {
		b.remove()
		return binaries{}, fmt.Errorf("compile the tests: %w", err)
	}
	return b, nil
}

// result is what came of one row.
type result struct {
	kill.Kill
	killed bool
	check  string // that noticed it
	seeds  uint64 // that it took, or 0 where there are none
	took   time.Duration
	output string // of the test, if it failed
}

// play runs the test of one row in a process of its own.
func (b binaries) play(ctx context.Context, k kill.Kill, first uint64, limit time.Duration) result {
	r := result{Kill: k, check: "unit test"}
	parts := strings.Split(k.Test, "/")
	for i, p := range parts {
		parts[i] = "^" + p + "$"
	}
	args := []string{"-test.v", "-test.timeout", limit.String(), "-test.run", strings.Join(parts, "/")}
	if k.Seeds > 0 {
		args = append(args, "-first", strconv.FormatUint(first, 10))
	}
	cmd := exec.CommandContext(ctx, filepath.Join(b.dir, path.Base(path.Join(module, k.Package))+".test"), args...)
	cmd.Dir = filepath.Join(b.root, filepath.FromSlash(k.Package))
	start := time.Now()
	out, err := cmd.CombinedOutput()
	r.took = time.Since(start)
	r.read(out)
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		out = append(out, err.Error()...)
	}
	// A test that does not exist fails nothing.
	r.killed = err == nil && bytes.Contains(out, []byte("--- PASS: "+k.Test+" "))
	if !r.killed {
		r.output = string(out)
	}
	return r
}

// read takes what the test says about itself.
func (r *result) read(out []byte) {
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 5 || f[1] != "ATTR" || f[2] != r.Test {
			continue
		}
		switch f[3] {
		case "check":
			r.check = f[4]
		case "seeds":
			r.seeds, _ = strconv.ParseUint(f[4], 10, 64)
		}
	}
}
