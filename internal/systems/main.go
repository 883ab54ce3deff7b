// Command systems checks all packages and tests for other systems without compiling them,
// which takes seconds where compilers and go vet need minutes. For each target, such as
// windows/amd64, it checks the types of all source, that of the modules and of Go included.
// Then it has go vet look at those packages that have files which no target before had;
// those of linux/amd64 are vetted elsewhere.
//
//	go run ./internal/systems windows/amd64 freebsd/amd64
//
// With "as" it runs the go command here with the files of another system, such as those for
// all systems but Linux:
//
//	go run ./internal/systems as netbsd test ./internal/udp
package main

import (
	"fmt"
	"go/types"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == "as" {
		code, err := as(".", os.Args[2], os.Args[3:])
		if err != nil {
			fmt.Fprintln(os.Stderr, "systems:", err)
		}
		os.Exit(code)
	}
	if err := run(".", os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "systems:", err)
		os.Exit(1)
	}
}

// run checks the module in a directory for targets.
func run(dir string, targets []string) error {
	known := map[string]bool{}
	for i, text := range append([]string{"linux/amd64"}, targets...) {
		t, err := parseTarget(text)
		if err != nil {
			return err
		}
		all, err := t.list(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		added := newFiles(all, known)
		if i == 0 {
			continue
		}
		if err := t.check(all); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		if err := t.vet(dir, added); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		fmt.Printf("%s: the types of %d packages fit; vetted: %s\n", text, len(all), strings.Join(added, " "))
	}
	return nil
}

// target is a system that programs are built for.
type target struct{ os, arch string }

func parseTarget(text string) (target, error) {
	system, arch, ok := strings.Cut(text, "/")
	if !ok || system == "" || types.SizesFor("gc", arch) == nil {
		return target{}, fmt.Errorf("%q is no target: it must be as linux/arm64", text)
	}
	return target{system, arch}, nil
}

// command returns a go command for the target.
func (t target) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "GOOS="+t.os, "GOARCH="+t.arch, "CGO_ENABLED=0")
	return cmd
}

// newFiles returns the packages of this module that have files which are not known yet, and
// then knows them.
func newFiles(all []source, known map[string]bool) (paths []string) {
	for _, p := range all {
		if !p.own() {
			continue
		}
		for _, file := range p.files() {
			if !known[file] && !slices.Contains(paths, p.path()) {
				paths = append(paths, p.path())
			}
		}
	}
	for _, p := range all {
		for _, file := range p.files() {
			known[file] = true
		}
	}
	return paths
}

// vet has go vet look at packages and their tests.
func (t target) vet(dir string, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	cmd := t.command(dir, append([]string{"vet"}, paths...)...)
	cmd.Stdout = os.Stdout
	return cmd.Run()
}
