package clockbound

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// program compiles a reader in C that shares no code with this package.
func program(t *testing.T) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("a C compiler is needed: ", err)
	}
	out := filepath.Join(t.TempDir(), "reader")
	text, err := exec.Command(cc, "-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-o", out, "testdata/reader.c").CombinedOutput()
	require.NoError(t, err, string(text))
	return out
}

func TestCProgramReadsSegment(t *testing.T) {
	reader := program(t)
	path := filepath.Join(t.TempDir(), "shm0")
	create(t, path, utcOf(time.Millisecond, true))
	r, err := Open(path)
	require.NoError(t, err)
	defer r.Close()
	until(t, r, Synchronized)
	before := time.Now().UnixNano()
	out, err := exec.Command(reader, "now", path).Output()
	after := time.Now().UnixNano()
	require.NoError(t, err)
	var status, earliest, latest int64
	_, err = fmt.Sscan(string(out), &status, &earliest, &latest)
	require.NoError(t, err)
	require.Equal(t, int64(Synchronized), status)
	require.LessOrEqual(t, earliest, after)
	require.GreaterOrEqual(t, latest, before)
	require.GreaterOrEqual(t, latest-earliest, int64(2*time.Millisecond))
}

func TestCProgramFindsEveryField(t *testing.T) {
	reader := program(t)
	path := filepath.Join(t.TempDir(), "shm0")
	seg := foreign(t, path, 0)
	seg.write(&record{asOf: 11*second + 22, voidAfter: 33*second + 44, bound: 55, marker: 66, maxDrift: 77, status: Disrupted})
	out, err := exec.Command(reader, "dump", path).Output()
	require.NoError(t, err)
	require.Equal(t, "11 22 33 44 55 66 77 3\n", string(out))
}

// The writer writes as fast as it can, while readers in this process and in others
// read records.
func TestNoReaderSeesTornRecord(t *testing.T) {
	reader := program(t)
	path := filepath.Join(t.TempDir(), "shm0")
	seg := foreign(t, path, 0)
	first := numbered(1)
	seg.write(&first)
	const inC, inGo, programs = 300_000, 20_000, 2
	type child struct {
		cmd *exec.Cmd
		out *bufio.Reader
	}
	var children []child
	for range programs {
		cmd := exec.Command(reader, "check", path, strconv.Itoa(inC))
		pipe, err := cmd.StdoutPipe()
		require.NoError(t, err)
		var complaint strings.Builder
		cmd.Stderr = &complaint
		require.NoError(t, cmd.Start())
		c := child{cmd, bufio.NewReader(pipe)}
		line, err := c.out.ReadString('\n')
		require.NoError(t, err, "%s", &complaint)
		require.Equal(t, "ready\n", line)
		children = append(children, c)
	}
	var stop atomic.Bool
	var wg sync.WaitGroup
	var written uint64
	wg.Go(func() {
		for written = 2; !stop.Load(); written++ {
			r := numbered(written)
			seg.write(&r)
		}
	})
	r, err := Open(path)
	require.NoError(t, err)
	for range inGo {
		var rec record
		if err := r.seg.read(&rec); err != nil {
			require.ErrorIs(t, err, ErrBusy)
			continue
		}
		require.Equal(t, numbered(uint64(rec.asOf/second)), rec)
	}
	torn := 0
	for _, c := range children {
		rest, err := io.ReadAll(c.out)
		require.NoError(t, err)
		require.NoError(t, c.cmd.Wait(), "%v", c.cmd.Stderr)
		n, err := strconv.Atoi(strings.TrimSpace(string(rest)))
		require.NoError(t, err)
		torn += n
	}
	stop.Store(true)
	wg.Wait()
	require.NoError(t, r.Close())
	t.Logf("%d records written; the programs retried %d times", written, torn)
}
