package planted

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// An edit is one hunk of a planted bug.
type edit struct {
	mutant string // the entry that it stands in
	path   string // of the production file, relative to the module
	at     place
	hunk   []hunkLine
}

type hunkLine struct {
	kind byte // ' ', '-' or '+'
	text string
	line int // of the table
}

// A change replaces the lines [from, to) of a file. An insertion has from == to.
type change struct {
	from, to int
	lines    []string
	edit     *edit
	line     int // of the table, where the lines begin
}

// code returns a line without the comment at its end.
func code(line string) string {
	if i := strings.Index(line, " //"); i > 0 {
		line = line[:i]
	}
	return strings.TrimRight(line, " \t")
}

// find returns where the lines of context and those to remove stand.
func (e *edit) find(src []string) (places []int) {
	var anchor []string
	for _, h := range e.hunk {
		if h.kind != '+' {
			anchor = append(anchor, code(h.text))
		}
	}
	for i := 0; len(anchor) > 0 && i+len(anchor) <= len(src); i++ {
		if slices.EqualFunc(anchor, src[i:i+len(anchor)], func(a, s string) bool { return a == code(s) }) {
			places = append(places, i)
		}
	}
	return places
}

// changes returns the effect of the edit on a file with these lines.
func (e *edit) changes(src []string) ([]change, error) {
	at := e.find(src)
	if len(at) == 0 {
		return nil, fmt.Errorf("%v: %s: the lines with ' ' and '-' do not stand in %s", e.at, e.mutant, e.path)
	}
	if len(at) > 1 {
		return nil, fmt.Errorf("%v: %s: the lines with ' ' and '-' stand in %s %d times, first at lines %d and %d: add lines of context (with ' ')",
			e.at, e.mutant, e.path, len(at), at[0]+1, at[1]+1)
	}
	var all []change
	line, open := at[0], false
	for _, h := range e.hunk {
		if h.kind == ' ' {
			line, open = line+1, false
			continue
		}
		if !open {
			all = append(all, change{from: line, to: line, edit: e, line: h.line})
			open = true
		}
		c := &all[len(all)-1]
		if h.kind == '-' {
			line++
			c.to = line
			continue
		}
		if len(c.lines) == 0 {
			c.line = h.line
		}
		c.lines = append(c.lines, h.text)
	}
	return all, nil
}

// ordered sorts the changes of one file, and reports those that overlap.
func ordered(all []change) error {
	slices.SortStableFunc(all, func(a, b change) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return a.to - b.to // an insertion comes first
	})
	var errs []error
	for i := 1; i < len(all); i++ {
		if a, b := &all[i-1], &all[i]; b.from < a.to || b.from == a.from && b.to == a.to {
			errs = append(errs, fmt.Errorf("%v: %s changes the same place of %s as %s (%v): make one edit of the two, with a call of mutant.On for each",
				b.edit.at, b.edit.mutant, b.edit.path, a.edit.mutant, a.edit.at))
		}
	}
	return errors.Join(errs...)
}

var packageClause = regexp.MustCompile(`(?m)^package \w+`)

// mutate returns the text of a file with the given edits. Line directives let
// compilers and stack traces point at the table for planted text, and at path,
// the file's own, for all else. dir is the directory of the table.
func mutate(path, dir, text string, edits []*edit) (string, error) {
	src := strings.Split(text, "\n")
	var all []change
	var errs []error
	for _, e := range edits {
		c, err := e.changes(src)
		all, errs = append(all, c...), append(errs, err)
	}
	if err := errors.Join(append(errs, ordered(all))...); err != nil {
		return "", err
	}
	var b strings.Builder
	next := 0
	copyTo := func(end int) {
		for _, l := range src[next:end] {
			b.WriteString(l + "\n")
		}
		next = end
	}
	for _, c := range all {
		copyTo(c.from)
		fmt.Fprintf(&b, "//line %s/%s:%d\n", dir, c.edit.at.file, c.line)
		for _, l := range c.lines {
			b.WriteString(l + "\n")
		}
		next = c.to
		fmt.Fprintf(&b, "//line %s:%d\n", path, next+1)
	}
	copyTo(len(src))
	// On the line of the package clause, the import moves no other line.
	out := strings.TrimSuffix(b.String(), "\n")
	at := packageClause.FindStringIndex(out)
	if at == nil {
		return "", fmt.Errorf("%s: there is no package clause", path)
	}
	return out[:at[1]] + `; import "` + Module + `/internal/mutant"` + out[at[1]:], nil
}
