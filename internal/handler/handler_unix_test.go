//go:build unix

package handler

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/api"
)

// longEnough ends a test that hangs.
const longEnough = 2 * time.Minute

// source gives the same events to every handler.
type source chan event.Event

func (s source) events() iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		for e := range s {
			if !yield(e) {
				return
			}
		}
	}
}

func elected(sequence uint64) event.Event {
	return event.Elected{Header: event.Header{Sequence: sequence, Time: time.Unix(1, 0)}}
}

func config() Config {
	return Config{Node: 7, Name: "seven", Group: "g", API: "/run/api", Run: "run", Timeout: longEnough, Close: longEnough, Log: hclog.NewNullLogger()}
}

func start(t *testing.T, c Config, events source, specs ...string) *Set {
	t.Helper()
	var list []Spec
	for _, text := range specs {
		s, err := ParseCommand(text)
		require.NoError(t, err)
		list = append(list, s)
	}
	return Start(c, list, events.events)
}

// until waits until a file has a number of lines, and returns them.
func until(t *testing.T, file string, lines int) []string {
	t.Helper()
	var b []byte
	require.Eventually(t, func() bool {
		b, _ = os.ReadFile(file)
		return strings.Count(string(b), "\n") >= lines
	}, longEnough, time.Millisecond)
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

func TestCommandsGetEventsInTheirOrder(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("NOTIFY_SOCKET", "secret")
	t.Setenv("FAILAWARE_CONFIG", "secret")
	var list []event.Event
	for i := range uint64(20) {
		list = append(list, elected(2*i+1), event.Ready{Header: event.Header{Sequence: 2*i + 2}})
	}
	var specs []Spec
	for _, text := range []string{
		`leader=echo "$FAILAWARE_EVENT $FAILAWARE_SEQUENCE $FAILAWARE_ID $FAILAWARE_NAME $FAILAWARE_GROUP $FAILAWARE_ADDR $FAILAWARE_DROPPED$NOTIFY_SOCKET$FAILAWARE_CONFIG" >>` + dir + `/env`,
		`all=cat >>` + dir + `/json`,
	} {
		spec, err := ParseCommand(text)
		require.NoError(t, err)
		specs = append(specs, spec)
	}
	s := Start(config(), specs, func() iter.Seq[event.Event] { return slices.Values(list) })
	s.Close()
	require.Equal(t, Counts{Handled: 60}, s.Counts())
	lines := until(t, filepath.Join(dir, "env"), 20)
	require.Len(t, lines, 20)
	for i, line := range lines {
		require.Equal(t, fmt.Sprintf("elected %d 7 seven g /run/api 0", 2*i+1), line)
	}
	lines = until(t, filepath.Join(dir, "json"), 40)
	require.Len(t, lines, 40)
	for i, line := range lines {
		var e api.Event
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		require.Equal(t, fmt.Sprintf("run.%d", i+1), e.ID)
	}
}

// A command asks its node or nobody: without an address it would ask the one at the usual socket.
func TestCommandsAskTheirNodeOrNobody(t *testing.T) {
	t.Setenv("FAILAWARE_ADDR", "secret")
	t.Setenv("FAILAWARE_TOKEN_FILE", "secret")
	about := func(c Config) (list []string) {
		for _, v := range (&running{c: &c}).environment(elected(1), 0) {
			if strings.HasPrefix(v, "FAILAWARE_ADDR=") || strings.HasPrefix(v, "FAILAWARE_TOKEN_FILE=") {
				list = append(list, v)
			}
		}
		return list
	}
	require.Equal(t, []string{"FAILAWARE_ADDR=unix:none"}, about(Config{}))
	require.Equal(t, []string{"FAILAWARE_ADDR=/run/api"}, about(Config{API: "/run/api"}))
	require.Equal(t, []string{"FAILAWARE_ADDR=http://[::1]:70", "FAILAWARE_TOKEN_FILE=/token"}, about(Config{API: "http://[::1]:70", TokenFile: "/token"}))
}

// A command that hangs holds up no other handler, and is killed with all of its
// processes.
func TestACommandThatHangsIsKilled(t *testing.T) {
	dir := t.TempDir()
	events := make(source)
	c := config()
	c.Timeout = 300 * time.Millisecond
	hung := start(t, c, events, `all=sleep 1000 & echo $! >`+dir+`/pid; wait`)
	events <- elected(1)
	pid, err := strconv.Atoi(until(t, filepath.Join(dir, "pid"), 1)[0])
	require.NoError(t, err)

	others := make(source)
	quick := start(t, config(), others, `all=echo x >>`+dir+`/quick`)
	others <- elected(1)
	until(t, filepath.Join(dir, "quick"), 1)
	close(others)
	quick.Close()

	require.Eventually(t, func() bool { return hung.Counts().Failed == 1 }, longEnough, time.Millisecond)
	require.Eventually(t, func() bool { return gone(pid) }, longEnough, time.Millisecond)
	close(events)
	hung.Close()
}

// gone reports whether a process has ended, even if nobody has collected it.
func gone(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) != nil
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(rest, "Z")
}

