package api

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/failaware/failaware/internal/trust"
)

// Address is the address of a node's API: a unix socket, or a URL.
type Address struct {
	Socket string // a path; empty for a URL
	URL    string
}

func (a Address) String() string {
	if a.Socket != "" {
		return a.Socket
	}
	return a.URL
}

// DefaultSocket returns the socket of a node's API unless the configuration names
// another one. Other users cannot create a socket there: it is in the user's
// runtime directory, in /run/failaware for root, or in a directory of the user's own
// below the temporary one.
func DefaultSocket() string { return filepath.Join(defaultDir(), "failaware.sock") }

func defaultDir() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return dir
	}
	if os.Geteuid() == 0 {
		return systemDir
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("failaware-%d", os.Getuid()))
}

// systemDir is the runtime directory of a node that runs as root.
const systemDir = "/run/failaware"

// systemSocket is where the system's service answers.
const systemSocket = systemDir + "/failaware.sock"

// makeDefaultDir makes the directory of the default socket, and refuses one that
// other users control.
func makeDefaultDir() error {
	dir := defaultDir()
	mode := fs.FileMode(0o700)
	if dir == systemDir {
		mode = 0o755 // the socket's mode says who may connect
	}
	if err := os.Mkdir(dir, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return trust.Dir(dir)
}

// Secure reports whether it is the address of a node that another host can reach.
func (a Address) Secure() bool { return strings.HasPrefix(a.URL, "https:") }

// ParseAddress reads a path, "unix:PATH", the URL "http://HOST:PORT" of a loopback
// address, or "https://HOST:PORT".
func ParseAddress(s string) (Address, error) {
	if strings.HasPrefix(s, "http:") || strings.HasPrefix(s, "https:") {
		u, err := url.Parse(s)
		if err != nil || u.Port() == "" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
			return Address{}, fmt.Errorf("the API address %q is neither http://HOST:PORT nor https://HOST:PORT", s)
		}
		if u.Scheme == "http" && !loopback(u.Hostname()) {
			return Address{}, fmt.Errorf("the API address %q is not on this machine: other hosts need https", s)
		}
		return Address{URL: u.Scheme + "://" + u.Host}, nil
	}
	path, named := strings.CutPrefix(s, "unix:")
	path = strings.TrimPrefix(path, "//")
	switch {
	case !named && hostPort(s):
		return Address{}, fmt.Errorf("the API address %q is a URL without its beginning, as in http://%[1]s, or a path without ./", s)
	case !named && strings.Contains(s, "://"):
		return Address{}, fmt.Errorf("the API address %q is neither http://HOST:PORT nor https://HOST:PORT, nor a path", s)
	case path == "":
		return Address{}, fmt.Errorf("the API address %q names no socket", s)
	case len(path) > MaxSocketPath:
		return Address{}, fmt.Errorf("the API socket %s: the path is longer than %d bytes", path, MaxSocketPath)
	}
	return Address{Socket: path}, nil
}

// hostPort reports whether s looks like HOST:PORT rather than like a path, which on Windows begins
// with the letter of a drive.
func hostPort(s string) bool {
	host, port, err := net.SplitHostPort(s)
	return err == nil && host != "" && port != "" && !strings.ContainsAny(s, `/\`)
}

func loopback(host string) bool {
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// LoopbackAddr reports whether s is HOST:PORT of a loopback address.
func LoopbackAddr(s string) bool {
	host, port, err := net.SplitHostPort(s)
	return err == nil && port != "" && loopback(host)
}
