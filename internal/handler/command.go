package handler

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/sched"
)

var (
	errLate  = errors.New("it took too long and was ended")
	errEnded = errors.New("the node ended first")
)

const (
	// maxOutput is how much of the end of a command's output goes to the log.
	maxOutput = 2 << 10
	// outputDelay is how long to wait for the output of processes that outlive the
	// command.
	outputDelay = time.Second
)

// ofService are variables of the node's own environment that concern the process of the
// node alone.
var ofService = []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "INVOCATION_ID", "CREDENTIALS_DIRECTORY"}

// nobody is an address for commands whose node has no API. Without one they would ask the node at
// the usual socket, which is another one.
const nobody = "unix:none"

// environment returns the variables of a command.
func (r *running) environment(e event.Event, dropped uint64) (env []string) {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		// The settings of the node are not those of commands that ask it.
		if !strings.HasPrefix(name, "FAILAWARE_") && !slices.ContainsFunc(ofService, func(s string) bool { return strings.EqualFold(s, name) }) {
			env = append(env, v)
		}
	}
	env = append(env, "FAILAWARE_ADDR="+cmp.Or(r.c.API, nobody))
	if r.c.TokenFile != "" {
		env = append(env, "FAILAWARE_TOKEN_FILE="+r.c.TokenFile)
	}
	return append(env, "FAILAWARE_EVENT="+e.Kind(), "FAILAWARE_SEQUENCE="+strconv.FormatUint(e.Head().Sequence, 10),
		"FAILAWARE_DROPPED="+strconv.FormatUint(dropped, 10), "FAILAWARE_ID="+r.c.Node.String(), "FAILAWARE_NAME="+r.c.Name, "FAILAWARE_GROUP="+r.c.Group)
}

// command runs the command with the event on its standard input.
func (r *running) command(ctx context.Context, e event.Event, dropped uint64, data []byte) error {
	var out tail
	cmd := shellCommand(ctx, r.Command)
	cmd.Env = r.environment(e, dropped)
	cmd.Stdin = bytes.NewReader(data)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = outputDelay
	// The thread must not end before the command: see dieWithNode.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	if err == nil {
		_ = sched.Usual(cmd.Process.Pid) // the node has asked for itself
		err = cmd.Wait()
	}
	switch {
	case errors.Is(err, exec.ErrWaitDelay):
		return nil // it ended well; what it started goes on without its output
	case context.Cause(ctx) != nil && err != nil:
		err = context.Cause(ctx)
	}
	if err != nil && len(out.b) > 0 {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out.b))
	}
	return err
}

// tail keeps the end of what is written.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p[max(0, len(p)-maxOutput):]...)
	t.b = append(t.b[:0], t.b[max(0, len(t.b)-maxOutput):]...)
	return len(p), nil
}
