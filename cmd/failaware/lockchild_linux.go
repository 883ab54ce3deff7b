package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func groupOfItsOwn() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// dieWithParent has this process killed when lock dies, whichever of its threads becomes
// the command.
func dieWithParent() error {
	return unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0)
}

// adopt has the orphans among the descendants of a command become children of this
// process, wherever they went.
func adopt() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// collect waits until the command ends, and kills the rest of its group before it
// collects the command: until then no other process has its id. Then it kills those of
// its descendants that have left the group, with the control group if there is one.
func (c *child) collect() {
	for errors.Is(unix.Waitid(unix.P_PID, c.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	killGroup(c.cmd.Process)
	c.guard.dismiss()
	_ = c.cmd.Wait() // the state says more
	c.gone = true
	c.all.kill()
	killOrphans()
	c.all.remove()
}

// orphanPatience is how long orphans are killed: their death can bring others to this
// process, and a process that waits for a device dies when that answers.
const orphanPatience = 2 * time.Second

// killOrphans kills all children of this process. Some systems do not list them; then it
// does nothing.
func killOrphans() {
	for end := time.Now().Add(orphanPatience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		ids := children()
		if len(ids) == 0 {
			return
		}
		for _, id := range ids {
			_ = unix.Kill(id, unix.SIGKILL)
			_, _ = unix.Wait4(id, nil, unix.WNOHANG, nil)
		}
	}
}

// children returns the ids of the children of this process.
func children() (ids []int) {
	files, _ := filepath.Glob("/proc/self/task/*/children")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		for f := range strings.FieldsSeq(string(text)) {
			if id, err := strconv.Atoi(f); err == nil {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
