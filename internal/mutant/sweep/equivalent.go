package main

import (
	_ "embed"
	"fmt"
	"strings"
)

// equivalents lists changes that nothing can notice, each with the reason, in the line
// below it that begins with a tab. A change is named by its file, its kind and its
// text.
//
//go:embed equivalent.txt
var equivalents string

// known returns the reasons why changes make no difference, by their names.
func known(list string) (map[string]string, error) {
	reasons, name := map[string]string{}, ""
	for n, line := range strings.Split(list, "\n") {
		reason, ok := strings.CutPrefix(line, "\t")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case !ok && name == "" && strings.Count(line, ": ") >= 2:
			name = line
		case ok && name != "" && reasons[name] == "":
			reasons[name], name = reason, ""
		default:
			return nil, fmt.Errorf("equivalent.txt: line %d is neither FILE: KIND: TEXT nor the reason of the line above", n+1)
		}
	}
	return reasons, nil
}

// name names a change in the list of those that are equivalent.
func (c *change) name() string {
	return fmt.Sprintf("%s/%s: %s: %s", c.pkg, c.file, c.kind, strings.Join(strings.Fields(c.text), " "))
}
