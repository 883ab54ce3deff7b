package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// prefix begins the names of this program's variables.
const prefix = "FAILAWARE_"

// otherVariables are those that set something else than a setting of a node, or tell
// a command of `failaware lock` about its lead, or a handler about its event.
var otherVariables = []string{configFileEnv, prefix + "ADDR", prefix + "TOKEN_FILE", prefix + "LEADER", prefix + "EDICT",
	prefix + "CA", prefix + "CERT", prefix + "KEY", prefix + "EVENT", prefix + "SEQUENCE", prefix + "DROPPED"}

// ofService matches variables that Kubernetes sets for a service named failaware.
var ofService = regexp.MustCompile(`^` + prefix + `(SERVICE|PORT)(_|$)`)

// strayVariables returns a warning for each variable that looks like one of this
// program's and sets nothing.
func strayVariables() (warnings []string) {
	known := slices.Clone(otherVariables)
	for _, s := range settings {
		known = append(known, s.env())
	}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, prefix) || slices.Contains(known, name) || ofService.MatchString(name) {
			continue
		}
		warning := name + " in the environment sets nothing"
		if near := nearest(name, known); near != "" {
			warning += fmt.Sprintf("; there is %s", near)
		}
		warnings = append(warnings, warning)
	}
	return warnings
}

// mostTypos is how many letters of a name may be wrong for it to be recognized.
const mostTypos = 3

// nearest returns the known name that differs least from a name, or "".
func nearest(name string, known []string) (best string) {
	least := mostTypos + 1
	for _, k := range known {
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance returns how many letters must be inserted, removed or replaced to make b
// of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
