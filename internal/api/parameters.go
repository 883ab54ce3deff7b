package api

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// parameters are the names of all parameters of a path, as in docs/openapi.yaml. A ! follows
// a required one, and a = one that may be empty.
type parameters string

// check refuses a query with a parameter that is unknown, missing, empty or given twice. An
// unset variable of a script must not turn a conditional write into one without a condition.
func (r *route) check(query string) error {
	if !strings.HasPrefix(r.path, "/v1/") {
		return nil // scrapes and probes send parameters of their own
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return fmt.Errorf("the parameters %.100q cannot be read: %w", query, err)
	}
	known := strings.Fields(string(r.parameters))
	for i, name := range known {
		bare := strings.TrimRight(name, "!=")
		known[i] = bare
		switch given := values[bare]; {
		case len(given) == 0 && name == bare+"!":
			return errors.New(bare + ": it is missing")
		case len(given) > 1:
			return fmt.Errorf("%s: it is given %d times", bare, len(given))
		case len(given) == 1 && given[0] == "" && name != bare+"=":
			return errors.New(bare + ": it is empty")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, name) {
			has := "none"
			if len(known) > 0 {
				has = strings.Join(known, ", ")
			}
			return fmt.Errorf("%s has no parameter %.50q; it has: %s", r.path, name, has)
		}
	}
	return nil
}
