package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
)

// Each number has its bounds: what is outside is refused by the flag's name, before any node
// is asked. Settings of a node have tests of their own.
func TestNumbersOutsideTheirBoundsAreRefused(t *testing.T) {
	const most = "2562047h47m16.854775807s"
	tries := map[string]struct {
		command string
		wrong   []string
	}{
		"bound":       {"wait synced", []string{"-1s", "0", "-" + most}},
		"count":       {"watch", []string{"-1", "0", "-9223372036854775808"}},
		"every":       {"clock --watch", []string{"-1s", "0", "-" + most}},
		"for":         {"demo", []string{"-1s", "0", "-" + most}},
		"limit":       {"kv list", []string{"-1", "0", "1001", "9223372036854775807"}},
		"members":     {"wait view", []string{"-1", "0", "256", "9223372036854775807"}},
		"nodes":       {"demo", []string{"-1", "0", "1", "10", "9223372036854775807"}},
		"term-before": {"lock", []string{"-1s", "-" + most}},
		"timeout":     {"status", []string{"-1s", "0", "0s", "-" + most}},
		"ttl":         {"kv put k v", []string{"-1s", "0", "1ns", "721h", most}},
	}
	for _, flag := range clitest.RefusesNoNumbers(t, &program) {
		ofNode := slices.ContainsFunc(settings, func(s *setting) bool { return s.flag == flag })
		require.True(t, ofNode || tries[flag].wrong != nil, "the bounds of --%s are not tried", flag)
	}
	for flag, try := range tries {
		for _, text := range try.wrong {
			args := append(strings.Fields(try.command), "--"+flag+"="+text)
			if try.command == "lock" {
				args = append(args, "--", "true")
			}
			args = slices.Insert(args, 0, "--addr=/nonexistent/socket")
			code, _, problem := invoke(args...)
			require.Equal(t, 2, code, args)
			require.Contains(t, problem, "--"+flag, args)
		}
	}
	for _, command := range []string{"deliveries", "kv watch"} {
		code, _, problem := invoke(append(strings.Fields(command), "-n", "0")...)
		require.Equal(t, 2, code, command)
		require.Contains(t, problem, "--count: 0 is not above 0", command)
	}
}
