// Package clockbound has no Go code but this test.
package clockbound

import (
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/clocksync/clockbound"
	"github.com/failaware/failaware/clocksync/serve"
)

var interval = regexp.MustCompile(`^UTC is between (\d+) and (\d+) ns since 1970 \(± \d+ ns\)`)

func TestTheProgramReadsASegment(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("a C compiler is needed: ", err)
	}
	program, path := filepath.Join(t.TempDir(), "bound"), filepath.Join(t.TempDir(), "shm0")
	out, err := exec.Command(cc, "-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, "c/bound.c").CombinedOutput()
	require.NoError(t, err, string(out))
	// until runs the program until it ends with a code.
	until := func(want int) string {
		for {
			out, err := exec.Command(program, path).CombinedOutput()
			code := 0
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				code = exit.ExitCode()
			}
			if code == want {
				return string(out)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	require.Contains(t, until(2), "No such file or directory")

	var known atomic.Bool
	known.Store(true)
	w, err := clockbound.Create(t.Context(), path, func() serve.Answer {
		a := serve.Answer{Time: clocksync.Time(time.Now().UnixNano()), Bound: clocksync.UnknownBound}
		if known.Load() {
			a.Bound, a.External = time.Millisecond, true
		}
		return a
	}, clockbound.Options{Drift: 100_000})
	require.NoError(t, err)
	defer w.Close()
	before := time.Now().UnixNano()
	m := interval.FindStringSubmatch(until(0))
	require.NotNil(t, m)
	earliest, err := strconv.ParseInt(m[1], 10, 64)
	require.NoError(t, err)
	latest, err := strconv.ParseInt(m[2], 10, 64)
	require.NoError(t, err)
	require.LessOrEqual(t, earliest, time.Now().UnixNano())
	require.GreaterOrEqual(t, latest, before)
	require.GreaterOrEqual(t, latest-earliest, int64(2*time.Millisecond))

	known.Store(false)
	require.Contains(t, until(1), "not known")
}
