package planted

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Module is the path of the module that the bugs are planted in.
const Module = "github.com/failaware/failaware"

// Tag is the build tag of the tests that switch planted bugs on.
const Tag = "mutants"

// Root returns the directory of the module around the working directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(text, []byte("module "+Module+"\n")) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("the working directory is not in module %s", Module)
		}
		dir = parent
	}
}

// Flags returns the flags with which the go command builds from an overlay file.
func Flags(overlay string) []string { return []string{"-tags=" + Tag, "-overlay=" + overlay} }

// Write writes the mutated files of the module at root into dir, and returns the
// path of the overlay file that puts them in the places of the originals.
func Write(root, dir string) (overlay string, err error) {
	files, err := embedded.mutated(root)
	if err != nil {
		return "", err
	}
	files["internal/mutant/names.go"] = embedded.names()
	replace := map[string]string{}
	for path, text := range files {
		// Not a .go file: dir may lie in the module.
		to := filepath.Join(dir, strings.ReplaceAll(path, "/", "-")+".txt")
		if err := writeChanged(to, []byte(text)); err != nil {
			return "", err
		}
		replace[filepath.Join(root, filepath.FromSlash(path))] = to
	}
	return WriteOverlay(dir, replace)
}

// WriteOverlay writes an overlay file into dir, which maps the paths of files to
// those of their replacements, and returns its path.
func WriteOverlay(dir string, replace map[string]string) (string, error) {
	text, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, writeChanged(overlay, text)
}

// writeChanged leaves a file alone that has its text already.
func writeChanged(path string, text []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o666)
}

// mutated returns the texts of all files that the table edits.
func (t *table) mutated(root string) (map[string]string, error) {
	edits := map[string][]*edit{}
	var paths []string
	for i := range t.edits {
		e := &t.edits[i]
		if edits[e.path] == nil {
			paths = append(paths, e.path)
		}
		edits[e.path] = append(edits[e.path], e)
	}
	files := map[string]string{}
	var errs []error
	for _, path := range paths {
		full := filepath.Join(root, filepath.FromSlash(path))
		text, err := os.ReadFile(full)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if lost := lost(root, string(text), edits[path]); lost != nil {
			errs = append(errs, lost)
			continue
		}
		files[path], err = mutate(full, filepath.Join(root, filepath.FromSlash(Dir)), string(text), edits[path])
		errs = append(errs, err)
	}
	return files, errors.Join(errs...)
}

// lost reports the edits whose lines do not stand in their file, and where they
// stand instead.
func lost(root, text string, edits []*edit) error {
	var errs []error
	for _, e := range edits {
		if len(e.find(strings.Split(text, "\n"))) > 0 {
			continue
		}
		hint := "the code has changed: write them as they are there now"
		if now := e.elsewhere(root); len(now) > 0 {
			hint = "if the code has moved, change the path to " + strings.Join(now, " or ")
		}
		errs = append(errs, fmt.Errorf("%v: %s: the lines with ' ' and '-' do not stand in %s: %s", e.at, e.mutant, e.path, hint))
	}
	return errors.Join(errs...)
}

// elsewhere returns all files of the module in which the edit's lines stand.
func (e *edit) elsewhere(root string) (paths []string) {
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && len(e.find(strings.Split(string(text), "\n"))) > 0 {
			rel, _ := filepath.Rel(root, path)
			paths = append(paths, filepath.ToSlash(rel))
		}
		return err
	})
	return paths
}

// names returns the file that says which bugs a build contains.
func (t *table) names() string {
	list := make([]string, len(t.mutants))
	for i, m := range t.mutants {
		list[i] = m.Name
	}
	slices.Sort(list)
	return fmt.Sprintf("package mutant\n\nvar names = %#v\n", list)
}
