package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// target is a system that programs are built for.
type target struct{ os, arch string }

// targets are all of them. docs/start/install.md says which clock each has.
var targets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "arm64"}, {"darwin", "amd64"}, {"windows", "amd64"}}

func (t target) String() string { return t.os + "/" + t.arch }

func targetNamed(name string) (target, bool) {
	for _, t := range targets {
		if t.String() == name {
			return t, true
		}
	}
	return target{}, false
}

// program returns the name of a program's file.
func (t target) program(name string) string {
	if t.os == "windows" {
		return name + ".exe"
	}
	return name
}

// build builds the programs for a target, and packs them.
func (r *release) build(ctx context.Context, t target) error {
	bin := r.binary(t)
	if err := r.compile(ctx, t, "./cmd/failaware", bin); err != nil {
		return err
	}
	if err := r.writeArchive(t, bin); err != nil {
		return err
	}
	if t.os == "linux" {
		return r.writeDebian(ctx, t, bin)
	}
	return nil
}

// binary returns the path of the program for a target.
func (r *release) binary(t target) string {
	return filepath.Join(r.work, t.os+"-"+t.arch, t.program("failaware"))
}

// compile builds a static program whose bytes depend on the source and on the version
// of Go only: no path, no build id, and nothing of this machine's settings. It has no
// HTTP/2, which no node speaks and which is half a megabyte.
func (r *release) compile(ctx context.Context, t target, pkg, to string) error {
	const cli = "github.com/failaware/failaware/internal/cli"
	flags := fmt.Sprintf("-s -w -buildid= -X '%s.release=%s' -X '%s.commit=%s'", cli, r.version, cli, r.commit)
	env := append(settings(), "GOOS="+t.os, "GOARCH="+t.arch)
	_, err := r.outputWith(ctx, env, "go", "build", "-trimpath", "-buildvcs=false", "-tags", tags, "-ldflags", flags, "-o", to, pkg)
	return err
}

// tags are those of a small program.
const tags = "nethttpomithttp2,tcell_minimal"

// settings are the variables of the go command that change what it compiles.
func settings() []string {
	return []string{"CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFLAGS=" + jobs()}
}

// jobs keeps of GOFLAGS how many compilers run at a time, which changes no program.
func jobs() string {
	if flags := os.Getenv("GOFLAGS"); flags == "-p=1" {
		return flags
	}
	return ""
}

// writeManual writes the man pages and the completions, by a program with the tag
// manual. It is compiled as the others are, so that a release for this machine compiles
// its packages once.
func (r *release) writeManual(ctx context.Context) error {
	tool := filepath.Join(r.work, "manual-tool", "failaware")
	if _, err := r.outputWith(ctx, settings(), "go", "build", "-trimpath", "-buildvcs=false", "-tags", tags+",manual", "-o", tool, "./cmd/failaware"); err != nil {
		return err
	}
	if _, err := r.output(ctx, tool, "manual", filepath.Join(r.work, "man"), r.version); err != nil {
		return err
	}
	dir := filepath.Join(r.work, "completions")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for shell, file := range shells {
		text, err := r.output(ctx, tool, "completion", shell)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// shells has the file of the completions for each shell, with the name that the shell
// looks for where it has one.
var shells = map[string]string{"bash": "failaware.bash", "zsh": "_failaware", "fish": "failaware.fish", "powershell": "failaware.ps1"}
