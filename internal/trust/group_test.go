package trust

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A group with the number of a user is for that user alone, unless the machine's files name
// another member.
func TestTheOthersOfAGroup(t *testing.T) {
	const users = "root:x:0:0:root:/root:/bin/sh\nnode:x:995:995::/:/bin/false\njoe:x:1001:1001::/:/bin/sh\n"
	for _, c := range []struct {
		groups, users string
		others        bool
	}{
		{"", "", false},
		{"root:x:0:\nnode:x:995:\njoe:x:1001:\n", users, false},
		{"node:x:995:node\n", users, false},
		{"node:x:995:node", users, false},
		{"node:x:995:joe\n", users, true},
		{"node:x:995:node,joe\n", users, true},
		{"other:x:996:joe\nnode:x:995:\n", users, false},
		{"node:x:995:\n", users + "jane:x:1002:995::/:/bin/sh\n", true},
		{"node:x:995:\n", users + "+::::::\nbad\n", false},
		{"node:x:995:joe\n", "", true},
	} {
		require.Equal(t, c.others, others(c.groups, c.users, "995", "995"), "%q %q", c.groups, c.users)
	}
}
