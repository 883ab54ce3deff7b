// Package enum names the values of small enumerations.
package enum

import "fmt"

// Name returns the name of a value: names[v], or "kind 17" for a value that has none.
func Name[V ~uint8](v V, names ...string) string { return Named("kind", v, names...) }

// Named is Name, with another word than kind.
func Named[V ~uint8](what string, v V, names ...string) string {
	if int(v) < len(names) && names[v] != "" {
		return names[v]
	}
	return fmt.Sprintf("%s %d", what, uint8(v))
}
