package main

import (
	"fmt"
	"os"
	"strings"
)

// tableHeading begins the section of the document that holds the table.
const tableHeading = "## The table, as measured"

// document replaces the table of a document, up to its next section.
func document(file string, all []result, s summary) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), tableHeading+"\n")
	if !found {
		return fmt.Errorf("%s has no section %q", file, tableHeading)
	}
	after := ""
	if i := strings.Index(rest, "\n## "); i >= 0 {
		after = rest[i:]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n\n%d planted, %d killed; seeds: median %d, worst %d (%s).\n\n",
		before, tableHeading, s.planted, s.killed, s.median, s.worst, s.worstBy)
	b.WriteString("| mutant | layer, rule | the rule | noticed by | seeds | where |\n| --- | --- | --- | --- | --: | --- |\n")
	for _, r := range all {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n",
			r.Mutant.Name, r.Mutant.Layer, r.Mutant.Rule, r.check, r.seedsNeeded(), r.where())
	}
	b.WriteString(after)
	return os.WriteFile(file, []byte(b.String()), 0o666)
}

// seedsNeeded returns how many seeds the kill took, as it is printed.
func (r *result) seedsNeeded() string {
	if r.seeds == 0 {
		return "–"
	}
	return fmt.Sprint(r.seeds)
}

// where returns the kind of world of a kill, or the package of its test.
func (r *result) where() string {
	switch {
	case r.World != "":
		return r.World
	case r.Package == ".":
		return "the library"
	}
	return "`" + r.Package + "`"
}
