package main

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// programs are the programs of the project, and systems the values of GOOS for
// which they are built.
var (
	programs = []string{"failaware", "failaware-lab"}
	systems  = []string{"linux", "darwin", "freebsd", "windows"}
)

// module is a module that is linked into programs.
type module struct {
	Path, Version, Dir string
	Sum                string // of its content, as in go.sum
	programs           []string
}

// golang is the path under which the notice lists Go itself.
const golang = "Go, its standard library and runtime"

// linked returns the modules that are linked into the programs on any system, and
// Go itself. root is the root of the project.
func linked(root string) ([]*module, error) {
	goroot, err := output(root, "", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	all := map[string]*module{golang: {Path: golang, Dir: strings.TrimSpace(string(goroot)), programs: programs}}
	for _, program := range programs {
		for _, goos := range systems {
			out, err := output(root, goos, "list", "-deps", "-json=Module", "./cmd/"+program)
			if err != nil {
				return nil, err
			}
			for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
				var p struct {
					Module *struct {
						module
						Main bool
					}
				}
				if err := d.Decode(&p); err != nil {
					return nil, err
				}
				if p.Module == nil || p.Module.Main {
					continue
				}
				m := all[p.Module.Path]
				if m == nil {
					m = &p.Module.module
					all[m.Path] = m
				}
				if !slices.Contains(m.programs, program) {
					m.programs = append(m.programs, program)
				}
			}
		}
	}
	charts, err := embedded(root)
	if err != nil {
		return nil, err
	}
	all[charts.Path] = charts
	list := make([]*module, 0, len(all))
	for _, m := range all {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b *module) int { return cmp.Compare(a.Path, b.Path) })
	return list, nil
}

// charts is the path under which the notice lists the library of the dashboard's charts,
// which is embedded and is no Go module.
const charts = "uPlot (github.com/leeoniya/uPlot)"

// embedded returns the library of the dashboard's charts. Its file begins with its version.
func embedded(root string) (*module, error) {
	dir := filepath.Join(root, "internal", "dashboard", "assets", "uplot")
	packed, err := os.Open(filepath.Join(dir, "uPlot.iife.min.js.gz"))
	if err != nil {
		return nil, err
	}
	defer packed.Close()
	text, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(text).ReadString('\n')
	if err != nil {
		return nil, err
	}
	m := regexp.MustCompile(`\((v[0-9.]+)\)`).FindStringSubmatch(line)
	if m == nil {
		return nil, fmt.Errorf("uPlot does not say its version: %q", line)
	}
	return &module{Path: charts, Version: m[1], Dir: dir, programs: programs[:1]}, nil
}

// output runs the go command in the root of the project, for a system.
func output(root, goos string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	cmd.Env = append(cmd.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		if e, ok := err.(*exec.ExitError); ok {
			err = fmt.Errorf("%w: %s", err, e.Stderr)
		}
		return nil, fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return out, nil
}
