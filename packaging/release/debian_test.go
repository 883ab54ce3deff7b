//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// debs returns the packages of two versions.
func debs(t *testing.T) (older, newer string) {
	t.Helper()
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("dpkg-deb is not installed")
	}
	return filepath.Join(built(t, "1.2.3-rc1"), "failaware_1.2.3~rc1_amd64.deb"), filepath.Join(built(t, "1.2.3"), "failaware_1.2.3_amd64.deb")
}

// slice finds the slices of a thread among what /proc says of how it is scheduled.
var slice = regexp.MustCompile(`(?m)^se\.slice .*$`)

// shortSlices returns what /proc says of a thread that has asked for the slices for which a
// node asks.
func shortSlices(t *testing.T) string {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	usual, err := unix.SchedGetAttr(0, 0)
	require.NoError(t, err)
	short := *usual
	short.Runtime = 100_000
	require.NoError(t, unix.SchedSetAttr(0, &short, 0))
	defer func() { require.NoError(t, unix.SchedSetAttr(0, usual, 0)) }()
	text, err := os.ReadFile("/proc/thread-self/sched")
	require.NoError(t, err)
	return slice.FindString(string(text))
}

// service is the running service in a container.
type service struct{ *container }

// Settings of a node: those that suffice, and with a mistake.
const (
	sound    = "id: 1\nlisten: 127.0.0.1:7001\n"
	mistaken = "id: 1\nlistn: 127.0.0.1:7001\n"
)

// configure writes the settings of the node.
func (s service) configure(settings string) {
	s.t.Helper()
	s.write("/etc/failaware/node.yaml", 0o644, settings)
}

// state returns a property of the unit.
func (s service) state(property string) string {
	return strings.TrimSpace(s.run("systemctl", "show", "--value", "--property="+property, "failaware.service"))
}

// running waits until a process of the service other than an earlier one is ready, and
// returns its pid and the node's answer.
func (s service) running(before string) (pid string, status map[string]any) {
	s.t.Helper()
	s.until(func(out string) bool {
		return out != before+"\nactive\n" && strings.HasSuffix(out, "\nactive\n") && !strings.HasPrefix(out, "0\n")
	},
		"systemctl", "show", "--value", "--property=MainPID", "--property=ActiveState", "failaware.service")
	pid = s.state("MainPID")
	require.NotEqual(s.t, before, pid)
	require.NoError(s.t, json.Unmarshal([]byte(s.run("failaware", "status", "-o", "ndjson")), &status))
	return pid, status
}

// The package is installed, configured, killed, stopped, upgraded and removed in a
// container with systemd.
func TestThePackageInSystemd(t *testing.T) {
	older, newer := debs(t)
	s := service{startContainer(t)}

	// Without settings the service is enabled, and does nothing.
	s.install(older)
	require.Equal(t, "enabled", s.state("UnitFileState"))
	require.Equal(t, "inactive", s.state("ActiveState"))
	require.Equal(t, "no", s.state("ConditionResult"))
	require.Empty(t, s.run("systemd-analyze", "verify", "--man=no", "failaware.service"))
	s.run("systemd-analyze", "security", "--threshold=25", "failaware.service") // 2.5 of 10, and less is safer
	s.run("man", "--where", "failaware-node")

	// The example of the package is a sound configuration.
	s.run("cp", "/usr/share/doc/failaware/examples/node.yaml", "/etc/failaware/node.yaml")
	require.NotContains(t, s.run("failaware", "config", "check", "/etc/failaware/node.yaml"), "warning")

	// With settings and keys it runs, as its own user and with the keys of root.
	s.configure("id: 1\nlisten: 0.0.0.0:7001\nkey_file: /run/credentials/failaware.service/group.keys\n")
	s.run("mkdir", "-p", "-m", "0700", "/etc/credstore")
	s.run("failaware", "keygen", "/etc/credstore/group.keys")
	s.run("systemctl", "start", "failaware.service")
	first, status := s.running("")
	require.Contains(t, status["version"], "1.2.3-rc1 ")
	require.Equal(t, "failaware\n", s.run("ps", "-o", "user=", "-p", first))
	require.Regexp(t, `(?m)^1\*\s+yes\s+[0-9a-f]{8}`, s.run("failaware", "keys", "list"))
	s.run("systemctl", "reload", "failaware.service")

	// The hardened unit lets the node ask for slices as short as this test gets.
	require.Equal(t, shortSlices(t), slice.FindString(s.run("cat", "/proc/"+first+"/sched")))

	// Killed, it is started again, with the state that it kept.
	s.run("kill", "-KILL", first)
	second, _ := s.running(first)
	// A process that hangs does not feed the watchdog.
	s.run("kill", "-STOP", second)
	third, status := s.running(second)
	require.NotEmpty(t, status["boot"])
	require.Equal(t, "2", s.state("NRestarts"))

	// An upgrade starts the new program.
	s.install(newer)
	fourth, status := s.running(third)
	require.Contains(t, status["version"], "1.2.3 ")
	require.Contains(t, s.run("journalctl", "--no-pager", "-u", "failaware.service"), "left after")

	// A removal leaves the settings and the state, which a purge removes.
	s.run("dpkg", "--remove", "failaware")
	_, err := s.try("kill", "-0", fourth)
	require.Error(t, err)
	s.run("test", "-e", "/var/lib/failaware")
	s.run("test", "-e", "/etc/failaware/node.yaml")
	_, err = s.try("systemctl", "cat", "failaware.service")
	require.Error(t, err)
	s.run("dpkg", "--purge", "failaware")
	_, err = s.try("test", "-e", "/var/lib/failaware")
	require.Error(t, err)
}

