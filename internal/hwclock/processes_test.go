package hwclock

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// readsOnce is the variable with which a process of this test reads the clock, and ends.
const readsOnce = "HWCLOCK_READS_ONCE"

// The guard of a lock compares instants of another process.
func TestProcessesAgreeOnH(t *testing.T) {
	c, err := New()
	require.NoError(t, err)
	if os.Getenv(readsOnce) != "" {
		fmt.Print(int64(c.Now()), "\n")
		os.Exit(0)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, "-test.run=TestProcessesAgreeOnH")
	cmd.Env = append(os.Environ(), readsOnce+"=1")
	before := int64(c.Now())
	out, err := cmd.Output()
	after := int64(c.Now())
	require.NoError(t, err)
	there, err := strconv.ParseInt(string(out[:len(out)-1]), 10, 64)
	require.NoError(t, err)
	require.LessOrEqual(t, before, there)
	require.LessOrEqual(t, there, after)
}
