//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader/edict"
)

const (
	// triesEnv names the variable with the number of stopped writers.
	triesEnv     = "STALE_TRIES"
	defaultTries = 1000
	// groups is the number of groups of three nodes that run in parallel, because a
	// try is mostly waiting.
	groups = 2
	// patience is for a busy machine.
	patience = 60 * time.Second
)

// writerProcess is a node in a process of its own, which writes when it leads.
type writerProcess struct {
	id    int
	cmd   *exec.Cmd
	stdin io.Writer
	lines chan string // closed at its end
}

// say sends an order.
func (w *writerProcess) say(t *testing.T, order string) {
	t.Helper()
	_, err := fmt.Fprintln(w.stdin, order)
	require.NoError(t, err)
}

// hear returns its next line, which begins with one of the given words.
func (w *writerProcess) hear(t *testing.T, words ...string) string {
	t.Helper()
	for end := time.After(patience); ; {
		select {
		case line, ok := <-w.lines:
			require.True(t, ok, "writer %d has ended", w.id)
			for _, word := range words {
				if strings.HasPrefix(line, word) {
					return line
				}
			}
			require.True(t, strings.HasPrefix(line, "checked"), "writer %d says %q", w.id, line)
		case <-end:
			require.FailNow(t, "in vain", "writer %d does not say %q", w.id, words)
		}
	}
}

// group has three nodes, two of which are a quorum, and two stores that they write to:
// one with a fence, and one without.
type group struct {
	t       *testing.T
	writers [3]*writerProcess
	naive   atomic.Value // the value of the store without a fence
	fenced  string       // URL
}

func newGroup(t *testing.T) *group {
	g := &group{t: t}
	g.fenced, _ = serve(t, t.TempDir())
	naive := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		g.naive.Store(string(b))
	}))
	t.Cleanup(naive.Close)
	state, addrs := t.TempDir(), freePorts(t, len(g.writers))
	for i := range g.writers {
		g.writers[i] = startWriter(t, i+1, writerEnv+"="+strings.Join([]string{
			strconv.Itoa(i + 1), state, g.fenced, naive.URL, strings.Join(addrs, ",")}, " "))
	}
	return g
}

// freePorts returns free UDP addresses of the loopback interface.
func freePorts(t *testing.T, count int) (addrs []string) {
	t.Helper()
	for range count {
		c, err := net.ListenPacket("udp", "127.0.0.1:0")
		require.NoError(t, err)
		defer c.Close() // after all have been chosen, so that none comes twice
		addrs = append(addrs, c.LocalAddr().String())
	}
	return addrs
}

func startWriter(t *testing.T, id int, env string) *writerProcess {
	self, err := os.Executable()
	require.NoError(t, err)
	w := &writerProcess{id: id, cmd: exec.Command(self), lines: make(chan string, 16)}
	w.cmd.Env = append(os.Environ(), env)
	w.cmd.Stderr = os.Stderr
	w.stdin, err = w.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := w.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, w.cmd.Start())
	go func() {
		defer close(w.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			w.lines <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		_ = w.cmd.Process.Kill()
		_ = w.cmd.Wait()
	})
	return w
}

// first returns the first writer that is seen to lead, and so has checked, and the
// edict of its check.
func (g *group) first(among ...*writerProcess) (*writerProcess, edict.Edict) {
	g.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(200 * time.Microsecond) {
		for _, w := range among {
			select {
			case line, ok := <-w.lines:
				require.True(g.t, ok, "writer %d has ended", w.id)
				text, checked := strings.CutPrefix(line, "checked ")
				require.True(g.t, checked, line)
				e, err := edict.Parse(text)
				require.NoError(g.t, err)
				return w, e
			default:
			}
		}
		require.True(g.t, time.Now().Before(end), "nobody leads")
	}
}

// try stops a leader between its check and its write, lets the next one write, and
// continues the first one. It reports the answer to its write, and whether the store
// without a fence accepted the write. On a busy machine a leader can lose its lead
// before this process sees its check. A later leader is then stopped, and ok is false.
func (g *group) try(n int) (answer string, taken, ok bool) {
	t := g.t
	for _, w := range g.writers {
		w.say(t, fmt.Sprintf("check value-%d-of-%d", n, w.id))
	}
	stale, before := g.first(g.writers[:]...)
	require.NoError(t, stale.cmd.Process.Signal(syscall.SIGSTOP))
	var others []*writerProcess
	for _, w := range g.writers {
		if w != stale {
			others = append(others, w)
		}
	}
	next, after := g.first(others...)
	if edict.Compare(before, after) != edict.Before {
		require.NoError(t, stale.cmd.Process.Signal(syscall.SIGCONT))
		g.cancel(g.writers[:]...)
		return "", false, false
	}
	next.say(t, "go")
	require.Equal(t, "wrote 204 ", next.hear(t, "wrote"), "the next leader's write")
	require.NoError(t, stale.cmd.Process.Signal(syscall.SIGCONT))
	stale.say(t, "go")
	answer = stale.hear(t, "wrote")
	for _, w := range others {
		if w != next {
			g.cancel(w)
		}
	}
	code, value := get(t, g.fenced, "k")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, fmt.Sprintf("value-%d-of-%d", n, next.id), value, "what the store keeps")
	return answer, g.naive.Load() == fmt.Sprintf("value-%d-of-%d", n, stale.id), true
}

// cancel ends the checks of writers.
func (g *group) cancel(writers ...*writerProcess) {
	for _, w := range writers {
		w.say(g.t, "cancel")
		w.hear(g.t, "cancelled")
	}
}

// The fence refuses every write of a leader that was stopped between the check and the
// write. A store without a fence accepts it.
func TestStaleWritesAreRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes for half a minute; not with -short")
	}
	tries := defaultTries
	if text := os.Getenv(triesEnv); text != "" {
		var err error
		tries, err = strconv.Atoi(text)
		require.NoError(t, err, triesEnv)
	}
	var made, refused, fell atomic.Int64
	begun := time.Now()
	t.Run("groups", func(t *testing.T) {
		for i := range groups {
			t.Run(strconv.Itoa(i+1), func(t *testing.T) {
				t.Parallel()
				g := newGroup(t)
				for n := made.Add(1); n <= int64(tries); n = made.Add(1) {
					answer, taken, ok := g.try(int(n))
					for !ok {
						answer, taken, ok = g.try(int(n))
					}
					require.True(t, strings.HasPrefix(answer, "wrote 409 "), "try %d: the stale write: %s", n, answer)
					require.Contains(t, answer, "a later edict was obeyed before")
					refused.Add(1)
					if taken {
						fell.Add(1)
					}
				}
			})
		}
	})
	t.Logf("%d stale writes: %d refused with the fence, %d accepted without one, in %v",
		tries, refused.Load(), fell.Load(), time.Since(begun).Round(time.Millisecond))
	require.EqualValues(t, tries, refused.Load())
	require.EqualValues(t, tries, fell.Load(), "a test of stale writes needs some")
}