// A service that does not start leaves the package configured, and whoever installs it hears
// of it.
func TestServicesThatDoNotStart(t *testing.T) {
	older, newer := debs(t)
	s := service{startContainer(t)}
	installed := func(out string) {
		t.Helper()
		require.Equal(t, "install ok installed", s.run("dpkg-query", "--show", "--showformat=${Status}", "failaware"), out)
	}

	// The settings were there before the package, and are wrong.
	s.configure(mistaken)
	out := s.install(older)
	installed(out)
	require.Contains(t, out, "its service did not start")
	require.Contains(t, out, "journalctl -u failaware")

	// They become wrong before an upgrade.
	s.configure(sound)
	s.run("systemctl", "restart", "failaware.service")
	s.running("")
	s.configure(mistaken)
	out = s.install(newer)
	installed(out)
	require.Contains(t, out, "its service did not start")

	// The administrator has masked the service before the first installation.
	s.run("dpkg", "--purge", "failaware")
	s.run("systemctl", "mask", "failaware.service")
	out = s.install(older)
	installed(out)
	require.Contains(t, out, "not starting it")
	require.Equal(t, "inactive", s.state("ActiveState"))
}

// An address that comes late does not keep a node down.
func TestAnAddressMayComeLate(t *testing.T) {
	_, newer := debs(t)
	s := service{startContainer(t)}
	s.configure("id: 1\nlisten: 192.0.2.1:7001\ninsecure: true\n")
	s.install(newer)
	often := func(out string) bool {
		n, _ := strconv.Atoi(strings.TrimSpace(out))
		return n > 5
	}
	s.until(often, "systemctl", "show", "--value", "--property=NRestarts", "failaware.service")
	require.Equal(t, "activating", s.state("ActiveState"))
	s.run("ip", "address", "add", "192.0.2.1/32", "dev", "lo")
	s.running("")
}

// A package that comes back after a removal has its service as it was, and one that the
// administrator has turned off stays off.
func TestThePackageComesBack(t *testing.T) {
	older, newer := debs(t)
	s := service{startContainer(t)}
	s.configure(sound)
	s.install(older)
	first, _ := s.running("")
	s.run("dpkg", "--remove", "failaware")
	_, err := s.try("kill", "-0", first)
	require.Error(t, err)
	s.install(older)
	s.running(first)
	require.Equal(t, "enabled", s.state("UnitFileState"))

	s.run("systemctl", "disable", "--now", "failaware.service")
	s.install(newer)
	require.Equal(t, "disabled", s.state("UnitFileState"))
	s.run("dpkg", "--remove", "failaware")
	s.install(newer)
	require.Equal(t, "disabled", s.state("UnitFileState"))
	require.Equal(t, "inactive", s.state("ActiveState"))

	// A purge forgets that.
	s.run("dpkg", "--purge", "failaware")
	s.install(newer)
	require.Equal(t, "enabled", s.state("UnitFileState"))
}

