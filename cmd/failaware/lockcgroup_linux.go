package main

import (
	"bufio"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// cgroup is the directory of a control group (cgroup v2) for the command of a lock: all
// its descendants stay in it, also in sessions of their own. Empty means that there is none.
type cgroup string

// newCgroup makes a control group within that of this process. That needs privileges, or a
// group that was delegated to this user, and Linux 5.14.
func newCgroup() cgroup {
	parent := ownCgroup()
	if parent == "" {
		return ""
	}
	dir, err := os.MkdirTemp(parent, "failaware-lock-*")
	if err != nil {
		return ""
	}
	g := cgroup(dir)
	for _, file := range []string{"cgroup.procs", "cgroup.kill"} {
		if syscall.Access(g.file(file), 2) != nil { // 2: to write
			_ = os.Remove(dir)
			return ""
		}
	}
	return g
}

func (g cgroup) file(name string) string { return filepath.Join(string(g), name) }

// join moves this process into the group. If it cannot, the process group has to do.
func (g cgroup) join() {
	if g != "" {
		_ = os.WriteFile(g.file("cgroup.procs"), []byte("0"), 0)
	}
}

// kill kills all processes of the group, and those that they are just starting.
func (g cgroup) kill() {
	if g != "" {
		_ = os.WriteFile(g.file("cgroup.kill"), []byte("1"), 0) // it may be removed
	}
}

// remove kills the remaining processes and removes the group, with those that the command has
// made in it. It waits for the processes to die.
func (g cgroup) remove() {
	if g == "" {
		return
	}
	g.kill()
	for end := time.Now().Add(orphanPatience); errors.Is(removeGroups(string(g)), syscall.EBUSY) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// removeGroups removes the directory of a control group that has no processes, and those of
// the groups in it.
func removeGroups(dir string) error {
	below, _ := os.ReadDir(dir) // it may be removed
	for _, e := range below {
		if e.IsDir() {
			_ = removeGroups(filepath.Join(dir, e.Name()))
		}
	}
	return os.Remove(dir)
}

// ownCgroup returns the directory of the control group of this process, or "" if
// cgroup v2 is not mounted.
func ownCgroup() string {
	name, found := "", false
	eachLine("/proc/self/cgroup", func(line string) {
		if rest, ok := strings.CutPrefix(line, "0::"); ok {
			name, found = rest, true
		}
	})
	if !found || strings.Contains(name, "..") { // outside of this cgroup namespace
		return ""
	}
	dir := ""
	eachLine("/proc/self/mountinfo", func(line string) {
		before, after, _ := strings.Cut(line, " - ")
		f := strings.Fields(before) // id, parent, device, root, mount point, …
		if dir != "" || !strings.HasPrefix(after, "cgroup2 ") || len(f) < 5 {
			return
		}
		if below, ok := strings.CutPrefix(name, strings.TrimSuffix(f[3], "/")); ok {
			dir = path.Join(f[4], below)
		}
	})
	return dir
}

// eachLine calls f with each line of a file. A file that cannot be read has none.
func eachLine(file string, f func(string)) {
	r, err := os.Open(file)
	if err != nil {
		return
	}
	defer r.Close()
	for s := bufio.NewScanner(r); s.Scan(); {
		f(s.Text())
	}
}
