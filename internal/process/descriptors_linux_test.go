package process

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A follower can open no more files when it must write down another epoch. It is silent until it
// can, and goes on as the same process.
func TestANodeOutlastsALackOfDescriptors(t *testing.T) {
	bin := program(t)
	g := newGroup(t, bin, "local", 3, "--quorum", "majority:1,2,3", "--state-dir", t.TempDir())
	leader := g.await(1, 2, 3)
	victim := leader%3 + 1
	p := g.procs[victim-1]
	var limit unix.Rlimit
	pid := p.cmd.Process.Pid
	require.NoError(t, unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &limit))
	require.NoError(t, unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: limit.Max}, nil))
	// Whether the lead outlasts the change does not matter: that comes about, and is written down.
	out, _ := exec.Command(bin, "--addr", g.socket(leader), "epoch", "change", "weighted:1=2,2=2,3=2").CombinedOutput()
	t.Logf("%s", out)
	g.await(g.others(victim)...)
	require.NoError(t, unix.Prlimit(pid, unix.RLIMIT_NOFILE, &limit, nil))
	g.await(1, 2, 3)
	g.kill(p) // and no other process of that node has come
	require.Contains(t, p.stderr.String(), "the node stands until its state directory can be written")
	require.Contains(t, p.stderr.String(), "too many open files")
	require.Contains(t, p.stderr.String(), "the node goes on")
}
