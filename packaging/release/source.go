package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// release is one run of the program.
type release struct {
	root, out string // the project, and where the files go
	version   string
	commit    string
	time      time.Time // of the commit; all files have it
	targets   []target
	say       io.Writer
	work      string // a temporary directory
}

// versionLine is the version of the programs in the source.
var versionLine = regexp.MustCompile(`(?m)^\trelease = "([^"]+)"$`)

// identify finds out what is built: the commit, its time, and the version if it is not
// given. A tree without a repository needs SOURCE_DATE_EPOCH, and has no commit.
func (r *release) identify(ctx context.Context) error {
	at := os.Getenv("SOURCE_DATE_EPOCH")
	if commit, err := r.output(ctx, "git", "rev-parse", "--short=12", "HEAD"); err == nil {
		changes, err := r.output(ctx, "git", "status", "--porcelain", "--untracked-files=no")
		if err != nil {
			return err
		}
		if r.commit = commit; changes != "" {
			r.commit += " with changes"
		}
		if at == "" {
			if at, err = r.output(ctx, "git", "log", "-1", "--format=%ct"); err != nil {
				return err
			}
		}
	} else if r.commit = "unknown"; at == "" {
		return errors.New("there is no repository, so SOURCE_DATE_EPOCH is needed")
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %q is not a number of seconds", at)
	}
	r.time = time.Unix(seconds, 0).UTC()
	if r.version != "" {
		return r.checkVersion()
	}
	source, err := os.ReadFile(filepath.Join(r.root, "internal", "cli", "version.go"))
	if err != nil {
		return err
	}
	m := versionLine.FindSubmatch(source)
	if m == nil {
		return errors.New("internal/cli/version.go has no version")
	}
	r.version = string(m[1])
	if strings.Contains(r.version, "-") && r.commit != "unknown" { // not a release yet
		r.version += "+" + strings.Fields(r.commit)[0]
	}
	return r.checkVersion()
}

// versionForm is that of semantic versions, which Debian's versions can be made of.
var versionForm = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?(\+[0-9A-Za-z.]+)?$`)

func (r *release) checkVersion() error {
	if !versionForm.MatchString(r.version) {
		return fmt.Errorf("the version %q is not like 1.2.3 or 1.2.3-rc1", r.version)
	}
	return nil
}

// output runs a command in the root of the project, and returns what it prints.
func (r *release) output(ctx context.Context, name string, args ...string) (string, error) {
	return r.outputWith(ctx, nil, name, args...)
}

func (r *release) outputWith(ctx context.Context, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = r.root
	cmd.Env = append(append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.time.Unix(), 10)), env...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, errs.Bytes())
	}
	return strings.TrimSpace(string(out)), nil
}
