package hwclock

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// No test may set the clock of the machine, so this one asks the kernel what the watch is told.
func TestStepsCancelTheTimer(t *testing.T) { stepsCancel(t) }

func stepsCancel(t testing.TB) {
	w, err := NewStepWatch()
	require.NoError(t, err)
	defer w.Close()
	var text []byte
	require.NoError(t, w.raw.Control(func(fd uintptr) { text, err = os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd)) }))
	require.NoError(t, err)
	require.Contains(t, string(text), "clockid: 0\n", "CLOCK_REALTIME")
	require.Contains(t, string(text), "settime flags: 03\n", "an absolute time, and canceled when the clock is set")
}