// The settings may leave the state directory and the API to the unit, as files for earlier
// units do, or name others.
func TestTheUnitGivesDefaults(t *testing.T) {
	_, newer := debs(t)
	s := service{startContainer(t)}
	s.configure(sound)
	s.install(newer)
	first, _ := s.running("")
	require.Contains(t, s.run("ls", "/var/lib/failaware"), "node-1")
	s.run("runuser", "-u", "nobody", "-g", "failaware", "--", "failaware", "status", "--addr", "/run/failaware/failaware.sock")

	s.configure(sound + "state_dir: /var/lib/failaware/a\n" +
		"api: 127.0.0.1:7101\napi_token: /var/lib/failaware/token\n")
	s.run("systemctl", "restart", "failaware.service")
	require.NotEqual(t, first, s.state("MainPID"))
	s.run("failaware", "status", "--addr", "http://127.0.0.1:7101", "--token-file", "/var/lib/failaware/token")
	require.Contains(t, s.run("ls", "/var/lib/failaware/a"), "node-1")
}

// Settings that need more than the unit gives work with the lines of the page.
func TestTheUnitGivesWhatThePageSays(t *testing.T) {
	page, err := os.ReadFile("../../docs/start/install.md")
	require.NoError(t, err)
	lines := func(setting string) (all string) {
		row := regexp.MustCompile("(?m)^\\| [^|\n]*" + regexp.QuoteMeta(setting) + ".*$").FindString(string(page))
		for _, line := range regexp.MustCompile("`([A-Z]\\w+=[^`]*)`").FindAllStringSubmatch(row, -1) {
			all += line[1] + "\n"
		}
		require.NotEmpty(t, all, setting)
		return all
	}
	_, newer := debs(t)
	s := service{startContainer(t)}
	s.install(newer)
	s.run("install", "-d", "-o", "failaware", "-g", "failaware", "/srv/failaware")
	s.configure(sound + "insecure: true\nstate_dir: /srv/failaware\nntp:\n  listen: 0.0.0.0:123\nclockbound:\n  path: /run/clockbound/shm0\n")
	s.write("/etc/systemd/system/failaware.service.d/override.conf", 0o644,
		"[Service]\n"+lines("--ntp-listen")+lines("--clockbound")+strings.TrimSpace(lines("`state_dir`"))+"/srv/failaware\n")
	s.run("systemctl", "daemon-reload")
	s.run("systemctl", "restart", "failaware.service")
	s.running("")
	s.run("test", "-e", "/run/clockbound/shm0")
	require.Contains(t, s.run("ls", "/srv/failaware"), "node-1")
}

// What the package installs is owned by root, and nobody else may write it.
func TestThePackageContents(t *testing.T) {
	older, _ := debs(t)
	out, err := exec.Command("dpkg-deb", "--contents", older).Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		require.Equal(t, "root/root", fields[1], line)
		require.Regexp(t, `^[-d]rw[-x]r-[-x]r-[-x]$`, fields[0], line)
	}
	for _, name := range []string{"./usr/bin/failaware", "./lib/systemd/system/failaware.service", "./usr/share/man/man1/failaware-node.1.gz",
		"./usr/share/bash-completion/completions/failaware", "./usr/share/doc/failaware/copyright"} {
		require.Contains(t, string(out), " "+name+"\n")
	}
}

// Debian's own check finds nothing in the package.
func TestLintian(t *testing.T) {
	if _, err := exec.LookPath("lintian"); err != nil {
		t.Skip("lintian is not installed")
	}
	older, newer := debs(t)
	out, err := exec.Command("lintian", "--allow-root", "--fail-on", "error,warning", older, newer).CombinedOutput()
	require.NoError(t, err, string(out))
}
