package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// entry is a file of an archive or a package.
type entry struct {
	name string // with slashes
	mode fs.FileMode
	data []byte
}

// tree gathers files. The first error stays.
type tree struct {
	entries []entry
	err     error
}

// add adds a file of this machine.
func (t *tree) add(name, from string, mode fs.FileMode) {
	if t.err != nil {
		return
	}
	var data []byte
	data, t.err = os.ReadFile(from)
	t.entries = append(t.entries, entry{name, mode, data})
}

// addAll adds the files of a directory, changed by each if it is not nil.
func (t *tree) addAll(dir, from string, each func(*entry)) {
	list, err := os.ReadDir(from)
	if t.err == nil {
		t.err = err
	}
	for _, f := range list {
		t.add(dir+"/"+f.Name(), filepath.Join(from, f.Name()), 0o644)
		if t.err == nil && each != nil {
			each(&t.entries[len(t.entries)-1])
		}
	}
}

// sorted returns the files in the order of their names.
func (t *tree) sorted() []entry {
	slices.SortFunc(t.entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return t.entries
}

// directories returns the directories of files, each after the one that contains it.
func directories(files []entry) (dirs []string) {
	for _, f := range files {
		for i, c := range f.name {
			if c == '/' && !slices.Contains(dirs, f.name[:i]) {
				dirs = append(dirs, f.name[:i])
			}
		}
	}
	slices.Sort(dirs)
	return dirs
}
