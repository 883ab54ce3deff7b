package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/failaware/failaware/internal/mutant/planted"
)

// A bug is a change of the module that is not in the table.
type bug struct {
	root    string
	overlay string   // the overlay file that plants it
	changed []string // the directories of its files, relative to the module, with "./"
}

// readBug prepares the bug of a patch file or of a directory of files. It writes
// into dir.
func readBug(ctx context.Context, from, dir string) (*bug, error) {
	root, err := planted.Root()
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(from)
	if err != nil {
		return nil, err
	}
	if from, err = filepath.Abs(from); err != nil {
		return nil, err
	}
	b := &bug{root: root}
	replace := map[string]string{}
	if info.IsDir() {
		err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(from, path)
			if err == nil {
				b.replace(replace, rel, path)
			}
			return err
		})
	} else {
		err = b.apply(ctx, from, filepath.Join(dir, "patched"), replace)
	}
	if err == nil && len(replace) == 0 {
		err = fmt.Errorf("%s changes no file", from)
	}
	if err != nil {
		return nil, err
	}
	b.overlay, err = planted.WriteOverlay(dir, replace)
	return b, err
}

// replace notes that a file, relative to the module, has its text elsewhere, or
// none with by == "".
func (b *bug) replace(replace map[string]string, rel, by string) {
	replace[filepath.Join(b.root, rel)] = by
	if dir := "./" + filepath.ToSlash(filepath.Dir(rel)); !slices.Contains(b.changed, dir) {
		b.changed = append(b.changed, dir)
	}
}

// apply applies a patch to copies of the files that it touches.
func (b *bug) apply(ctx context.Context, patch, dir string, replace map[string]string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	list, err := b.git(ctx, dir, "apply", "--numstat", "-z", patch)
	if err != nil {
		return err
	}
	var paths []string
	for entry := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		if f := strings.SplitN(entry, "\t", 3); len(f) == 3 {
			paths = append(paths, filepath.FromSlash(f[2]))
		}
	}
	for _, path := range paths {
		text, err := os.ReadFile(filepath.Join(b.root, path))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the patch adds it
		}
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o777)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, path), text, 0o666)
		}
		if err != nil {
			return err
		}
	}
	if _, err := b.git(ctx, dir, "apply", patch); err != nil {
		return err
	}
	for _, path := range paths {
		by := filepath.Join(dir, path)
		if _, err := os.Stat(by); errors.Is(err, fs.ErrNotExist) {
			by = "" // the patch removes it
		}
		b.replace(replace, path, by)
	}
	return nil
}

// git runs git in a directory that is in no repository.
func (b *bug) git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}
