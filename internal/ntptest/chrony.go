package ntptest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// chronydEnv names a chronyd that is not in the path.
const chronydEnv = "FAILAWARE_CHRONYD"

// Chronyd starts a real server on the loopback interface, which serves the system's
// clock, never changes it (-x), and ends with the test. It skips the test if chronyd is
// missing.
func Chronyd(t testing.TB) (addr string) {
	t.Helper()
	bin := chronydPath(t)
	if os.Getuid() != 0 {
		t.Skip("chronyd needs to be root")
	}
	dir := t.TempDir()
	addr = freeAddr(t)
	_, port, _ := net.SplitHostPort(addr)
	conf := filepath.Join(dir, "chrony.conf")
	text := fmt.Sprintf("port %s\ncmdport 0\nbindaddress 127.0.0.1\nallow 127.0.0.1\nlocal stratum 1\npidfile %s\n",
		port, filepath.Join(dir, "pid"))
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-x", "-d", "-u", "root", "-f", conf)
	log := &tail{}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-ended
	})
	for !answers(addr) {
		select {
		case err := <-ended:
			ended <- err
			t.Skipf("chronyd does not run here: %v: %s", err, log)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return addr
}

// chronydPath returns the chronyd to use.
func chronydPath(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(chronydEnv); path != "" {
		return path
	}
	return find(t, "chronyd")
}

func freeAddr(t testing.TB) string {
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.LocalAddr().String()
}

// answers asks a server once.
func answers(addr string) bool {
	c, err := net.Dial("udp4", addr)
	if err != nil {
		return false
	}
	defer c.Close()
	q := make([]byte, packetSize)
	q[0] = 4<<3 | 3 // version 4, client
	if _, err := c.Write(q); err != nil {
		return false
	}
	_ = c.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	n, err := c.Read(q)
	return err == nil && n >= packetSize
}

// tail keeps the beginning of a program's output.
type tail struct{ b []byte }

func (l *tail) Write(p []byte) (int, error) {
	if len(l.b) < 4096 {
		l.b = append(l.b, p...)
	}
	return len(p), nil
}

func (l *tail) String() string { return string(l.b) }
