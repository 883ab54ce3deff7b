package sched

import (
	"errors"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// slice is the shortest that Linux grants.
	slice = 100 * time.Microsecond
	// maxRounds bounds how often Prompt looks for threads that began while it looked.
	maxRounds = 10
)

// Prompt asks for short slices for all threads of this process, and for those that they
// start. So it does for the processes that they start: see [Usual]. Threads with another
// policy than that of common processes keep theirs. Linux before 6.12
// ignores it.
func Prompt() error {
	done := map[int]bool{}
	for range maxRounds {
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		before := len(done)
		for _, t := range tasks {
			id, err := strconv.Atoi(t.Name())
			if err != nil || done[id] {
				continue
			}
			if err := ask(id, slice); err != nil && !errors.Is(err, unix.ESRCH) { // it has ended
				return os.NewSyscallError("sched_setattr", err)
			}
			done[id] = true
		}
		if len(done) == before {
			break
		}
	}
	return nil
}

// Usual gives a process that this one has just started, or with 0 the calling thread, the
// slices of other processes.
func Usual(pid int) error { return os.NewSyscallError("sched_setattr", ask(pid, 0)) }

// ask asks for slices of a length for a thread; 0 is that of the system.
func ask(thread int, slice time.Duration) error {
	attr, err := unix.SchedGetAttr(thread, 0)
	if err != nil {
		return err
	}
	if attr.Policy != unix.SCHED_NORMAL && attr.Policy != unix.SCHED_BATCH {
		return nil
	}
	attr.Runtime = uint64(slice)
	return unix.SchedSetAttr(thread, attr, 0)
}
