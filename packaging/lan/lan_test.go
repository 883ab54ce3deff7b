// Package lan has nodes of a network find each other: by a name server, a file, and a
// multicast group. Hosts are network namespaces on one bridge.
package lan

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// lan is a bridge with hosts. Host 0 has the name server.
type lan struct {
	t      *testing.T
	prefix string // of the names of namespaces
}

// The addresses of the hosts: 10.77.0.H and fd77::H.
func v4(host int) netip.Addr { return netip.AddrFrom4([4]byte{10, 77, 0, byte(10 + host)}) }
func v6(host int) netip.Addr {
	return netip.AddrFrom16([16]byte{0: 0xfd, 1: 0x77, 15: byte(10 + host)})
}

// newLAN makes a network with hosts 0 to n, or skips the test where it may not.
func newLAN(t *testing.T, n int) *lan {
	if _, err := exec.LookPath("ip"); err != nil || os.Getuid() != 0 {
		t.Skip("network namespaces need root and the program ip")
	}
	l := &lan{t, fmt.Sprintf("lan%d-", os.Getpid())}
	if out, err := exec.Command("ip", "netns", "add", l.name("switch")).CombinedOutput(); err != nil {
		t.Skipf("this machine makes no network namespaces: %s", out)
	}
	t.Cleanup(func() { l.remove("switch") })
	l.ip("switch", "link", "add", "bridge", "type", "bridge", "mcast_snooping", "0")
	l.ip("switch", "link", "set", "bridge", "up")
	for host := range n + 1 {
		l.add(host)
	}
	return l
}

// add adds a host, whose name server is host 0.
func (l *lan) add(host int) {
	name, port := fmt.Sprint(host), fmt.Sprint("port", host)
	run(l.t, "ip", "netns", "add", l.name(name))
	l.t.Cleanup(func() { l.remove(name) })
	l.ip("switch", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", l.name(name))
	l.ip("switch", "link", "set", port, "master", "bridge", "up")
	l.ip(name, "link", "set", "lo", "up")
	l.ip(name, "address", "add", v4(host).String()+"/24", "dev", "eth0")
	l.ip(name, "address", "add", v6(host).String()+"/64", "dev", "eth0", "nodad")
	l.ip(name, "link", "set", "eth0", "up")
	// ip netns exec shows the files of this directory in /etc.
	etc := filepath.Join("/etc/netns", l.name(name))
	require.NoError(l.t, os.MkdirAll(etc, 0o755))
	require.NoError(l.t, os.WriteFile(filepath.Join(etc, "resolv.conf"), fmt.Appendf(nil, "nameserver %v\n", v4(0)), 0o644))
	l.t.Cleanup(func() {
		_ = os.RemoveAll(etc)
		_ = os.Remove("/etc/netns") // if it is empty
	})
}

func (l *lan) name(host string) string { return l.prefix + host }

func (l *lan) remove(host string) { _ = exec.Command("ip", "netns", "delete", l.name(host)).Run() }

// ip configures a host.
func (l *lan) ip(host string, args ...string) {
	l.t.Helper()
	run(l.t, "ip", append([]string{"-n", l.name(host)}, args...)...)
}

// command returns a command that runs on a host.
func (l *lan) command(host int, args ...string) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", l.name(fmt.Sprint(host))}, args...)...)
}

// listen opens a socket of this process on host 0.
func (l *lan) listen(port uint16) net.PacketConn {
	done := make(chan error, 1)
	var conn net.PacketConn
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends in its namespace
		there, err := os.Open(filepath.Join("/run/netns", l.name("0")))
		if err == nil {
			err = unix.Setns(int(there.Fd()), unix.CLONE_NEWNET)
			_ = there.Close()
		}
		if err == nil {
			conn, err = net.ListenPacket("udp4", netip.AddrPortFrom(v4(0), port).String())
		}
		done <- err
	}()
	require.NoError(l.t, <-done)
	l.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// node is a node on a host, which has its number as id.
type node struct {
	l    *lan
	host int
	api  string
}

// start starts a node, which ends with the test.
func (l *lan) start(program, dir string, host int, args ...string) *node {
	l.t.Helper()
	n := &node{l, host, filepath.Join(dir, fmt.Sprint(host))}
	c := l.command(host, append([]string{program, "node", "--id", fmt.Sprint(host), "--api", n.api}, args...)...)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	require.NoError(l.t, c.Start())
	l.t.Cleanup(sync.OnceFunc(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		if l.t.Failed() {
			l.t.Logf("node %d said: %s", host, said.String())
		}
	}))
	return n
}

// ask runs a command of the program against a node.
func (n *node) ask(program string, args ...string) (string, error) {
	out, err := exec.Command(program, append([]string{"--addr", n.api}, args...)...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, args, out)
}
