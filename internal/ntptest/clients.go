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

// Client asks a server once, as its program does, and returns how far the
// server's clock is ahead of this machine's, or why the program refuses the server. It
// skips the test where the program is missing.
type Client func(t testing.TB, server netip.AddrPort) (time.Duration, error)

// Clients are clients of NTP that people use, by name.
var Clients = map[string]Client{"chronyd": chronyd, "ntpdig": ntpdig, "beevik/ntp": beevik}

// Port is that of NTP.
const Port = 123

// clientTimeout ends programs that hang, long after they should have been done.
const clientTimeout = 2 * time.Minute

// find returns where a program is. Administrators' programs need not be in the path.
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

// runs runs a program that looks for an offset, and returns the one that it prints.
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

// chronyd asks without setting the clock (-Q), and says what it would do.
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

// ntpdig of ntpsec only knows the port of NTP.
func ntpdig(t testing.TB, server netip.AddrPort) (time.Duration, error) {
	t.Helper()
	if server.Port() != Port {
		t.Skip("ntpdig only asks at the port of NTP, which cannot be used here")
	}
	return runs(t, ntpdigPrints, find(t, "ntpdig"), "-j", "-t", "5", server.Addr().String())
}

// beevik asks as programs in Go do, which are to call Validate.
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
