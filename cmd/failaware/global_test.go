package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
)

func TestGlobalLeaderOnTheCommandLine(t *testing.T) {
	nodes := startThree(t, func(int) []string { return []string{"--quorum", "majority:1,2,3"} })
	// Whoever leads may lose the lead at any time on a busy machine.
	until := func(what string, ok func() bool) {
		t.Helper()
		require.Eventually(t, ok, clitest.LongEnough, 1e7, what)
	}
	led := func() {
		until("one leads globally", func() bool {
			code, out, _ := nodes[0].ask("leader", "--global")
			if code == 0 {
				require.Regexp(t, `^global leader: node [123], (this one, for .*|as heard) \(majority:1,2,3\)\n$`, out)
			}
			return code == 0
		})
	}
	led()
	until("one answers that it leads", func() bool {
		for _, id := range []string{"1", "2", "3"} {
			code, out, _ := nodes[0].ask("leader", "verify", id)
			if code == 0 {
				require.Regexp(t, `^node [123]: no other node leads (globally|its part of the group) for .*\n$`, out)
				return true
			}
			require.Contains(t, out, "does not lead")
		}
		return false
	})
	until("a follower says whom it follows", func() bool {
		for _, id := range []string{"1", "2", "3"} {
			if _, out, _ := nodes[0].ask("leader", "verify", id); strings.Contains(out, "it follows node ") {
				require.Regexp(t, `^node [123] does not lead; it follows node [123]\n$`, out)
				return true
			}
		}
		return false
	})
	until("all find the leader", func() bool {
		found := map[string]bool{}
		for _, n := range nodes {
			for _, flag := range []string{"--global", "--global=false"} {
				code, out, err := n.ask("leader", "find", flag)
				require.Contains(t, []int{0, 1}, code, err)
				if code == 1 {
					return false
				}
				require.Regexp(t, `^node [123]: no other node leads`, out)
				found[out[:len("node 1")]] = true
			}
		}
		return len(found) == 1
	})
	until("a follower does not resign, and says who leads", func() bool {
		for _, n := range nodes {
			if code, _, err := n.ask("leader", "resign", "--to", "9"); code == 1 && strings.Contains(err, "as far as it knows") {
				require.Regexp(t, `^failaware: this node does not lead; node [123] does, as far as it knows\n$`, err)
				return true
			}
		}
		return false
	})
	until("a leader hands over", func() bool {
		for i, n := range nodes {
			to := []string{"2", "3", "1"}[i]
			if code, out, _ := n.ask("leader", "resign", "--to", to); code == 0 {
				require.Equal(t, "the node has resigned\n", out)
				return true
			}
		}
		return false
	})
	led()
}
