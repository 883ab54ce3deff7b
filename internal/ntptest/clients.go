package ntptest

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/beevik/ntp"
)

// Client asks a server once, with its program, and returns how far the server's clock
// is ahead of this machine's, or an error if the program refuses the server. It skips
// the test if the program is missing.
type Client func(t testing.TB, server netip.AddrPort) (time.Duration, error)

// Clients are common NTP clients, by name.
var Clients = map[string]Client{"chronyd": chronyd, "ntpdig": ntpdig, "beevik/ntp": beevik}

// Port is the port of NTP.
const Port = 123

// clientTimeout ends programs that hang, long after the expected end.
const clientTimeout = 2 * time.Minute

// find returns the path of a program. Administrators' programs need not be in PATH.
func find(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		path, err = exec.LookPath(filepath.Join("/usr/sbin", name))
	}
	if err != nil {
		t.Skip(name + " is not installed")
	}
	return path
}

// runs runs a program that determines an offset, and returns the printed offset.
func runs(t testing.TB, printed *regexp.Regexp, name string, args ...string) (time.Duration, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	text, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("%s hangs: %s", name, text)
	}
	m := printed.FindSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("%s finds no offset: %w: %s", name, err, text)
	}
	seconds, err := strconv.ParseFloat(string(m[1]), 64)
	return time.Duration(seconds * 1e9), err
}

var chronydPrints = regexp.MustCompile(`System clock wrong by (-?[0-9.]+) seconds`)

// chronyd asks without setting the clock (-Q), and prints the correction.
func chronyd(t testing.TB, server netip.AddrPort) (time.Duration, error) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("chronyd needs to be root")
	}
	return runs(t, chronydPrints, chronydPath(t), "-Q", "-x", "-t", "5", "-f", "/dev/null", "-u", "root",
		fmt.Sprintf("server %s iburst maxsamples 1 port %d", server.Addr(), server.Port()),
		"pidfile "+filepath.Join(t.TempDir(), "pid"), "bindcmdaddress /", "cmdport 0")
}

var ntpdigPrints = regexp.MustCompile(`"offset":\s*(-?[0-9.]+)`)

// ntpdig of ntpsec uses only the port of NTP.
func ntpdig(t testing.TB, server netip.AddrPort) (time.Duration, error) {
	t.Helper()
	if server.Port() != Port {
		t.Skip("ntpdig uses only the port of NTP, which is not available here")
	}
	return runs(t, ntpdigPrints, find(t, "ntpdig"), "-j", "-t", "5", server.Addr().String())
}

// beevik asks like programs in Go, which should call Validate.
func beevik(_ testing.TB, server netip.AddrPort) (time.Duration, error) {
	r, err := ntp.QueryWithOptions(server.String(), ntp.QueryOptions{Timeout: clientTimeout})
	if err == nil {
		err = r.Validate()
	}
	if err != nil {
		return 0, err
	}
	return r.ClockOffset, nil
}
