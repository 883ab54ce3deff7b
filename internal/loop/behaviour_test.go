package loop

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

var updateBehaviour = flag.Bool("update-behaviour", false, "write testdata/behaviour.txt instead of comparing it")

// fold takes what the node has published into the digest of its world.
func (n *inhabitant) fold() {
	s, now := n.l.Snapshot(), timed.Instant(n.show())
	_, _ = fmt.Fprintln(n.w.digest, n.w.now, n.leadUntil, n.global, s.Support, s.UpToDate(now), s.Trust.Lost())
	if v := s.View; v != nil {
		_, _ = fmt.Fprintln(n.w.digest, v.ID, v.Set)
	}
}

// behaviour describes all that has happened in a world.
func (w *world) behaviour(name string) string {
	return fmt.Sprintf("%s: %016x, %d elected, %d resigned, %d messages\n", name, w.digest.Sum64(), w.ends["elected"], w.ends["resigned"], w.ends["messages"])
}

// checkBehaviour demands that the worlds of a test are as they were. Most mistakes break
// no promise, and a change that is meant to change what loops do comes with another file:
// go test ./internal/loop -update-behaviour.
func checkBehaviour(t *testing.T, file, is string) {
	file = "testdata/" + file
	if *updateBehaviour {
		require.NoError(t, os.WriteFile(file, []byte(is), 0o644))
		return
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("the file is of amd64, and others may round otherwise")
	}
	was, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, strings.Split(string(was), "\n"), strings.Split(is, "\n"), "loops behave otherwise: if that is meant, run go test ./internal/loop -update-behaviour")
}