// While a command runs, the oldest of too many events are dropped, and the next run
// learns how many.
func TestTooManyEventsAreDroppedAndCounted(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "go"), 0o600))
	events := make(source)
	s := start(t, config(), events, `elected=echo "$FAILAWARE_SEQUENCE $FAILAWARE_DROPPED" >>`+dir+`/log; [ $FAILAWARE_SEQUENCE != 1 ] || read x <`+dir+`/go`)
	events <- elected(1)
	until(t, filepath.Join(dir, "log"), 1) // it waits
	const more = 20
	events <- event.Missed{Header: event.Header{Sequence: 4}, Count: 3}
	for i := range uint64(QueueSize + more) {
		events <- elected(5 + i)
	}
	close(events)
	require.Eventually(t, func() bool { return s.all[0].queue.left() == QueueSize+more+3 }, longEnough, time.Millisecond)
	f, err := os.OpenFile(filepath.Join(dir, "go"), os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("x\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	s.Close()
	lines := until(t, filepath.Join(dir, "log"), 1+QueueSize)
	require.Equal(t, "1 0", lines[0])
	require.Equal(t, fmt.Sprintf("%d %d", 5+more, 3+more), lines[1])
	require.Equal(t, fmt.Sprintf("%d 0", 4+QueueSize+more), lines[len(lines)-1])
	require.Equal(t, Counts{Handled: 1 + QueueSize, Dropped: 3 + more}, s.Counts())
}

// A command may leave a process that keeps its output open: the event is handled, and the
// process goes on.
func TestACommandMayLeaveAProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	events := make(source)
	s := start(t, config(), events, `elected=sleep 600 & echo $! >`+file)
	events <- elected(1)
	close(events)
	pid, err := strconv.Atoi(until(t, file, 1)[0])
	require.NoError(t, err)
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	require.Eventually(t, func() bool { return s.Counts().Handled == 1 }, longEnough, time.Millisecond, "it waits for the process that was left")
	s.Close()
	require.Equal(t, Counts{Handled: 1}, s.Counts())
	require.False(t, gone(pid))
}

// A run whose command has ended in time has succeeded, though its time ends before the output of
// what it left does.
func TestWhatACommandLeavesIsNotLate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	spec, err := ParseCommand(`elected=sleep 600 & echo $! >` + file + `; echo $$ >>` + file)
	require.NoError(t, err)
	c := config()
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() { done <- (&running{Spec: spec, c: &c}).command(ctx, elected(1), 0, nil) }()
	var pids []int
	for _, line := range until(t, file, 2) {
		pid, err := strconv.Atoi(line)
		require.NoError(t, err)
		pids = append(pids, pid)
	}
	defer func() { _ = syscall.Kill(pids[0], syscall.SIGKILL) }()
	require.Eventually(t, func() bool { return syscall.Kill(pids[1], 0) != nil }, longEnough, time.Millisecond, "the shell has ended")
	cancel(errLate)
	require.NoError(t, <-done)
	require.False(t, gone(pids[0]))
}

// The end of the process waits for what is left, but not for ever.
func TestCloseEndsWhatHangs(t *testing.T) {
	dir := t.TempDir()
	events := make(source)
	c := config()
	c.Close = 100 * time.Millisecond
	s := start(t, c, events, `all=echo x >>`+dir+`/log; sleep 1000`)
	for i := range uint64(3) {
		events <- elected(i + 1)
	}
	close(events)
	until(t, filepath.Join(dir, "log"), 1)
	s.Close()
	require.Equal(t, Counts{Failed: 1, Dropped: 2}, s.Counts())
}

func TestAFailureSaysWhatTheCommandPrinted(t *testing.T) {
	var log strings.Builder
	c := config()
	c.Log = hclog.New(&hclog.LoggerOptions{Output: &log})
	events := make(source)
	s := start(t, c, events, `all=yes | head -c 100000; echo no such thing >&2; exit 3`)
	events <- elected(1)
	close(events)
	s.Close()
	require.Equal(t, uint64(1), s.Counts().Failed)
	require.Contains(t, log.String(), "exit status 3")
	require.Contains(t, log.String(), "no such thing")
	require.Less(t, log.Len(), 5*maxOutput)
}
