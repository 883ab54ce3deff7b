package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func newProcessGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// dieWithParent makes the kernel kill this process when lock dies.
func dieWithParent() error {
	return unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0)
}

// adopt makes orphaned descendants of this process its children. It returns those that it
// has already: a shell may have started them before it became lock.
func adopt() (earlier []int, err error) {
	return children(), unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// collect waits until the command ends, and kills the rest of its group before it
// collects the command: until then no other process has its id. It also kills the
// descendants that have left the group, with the control group if there is one.
func (c *child) collect() {
	for errors.Is(unix.Waitid(unix.P_PID, c.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.died(func() bool {
		_ = killGroup(c.cmd.Process) // what is left of it is an orphan
		c.cgroup.kill()
		found, left := killOrphans(append(c.earlier, c.cmd.Process.Pid, c.guard.cmd.Process.Pid)...)
		c.left = left
		return found
	})
	_ = c.cmd.Wait() // the state says more
	c.gone = true
	c.cgroup.remove()
}

// orphanPatience is how long orphans are killed: their death can bring others to this
// process, and a process that waits for a device dies when that answers.
const orphanPatience = 2 * time.Second

// killOrphans kills all children of this process but some. It reports whether there were any,
// and returns those that are left: they have changed their user, or wait for a device. A
// descendant that outlives a command makes one of them a child of this process when the
// command dies, and it stays one until it is collected here. Some systems do not list
// children; then killOrphans does nothing.
func killOrphans(but ...int) (found bool, left []int) {
	for end := time.Now().Add(orphanPatience); ; {
		left = slices.DeleteFunc(children(), func(id int) bool { return slices.Contains(but, id) })
		if len(left) == 0 || found && !time.Now().Before(end) {
			return found, left
		}
		found = true
		for _, id := range left {
			_ = unix.Kill(id, unix.SIGKILL)
		}
		for _, id := range left {
			awaitEnd(id)
			_, _ = unix.Wait4(id, nil, unix.WNOHANG, nil)
		}
	}
}

// awaitEnd waits for a millisecond at most, and no longer than until a process ends: most
// end within microseconds, and a sleep of Go takes a millisecond or two.
func awaitEnd(id int) {
	fd, err := unix.PidfdOpen(id, 0)
	if err != nil {
		time.Sleep(time.Millisecond)
		return
	}
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 1)
	_ = unix.Close(fd)
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
