package journal_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/race"
	"github.com/failaware/failaware/internal/trust"
)

// childDir is the name of the variable that makes the test program write a journal in
// a directory until it is killed.
const childDir = "FAILAWARE_JOURNAL_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		fmt.Println(child(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// child appends records from several goroutines, makes snapshots, and prints the number
// of the last record each time that the disk has it.
func child(dir string) error {
	j, err := journal.Open(dir, journal.Options{Segment: 1 << 16})
	if err != nil {
		return err
	}
	all, err := content(j)
	if err != nil {
		return err
	}
	var durable atomic.Uint64
	w := journal.NewWriter(j, journal.WriterOptions{OnDurable: func(last uint64) {
		durable.Store(last)
		fmt.Println(last)
	}})
	for {
		for range rand.IntN(20) {
			all = append(all, fmt.Sprintf("%d %s\n", len(all)+1, strings.Repeat("y", rand.IntN(100))))
			if _, err := w.Append(context.Background(), []byte(all[len(all)-1])); err != nil {
				return err
			}
		}
		if sure := durable.Load(); rand.IntN(50) == 0 && sure > j.Last()/2 {
			if err := writeSnapshot(j, all[:sure]); err != nil && !strings.Contains(err.Error(), "a snapshot of") {
				return err
			}
		}
		if rand.IntN(10) == 0 {
			time.Sleep(time.Millisecond)
		}
	}
}

// Processes that are killed while they write leave everything that they reported.
func TestNothingDurableIsLostWithTheProcess(t *testing.T) {
	program, err := os.Executable()
	require.NoError(t, err)
	dir, kills, sure := filepath.Join(t.TempDir(), "journal"), 40, 0
	if testing.Short() || race.Enabled {
		kills = 5
	}
	for range kills {
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), childDir+"="+dir)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for left := rand.IntN(60) + 1; left > 0 && lines.Scan(); left-- {
			_, err := fmt.Sscan(lines.Text(), &sure)
			require.NoError(t, err, lines.Text())
		}
		require.NoError(t, cmd.Process.Kill())
		for lines.Scan() { // what was reported before the end
			_, _ = fmt.Sscan(lines.Text(), &sure)
		}
		_ = cmd.Wait()
		j, err := journal.Open(dir, journal.Options{Segment: 1 << 16})
		require.NoError(t, err)
		got, err := content(j)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(got), sure)
		for i, r := range got {
			require.True(t, strings.HasPrefix(r, fmt.Sprintf("%d y", i+1)) || r == fmt.Sprintf("%d \n", i+1), r)
		}
		require.NoError(t, j.Close())
	}
	require.Greater(t, sure, kills)
}

func TestOneOwnerHasAJournal(t *testing.T) { oneOwner(t) }

func oneOwner(t testing.TB) {
	dir := filepath.Join(t.TempDir(), "a", "journal")
	j, err := journal.Open(dir, journal.Options{})
	require.NoError(t, err)
	_, err = journal.Open(dir, journal.Options{})
	require.ErrorIs(t, err, durable.ErrLocked)
	require.ErrorContains(t, err, dir)
	require.NoError(t, j.Close())
	require.NoError(t, j.Close(), "again")
	j, err = journal.Open(dir, journal.Options{})
	require.NoError(t, err)
	require.NoError(t, j.Close())
	log := filepath.Join(dir, "log-0000000000000001")
	require.NoError(t, os.Rename(log, log+".away"))
	_, err = journal.Open(dir, journal.Options{Former: "owner"})
	require.ErrorContains(t, err, "missing")
	require.NoError(t, os.Rename(log+".away", log))
	j, err = journal.Open(dir, journal.Options{})
	require.NoError(t, err, "one that was refused is free")
	require.NoError(t, j.Close())
}

func TestFilesOfOthersAreRefused(t *testing.T) {
	if os.PathSeparator == '\\' {
		t.Skip("access lists in place of modes")
	}
	dir := filepath.Join(t.TempDir(), "journal")
	j, err := journal.Open(dir, journal.Options{})
	require.NoError(t, err)
	var b journal.Batch
	b.Add([]byte("1\n"))
	require.NoError(t, j.Append(&b))
	require.NoError(t, writeSnapshot(j, []string{"1\n"}))
	require.NoError(t, j.Close())
	for _, name := range []string{"", "lock", "log-0000000000000001", "snapshot-0000000000000001"} {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(path, info.Mode()|0o022))
		_, err = journal.Open(dir, journal.Options{})
		require.ErrorIs(t, err, trust.ErrUntrusted, name)
		require.ErrorContains(t, err, path)
		require.NoError(t, os.Chmod(path, info.Mode()))
	}
	j, err = journal.Open(dir, journal.Options{})
	require.NoError(t, err)
	_, r, err := j.Snapshot()
	require.NoError(t, err)
	state, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "1\n", string(state))
	require.NoError(t, r.Close())
	require.NoError(t, j.Close())
}

// journalsAreNotMixed puts the log of one journal beside the snapshot of another, as a
// mistake with a backup does. The numbers of the records fit.
func journalsAreNotMixed(t testing.TB) {
	dir := t.TempDir()
	var logs [2]string
	for i := range logs {
		one := filepath.Join(dir, fmt.Sprint(i))
		j, err := journal.Open(one, journal.Options{})
		require.NoError(t, err)
		var b journal.Batch
		b.Add(fmt.Appendf(nil, "%d\n", i))
		require.NoError(t, j.Append(&b))
		require.NoError(t, writeSnapshot(j, []string{fmt.Sprintf("%d\n", i)}))
		require.NoError(t, j.Close())
		names, err := filepath.Glob(filepath.Join(one, "log-*"))
		require.NoError(t, err)
		require.Len(t, names, 1)
		logs[i] = names[0]
	}
	require.NoError(t, os.Rename(logs[1], logs[0]))
	_, err := journal.Open(filepath.Join(dir, "0"), journal.Options{})
	var damaged *journal.DamagedError
	require.ErrorAs(t, err, &damaged)
	require.ErrorContains(t, err, "another journal")
}

func TestJournalsAreNotMixed(t *testing.T) { journalsAreNotMixed(t) }
