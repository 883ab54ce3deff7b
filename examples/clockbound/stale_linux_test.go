package clockbound

import (
	"context"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// segment writes a file with a synchronized record of some age and a generation.
func segment(t *testing.T, path string, age time.Duration, generation uint16) {
	var ts unix.Timespec
	require.NoError(t, unix.ClockGettime(unix.CLOCK_MONOTONIC_COARSE, &ts))
	var b [80]byte
	e := binary.NativeEndian
	e.PutUint32(b[0:], 0x414D5A4E)
	e.PutUint32(b[4:], 0x43420200)
	e.PutUint32(b[8:], uint32(len(b)))
	e.PutUint16(b[12:], 2)
	e.PutUint16(b[14:], generation)
	put := func(at int, ns int64) {
		e.PutUint64(b[at:], uint64(ns/1e9))
		e.PutUint64(b[at+8:], uint64(ns%1e9))
	}
	asOf := ts.Nano() - int64(age)
	put(16, asOf)
	put(32, asOf+int64(time.Minute))
	e.PutUint64(b[48:], 1_000_000) // the bound: 1 ms
	e.PutUint32(b[64:], 600_000)
	e.PutUint32(b[68:], 1) // synchronized
	require.NoError(t, os.WriteFile(path, b[:], 0o644))
}

func compile(t *testing.T) string {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("a C compiler is needed: ", err)
	}
	program := filepath.Join(t.TempDir(), "bound")
	out, err := exec.Command(cc, "-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, "c/bound.c").CombinedOutput()
	require.NoError(t, err, string(out))
	return program
}

// A machine that was started again has a monotonic clock that begins anew, and the file of
// before if /tmp is on a disk.
func TestTheProgramTrustsNoSegmentOfAnEarlierBoot(t *testing.T) {
	program, path := compile(t), filepath.Join(t.TempDir(), "shm0")
	segment(t, path, -time.Hour, 4)
	out, err := exec.Command(program, path).CombinedOutput()
	require.Error(t, err, string(out))
	require.Contains(t, string(out), "not known")
}

// A node that was killed while it wrote leaves the generation odd.
func TestTheProgramEndsThoughTheNodeDiedWhileItWrote(t *testing.T) {
	program, path := compile(t), filepath.Join(t.TempDir(), "shm0")
	segment(t, path, 0, 5)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, path).CombinedOutput()
	require.NoError(t, ctx.Err(), "it reads for ever")
	require.Error(t, err)
	require.Contains(t, string(out), "not known")
}
