// Package mutant switches planted bugs on and off at run time.
//
// The bugs themselves stand in package planted, as edits of production files.
// Only a build with the overlay of command plant contains them, and with them
// the calls of [On]. No other build links this package into a program.
package mutant

import (
	"fmt"
	"os"
	"slices"
)

// None is the name for no planted bug.
const None = ""

// Variable names the environment variable that selects the bug a process
// starts with.
const Variable = "FAILAWARE_MUTANT"

var active, also string

func init() {
	name := os.Getenv(Variable)
	if err := check(name); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", Variable, err)
		os.Exit(2)
	}
	active = name
}

// On reports whether the named bug is switched on.
func On(name string) bool { return active == name || name == also && also != None }

// Unaudited is the planted bug of a node that does not hear of its own mistakes.
const Unaudited = "AuditUnheard"

// Set switches one planted bug on, or all off with [None]. It panics if the
// build does not contain the bug, so that no test passes without it. Set must
// not run while other goroutines may call [On].
func Set(name string) { set(name, None) }

// SetUnaudited is Set, and switches [Unaudited] on as well: the checks of the world
// must notice the bug, although the node itself could have.
func SetUnaudited(name string) { set(name, Unaudited) }

func set(name, second string) {
	for _, n := range []string{name, second} {
		if err := check(n); err != nil {
			panic("mutant: " + err.Error())
		}
	}
	active, also = name, second
}

func check(name string) error {
	switch {
	case name == None || slices.Contains(names, name):
		return nil
	case len(names) == 0:
		return fmt.Errorf("this build contains no planted bugs, so not %q: build it with go run ./internal/mutant/plant", name)
	}
	return fmt.Errorf("there is no planted bug %q", name)
}
