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
	"strings"
)

// builds are the two programs that are compared.
type builds struct {
	rev      string // the old commit
	old, new string // paths of programs
	progress io.Writer
}

// buildBoth builds the old commit and the working tree, into bin of the checkout.
func buildBoth(ctx context.Context, rev string, progress io.Writer) (*builds, error) {
	root, err := output(ctx, ".", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	if rev == "" {
		if rev, err = former(ctx, root); err != nil {
			return nil, err
		}
	}
	if rev, err = output(ctx, root, "git", "rev-parse", "--short", "--verify", "--end-of-options", rev+"^{commit}"); err != nil {
		return nil, err
	}
	c := &builds{rev: rev, old: filepath.Join(root, "bin", "compare-old"), new: filepath.Join(root, "bin", "compare-new"), progress: progress}
	tree, err := os.MkdirTemp("", "failaware-compare")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tree)
	archive := filepath.Join(tree, "old.tar")
	if _, err := output(ctx, root, "git", "archive", "--output", archive, rev); err != nil {
		return nil, err
	}
	if _, err := output(ctx, tree, "tar", "-xf", archive); err != nil {
		return nil, err
	}
	for _, b := range []struct{ from, to string }{{tree, c.old}, {root, c.new}} {
		if _, err := output(ctx, b.from, "go", "build", "-buildvcs=false", "-o", b.to, "./cmd/failaware-lab"); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// former returns the commit to compare with unless one is named.
func former(ctx context.Context, root string) (string, error) {
	base, err := output(ctx, root, "git", "merge-base", "HEAD", "main")
	if err == nil {
		_, same := output(ctx, root, "git", "diff", "--quiet", base)
		if same != nil { // commits since then, or changes that are not committed
			return base, nil
		}
	}
	tag, err := output(ctx, root, "git", "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
	if err != nil {
		return "", errors.New("nothing differs from main, and there is no tag of a version: name the old commit with -old (make bench-compare OLD=…)")
	}
	return tag, nil
}

// output runs a program and returns what it prints, without white space around it.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var says bytes.Buffer
	cmd.Stderr = &says
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, bytes.TrimSpace(says.Bytes()))
	}
	return strings.TrimSpace(string(out)), nil
}
