package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// used is what a process has used.
type used struct {
	cpu      time.Duration
	resident int64 // bytes of its own, now: without the program's code, which all share
}

// usage returns what each member has used: the daemon if there is one.
func (g *group) usage() (all []used, err error) {
	for _, n := range g.nodes {
		u, err := usageOf(n.victim().cmd.Process.Pid)
		if err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	return all, nil
}

// usageOf adds up the times of all threads, which the scheduler counts in nanoseconds.
func usageOf(pid int) (u used, err error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return u, err
	}
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has just ended
		}
		var ran int64
		if _, err := fmt.Sscan(string(text), &ran); err != nil {
			return u, fmt.Errorf("%s: %w", path, err)
		}
		u.cpu += time.Duration(ran)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return u, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			var kib int64
			if _, err := fmt.Sscan(rest, &kib); err != nil {
				return u, err
			}
			u.resident = kib << 10
		}
	}
	return u, nil
}
