package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/failaware/failaware/internal/cli"
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
		if near := cli.Nearest(name, known); near != "" {
			warning += fmt.Sprintf("; there is %s", near)
		}
		warnings = append(warnings, warning)
	}
	return warnings
}
