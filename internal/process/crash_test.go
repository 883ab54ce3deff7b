//go:build unix

package process

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The leader is killed twenty times and stopped for two seconds ten times. No two
// processes may ever claim the same node, or to lead globally, at one instant, and a
// stopped leader knows it at once when it continues.
func TestKilledAndStoppedLeaders(t *testing.T) {
	g := newGroup(t, program(t), "local", 5, "--quorum", "majority:1,2,3,4,5", "--state-dir", t.TempDir())
	leader := g.await(1, 2, 3, 4, 5)
	for i := range 20 {
		g.kill(g.procs[leader-1])
		next := g.await(g.others(leader)...)
		require.NotEqual(t, leader, next, "kill %d", i)
		g.start(leader)
		leader = g.await(1, 2, 3, 4, 5)
	}
	for range 10 {
		p := g.procs[leader-1]
		before, err := p.status(patience)
		require.NoError(t, err)
		p.signal(t, syscall.SIGSTOP)
		stopped := time.Now()
		g.await(g.others(leader)...)
		// The question waits for the process, so that answering is its first
		// action.
		answer := make(chan error, 1)
		go func() {
			s, err := p.status(patience)
			if err == nil {
				require.False(t, s.Leader.Leads, "the stopped leader still says that it leads")
				require.False(t, s.View.UpToDate && s.View.ID == before.View.ID, "the stopped leader's view is still up to date")
			}
			answer <- err
		}()
		time.Sleep(2*time.Second - time.Since(stopped))
		p.signal(t, syscall.SIGCONT)
		require.NoError(t, <-answer)
		leader = g.await(1, 2, 3, 4, 5)
	}
	leads, views := g.audit()
	t.Logf("%d leads and %d up-to-date views, none in conflict", leads, views)
}
