package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// container is a running systemd in a container of systemd-nspawn, on the files of this
// machine: what it writes goes to memory.
type container struct {
	t    *testing.T
	root string
	pid  string // of its systemd
}

// patience is how long a test waits for anything.
const patience = 2 * time.Minute

// startContainer boots a container. Tests that this machine cannot run are skipped.
func startContainer(t *testing.T) *container {
	t.Helper()
	for _, tool := range []string{"systemd-nspawn", "nsenter", "dpkg", "systemctl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("containers need root")
	}
	dir, err := os.MkdirTemp("", "container")
	require.NoError(t, err)
	c := &container{t: t, root: filepath.Join(dir, "root")}
	mount := func(args ...string) {
		out, err := exec.Command("mount", args...).CombinedOutput()
		if err != nil {
			t.Skipf("mount %v: %s", args, out)
		}
		t.Cleanup(func() { _ = exec.Command("umount", args[len(args)-1]).Run() })
	}
	t.Cleanup(func() { _ = os.Remove(dir) })
	mount("-t", "tmpfs", "tmpfs", dir)
	for _, sub := range []string{"upper", "work", "root"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, sub), 0o755))
	}
	mount("-t", "overlay", "overlay", "-o", fmt.Sprintf("lowerdir=/,upperdir=%s/upper,workdir=%s/work", dir, dir), c.root)
	c.write("/usr/sbin/policy-rc.d", 0o755, "#!/bin/sh\n") // that of an image for builds forbids services
	c.boot()
	return c
}

func (c *container) boot() {
	var log bytes.Buffer
	cmd := exec.Command("systemd-nspawn", "--directory="+c.root, "--machine=failaware-"+strconv.Itoa(os.Getpid()), "--register=no", "--keep-unit", "--private-network",
		"--console=pipe", "--boot", "systemd.unit=basic.target")
	cmd.Env = append(os.Environ(), "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=0")
	cmd.Stdout, cmd.Stderr = &log, &log
	require.NoError(c.t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	c.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // the container is ended with it
		select {
		case <-ended:
		case <-time.After(patience):
			_ = cmd.Process.Kill()
			<-ended
		}
		if c.t.Failed() {
			c.t.Log(log.String())
		}
	})
	children := fmt.Sprintf("/proc/%d/task/%d/children", cmd.Process.Pid, cmd.Process.Pid)
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		select {
		case <-ended:
			c.t.Skipf("systemd-nspawn does not run here: %s", log.String())
		default:
		}
		require.True(c.t, time.Now().Before(end), "the container does not boot")
		b, _ := os.ReadFile(children)
		if list := strings.Fields(string(b)); len(list) > 0 {
			c.pid = list[len(list)-1]
			if out, _ := c.try("systemctl", "is-active", "basic.target"); out == "active\n" {
				return
			}
		}
	}
}

// try runs a command in the container, and returns what it prints.
func (c *container) try(args ...string) (string, error) {
	cmd := exec.Command("nsenter", append([]string{"--target", c.pid, "--mount", "--uts", "--ipc", "--net", "--pid", "--"}, args...)...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// run runs a command that must succeed.
func (c *container) run(args ...string) string {
	c.t.Helper()
	out, err := c.try(args...)
	if err != nil {
		journal, _ := c.try("journalctl", "--no-pager", "-n", "60", "-u", "failaware.service")
		require.NoError(c.t, err, "%v: %s\n%s", args, out, journal)
	}
	return out
}

// until waits until a command prints what is wanted.
func (c *container) until(what func(out string) bool, args ...string) string {
	c.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		out, _ := c.try(args...)
		if what(out) {
			return out
		}
		if time.Now().After(end) {
			journal, _ := c.try("journalctl", "--no-pager", "-n", "60", "-u", "failaware.service")
			require.FailNow(c.t, "it never comes", "%v: %s\n%s", args, out, journal)
		}
	}
}

// write writes a file of the container.
func (c *container) write(path string, mode os.FileMode, content string) {
	c.t.Helper()
	file := filepath.Join(c.root, path)
	require.NoError(c.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(c.t, os.WriteFile(file, []byte(content), mode))
}

// install installs a package, and returns what that prints.
func (c *container) install(deb string) string {
	c.t.Helper()
	b, err := os.ReadFile(deb)
	require.NoError(c.t, err)
	c.write("/root/failaware.deb", 0o644, string(b))
	return c.run("dpkg", "--install", "/root/failaware.deb")
}
