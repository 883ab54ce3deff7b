package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// as runs the go command on this system with the files of the module in a directory that another
// system has, and without those that it has not. All else, the standard library too, is of this
// system. So a system that no file names, and that shares its calls with this one, shows what
// portable code does. It returns the exit code.
func as(dir, system string, args []string) (code int, err error) {
	if len(args) == 0 {
		return 1, errors.New("as OS needs a command of go, as in: as netbsd test ./internal/udp")
	}
	to, err := filepath.Abs(filepath.Join(dir, "bin", "as-"+system))
	if err != nil {
		return 1, err
	}
	overlay, err := overlayOf(dir, system, to)
	if err != nil {
		return 1, err
	}
	cmd := exec.Command("go", append([]string{args[0], "-overlay=" + overlay}, args[1:]...)...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil // the go command has said why
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}

// overlayOf writes an overlay for the go command to a directory, and returns its path.
func overlayOf(dir, system, to string) (string, error) {
	list := exec.Command("go", "list", "-f", "{{.Dir}}", "./...")
	list.Dir, list.Stderr = dir, os.Stderr
	out, err := list.Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w", err)
	}
	if err := os.RemoveAll(to); err != nil {
		return "", err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for at := range strings.Lines(string(out)) {
		if err := replaceIn(strings.TrimSpace(at), system, to, replace); err != nil {
			return "", err
		}
	}
	b, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(to, "overlay.json")
	return overlay, os.WriteFile(overlay, b, 0o644)
}

// replaceIn adds the files of one package: "" stands for a file that the system has not.
func replaceIn(dir, system, to string, replace map[string]string) error {
	here, there := build.Default, build.Default
	there.GOOS = system
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if ext := filepath.Ext(path); ext != ".go" && ext != ".s" {
			continue
		}
		has, err := here.MatchFile(dir, e.Name())
		if err != nil {
			return err
		}
		want, err := there.MatchFile(dir, e.Name())
		switch {
		case err != nil:
			return err
		case has && !want:
			replace[path] = ""
		case want && !has:
			copied := filepath.Join(to, strings.ReplaceAll(strings.Trim(filepath.ToSlash(path), "/"), "/", "-")+".txt") // no package of the module
			if err := unconstrained(path, copied); err != nil {
				return err
			}
			replace[path] = copied
		}
	}
	return nil
}

// unconstrained copies a file without the line that says for which systems it is.
func unconstrained(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if line, rest, _ := bytes.Cut(b, []byte("\n")); bytes.HasPrefix(line, []byte("//go:build ")) {
		b = append([]byte("\n"), rest...) // the numbers of lines stay
	}
	return os.WriteFile(to, b, 0o644)
}
