// Package planted holds the planted bugs: for each its name, the rule that it
// breaks, the checks that must notice it, and its edits of production files.
//
// The text files of this directory are the table. An entry looks like this:
//
//	mutant VoteTwice
//	layer  leader
//	rule   one vote at a time
//	world  rough SO 100
//	test   leader
//	edit   leader/election.go
//	-	if e.lockedTo.Valid() {
//	+	if e.lockedTo.Valid() && !mutant.On("VoteTwice") {
//
// The layer may end with a section and the rule's number there, as in "leader
// global 2". Each world and test line names one check that must notice the bug:
//
//   - "world NAME CHECK SEEDS [from SEED]": the simulator, in this kind of world,
//     by this check (or by "any") within this many seeds. The first of them is 1, or
//     SEED, which [Learn] stores.
//   - "test PACKAGE [TEST]": a test of the package, by default
//     TestMutantsAreKilled/NAME, which kill.Units plays. The root package is ".".
//
// The lines below "edit FILE" are a hunk as in a unified diff, without line
// numbers: a space begins a line of context, '-' a line to remove, and '+' a
// line to insert. The lines of context and those to remove must stand in the
// file exactly once. Comments at the ends of these lines do not count, so that
// a hunk survives a reworded comment. The inserted text calls mutant.On; an
// edit may serve several bugs. Empty lines and lines that begin with '#' are
// ignored between entries and edits.
package planted

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

//go:embed *.txt
var texts embed.FS

// Dir is the directory of the table, relative to the module.
const Dir = "internal/mutant/planted"

// A Mutant is one planted bug.
type Mutant struct {
	Name  string
	Layer string // of the rule, with the rule's section and number if it has one
	Rule  string // that the bug breaks
	Kills []Kill
	at    place
}

// A Kill is one check that must notice a planted bug.
type Kill struct {
	Mutant  *Mutant
	Package string // whose test plays it, relative to the module
	Test    string // the test's name, with those of subtests
	World   string // the kind of world in the simulator; empty for unit tests
	Check   string // the check that must notice the bug; empty for any
	Seeds   uint64 // the number of worlds that the bug may survive; 0 for unit tests
	From    uint64 // the first seed; 0 for unit tests
	at      place
}

// TestName is the test of every package that plays its kills of the table.
const TestName = "TestMutantsAreKilled"

// A place is a line of the table.
type place struct {
	file string
	line int
}

func (p place) String() string { return fmt.Sprintf("%s/%s:%d", Dir, p.file, p.line) }

// A table is the parsed text.
type table struct {
	mutants []*Mutant
	edits   []edit
}

var embedded = func() *table {
	t, err := parse(texts)
	if err != nil {
		panic(err)
	}
	return t
}()

// All returns the planted bugs, in the order of the table.
func All() []*Mutant { return slices.Clone(embedded.mutants) }

// Kills returns all kills, in the order of the table.
func Kills() (all []Kill) {
	for _, m := range embedded.mutants {
		all = append(all, m.Kills...)
	}
	return all
}

// parse reads all text files of a directory.
func parse(dir fs.FS) (*table, error) {
	files, err := fs.Glob(dir, "*.txt")
	if err != nil {
		return nil, err
	}
	t := &table{}
	for _, file := range files {
		text, err := fs.ReadFile(dir, file)
		if err != nil {
			return nil, err
		}
		if err := t.parseFile(file, string(text)); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *table) parseFile(file, text string) error {
	var m *Mutant
	inHunk := false
	for i, line := range strings.Split(text, "\n") {
		at := place{file, i + 1}
		if inHunk && line != "" && strings.ContainsRune(" -+", rune(line[0])) {
			e := &t.edits[len(t.edits)-1]
			e.hunk = append(e.hunk, hunkLine{line[0], line[1:], at.line})
			continue
		}
		inHunk = false
		keyword, value, _ := strings.Cut(line, " ")
		value = strings.TrimSpace(value)
		switch {
		case line == "" || line[0] == '#':
			continue
		case keyword != "mutant" && m == nil:
			return fmt.Errorf("%v: %q stands before the first line \"mutant NAME\"", at, line)
		case value == "":
			return fmt.Errorf("%v: %q lacks a value", at, line)
		}
		var err error
		switch keyword {
		case "mutant":
			m = &Mutant{Name: value, at: at}
			t.mutants = append(t.mutants, m)
		case "layer":
			m.Layer = value
		case "rule":
			m.Rule = value
		case "world":
			err = m.addWorld(at, strings.Fields(value))
		case "test":
			err = m.addTest(at, strings.Fields(value))
		case "edit":
			t.edits = append(t.edits, edit{mutant: m.Name, path: value, at: at})
			inHunk = true
		default:
			err = fmt.Errorf("a line begins with mutant, layer, rule, world, test or edit, and not with %q", keyword)
		}
		if err != nil {
			return fmt.Errorf("%v: %w", at, err)
		}
	}
	return nil
}

func (m *Mutant) addWorld(at place, f []string) error {
	if len(f) != 3 && (len(f) != 5 || f[3] != "from") {
		return fmt.Errorf("want \"world NAME CHECK SEEDS [from SEED]\"")
	}
	seeds, err := strconv.ParseUint(f[2], 10, 64)
	if err != nil || seeds == 0 {
		return fmt.Errorf("%q is no number of seeds", f[2])
	}
	from := uint64(1)
	if len(f) == 5 {
		if from, err = strconv.ParseUint(f[4], 10, 64); err != nil || from == 0 {
			return fmt.Errorf("%q is no seed", f[4])
		}
	}
	check := f[1]
	if check == "any" {
		check = ""
	}
	m.Kills = append(m.Kills, Kill{m, "sim", TestName + "/" + m.Name + "/" + f[0], f[0], check, seeds, from, at})
	return nil
}

func (m *Mutant) addTest(at place, f []string) error {
	k := Kill{Mutant: m, Package: f[0], Test: TestName + "/" + m.Name, at: at}
	switch len(f) {
	case 1:
	case 2:
		k.Test = f[1]
	default:
		return fmt.Errorf("want \"test PACKAGE [TEST]\"")
	}
	m.Kills = append(m.Kills, k)
	return nil
}
