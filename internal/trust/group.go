package trust

import (
	"os"
	"strconv"
	"strings"
)

// hasOthers reports whether a group of this machine has members besides a user, as far as
// /etc/group and /etc/passwd say. Kubernetes invents groups that are in neither.
func hasOthers(group, user int) bool {
	groups, _ := os.ReadFile("/etc/group") // without one there are no names, and so no members
	users, _ := os.ReadFile("/etc/passwd")
	return others(string(groups), string(users), strconv.Itoa(group), strconv.Itoa(user))
}

// others is hasOthers of the content of the two files.
func others(groups, users, group, user string) bool {
	name := ""
	for line := range strings.Lines(users) { // name:password:user:group:…
		switch f := strings.Split(line, ":"); {
		case len(f) < 4:
		case f[2] == user:
			name = f[0]
		case f[3] == group:
			return true
		}
	}
	for line := range strings.Lines(groups) { // name:password:group:member,…
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) == 4 && f[2] == group && f[3] != "" && f[3] != name {
			return true
		}
	}
	return false
}
