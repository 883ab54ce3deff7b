package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli/clitest"
)

func TestEpochTexts(t *testing.T) {
	for want, e := range map[string]api.Epoch{
		"the node has no quorum system": {Static: true},
		"epoch 1: majority:1, which cannot be replaced here: the node has no state directory": {Epoch: 1, Quorum: "majority:1", Static: true},
		"the node has not heard of an epoch yet":                                              {},
		"epoch 2: majority:1":                                                                 {Epoch: 2, Quorum: "majority:1"},
		"epoch 2: majority:1; noted: majority:2":                                              {Epoch: 2, Quorum: "majority:1", Phase: "noted", Next: "majority:2"},
		"epoch 2: majority:1,2; wedged: majority:2, forced, with [1] declared dead": {Epoch: 2, Quorum: "majority:1,2", Phase: "wedged", Next: "majority:2",
			Dead: []int{1}},
	} {
		require.Equal(t, want, epochText(&e))
	}
}

// The quorum system is replaced from the command line, all nodes are stopped and
// started again with their old settings, and a write under an edict of the old epoch
// is refused once one of the new has passed.
func TestEpochsOnTheCommandLine(t *testing.T) {
	addrs, dir := freePorts(t, 4), shortDir(t)
	start := func() (nodes []*process) {
		for i, addr := range addrs {
			args := []string{"--id", fmt.Sprint(i + 1), "--listen", addr, "--state-dir", dir}
			for j, peer := range addrs {
				if j != i {
					args = append(args, "--peer", fmt.Sprintf("%d=%s", j+1, peer))
				}
			}
			if i < 3 {
				args = append(args, "--quorum", "majority:1,2,3")
			} else {
				args = append(args, "--join-quorum")
			}
			nodes = append(nodes, startProcess(t, args...))
		}
		return nodes
	}
	// somebody asks one node after the other until one does it: the one that leads.
	somebody := func(nodes []*process, args ...string) (out string) {
		require.Eventually(t, func() bool {
			for _, n := range nodes {
				var code int
				if code, out, _ = n.ask(args...); code == 0 {
					return true
				}
			}
			return false
		}, clitest.LongEnough, 1e7, "%v", args)
		return out
	}
	rules := func(nodes []*process, want string) {
		for _, n := range nodes {
			require.Eventually(t, func() bool {
				_, out, _ := n.ask("epoch", "show")
				return out == want+"\n"
			}, clitest.LongEnough, 1e7, want)
		}
	}
	payload, state := writeFile(t, "content"), filepath.Join(dir, "fence")
	verify := func(e string) int {
		code, _, _ := invoke("edict", "verify", strings.TrimSpace(e), "--state", state, "--name", "volume", "--payload", payload)
		return code
	}

	nodes := start()
	rules(nodes, "epoch 1: majority:1,2,3")
	old := somebody(nodes, "edict", "create", "--payload", payload)
	require.Zero(t, verify(old))
	require.Equal(t, "the node is in the next epoch: majority:2,3,4\n", somebody(nodes, "epoch", "change", "majority:2,3,4"))
	rules(nodes, "epoch 2: majority:2,3,4")
	for _, n := range nodes {
		n.stop()
		<-n.done
	}
	nodes = start()
	rules(nodes, "epoch 2: majority:2,3,4")
	fresh := somebody(nodes, "edict", "create", "--payload", payload)
	require.Zero(t, verify(fresh))
	require.Equal(t, 1, verify(old))

	for _, c := range []struct{ args, want string }{
		{"epoch change none", "SYSTEM"}, {"epoch change majority:1 --force", "--force needs --dead"}, {"epoch change majority:1 --dead 2", "--dead needs --force"},
		{"edict create --payload " + dir + "/none", "--payload"},
	} {
		code, _, err := nodes[0].ask(strings.Fields(c.args)...)
		require.Equal(t, 2, code, c.args)
		require.Contains(t, err, c.want)
	}
}
