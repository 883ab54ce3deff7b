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

	"github.com/failaware/failaware/internal/mutant/planted"
)

// binaries are the compiled tests of the packages that the table names.
type binaries struct{ dir, root string }

func (b binaries) remove() { os.RemoveAll(b.dir) }

// build compiles the tests, each package once.
func build(ctx context.Context) (binaries, error) {
	root, err := planted.Root()
	if err != nil {
		return binaries{}, err
	}
	dir, err := os.MkdirTemp("", "campaign-")
	if err != nil {
		return binaries{}, err
	}
	b := binaries{dir, root}
	overlay, err := planted.Write(root, filepath.Join(dir, "mutated"))
	if err != nil {
		b.remove()
		return binaries{}, err
	}
	for _, library := range []bool{true, false} { // its binary has the name of that of cmd/failaware
		if err := b.compile(ctx, overlay, library); err != nil {
			b.remove()
			return binaries{}, fmt.Errorf("compile the tests: %w", err)
		}
	}
	return b, nil
}

// compile compiles the tests of the library itself, or those of the other packages.
func (b binaries) compile(ctx context.Context, overlay string, library bool) error {
	var pkgs []string
	for _, k := range planted.Kills() {
		pkg := path.Join(planted.Module, k.Package)
		if (pkg == planted.Module) == library && !slices.Contains(pkgs, pkg) {
			pkgs = append(pkgs, pkg)
		}
	}
	args := append([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", filepath.Dir(b.of(pkgs[0])) + string(filepath.Separator)}, planted.Flags(overlay)...)
	cmd := exec.CommandContext(ctx, "go", append(args, pkgs...)...)
	cmd.Dir, cmd.Stderr = b.root, os.Stderr
	return cmd.Run()
}

// of returns the compiled tests of a package.
func (b binaries) of(pkg string) string {
	name := path.Base(pkg) + ".test"
	if pkg == planted.Module {
		return filepath.Join(b.dir, "library", name)
	}
	return filepath.Join(b.dir, name)
}

// result is the outcome of one kill.
type result struct {
	planted.Kill
	killed bool
	check  string // that noticed the bug
	seeds  uint64 // that were needed, or 0 for unit tests
	took   time.Duration
	cpu    time.Duration // of all processors, which other processes change little
	output string        // of the test, if it failed
}

// garbage lets the heap of a kill, which has a few megabytes, grow to several times the
// live data. With the usual 100 the collector runs hundreds of times a second.
const garbage = "GOGC=800"

// play runs the test of one kill in its own process.
func (b binaries) play(ctx context.Context, k planted.Kill, first uint64, limit time.Duration) result {
	r := result{Kill: k, check: "unit test"}
	parts := strings.Split(k.Test, "/")
	for i, p := range parts {
		parts[i] = "^" + p + "$"
	}
	args := []string{"-test.v", "-test.timeout", limit.String(), "-test.run", strings.Join(parts, "/")}
	if k.Seeds > 0 && first > 0 {
		args = append(args, "-first", strconv.FormatUint(first, 10))
	}
	cmd := exec.CommandContext(ctx, b.of(path.Join(planted.Module, k.Package)), args...)
	cmd.Dir = filepath.Join(b.root, filepath.FromSlash(k.Package))
	if os.Getenv("GOGC") == "" {
		cmd.Env = append(os.Environ(), garbage)
	}
	start := time.Now()
	out, err := cmd.CombinedOutput()
	r.took = time.Since(start)
	if s := cmd.ProcessState; s != nil {
		r.cpu = s.UserTime() + s.SystemTime()
	}
	r.read(out)
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		out = append(out, err.Error()...)
	}
	// A test that does not exist fails nothing.
	r.killed = err == nil && bytes.Contains(out, []byte("--- PASS: "+k.Test+" "))
	if !r.killed {
		r.output = string(out)
	}
	return r
}

// read takes the attributes that the test reports.
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
