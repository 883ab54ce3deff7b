package ntpserver

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// client runs a program that asks the server, and returns what it says. Programs
// that hang are ended long after they should have been done.
func client(t *testing.T, name string, args ...string) (text string, err error) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if path, err = exec.LookPath(filepath.Join("/usr/sbin", name)); err != nil {
			t.Skip("the client is not installed: ", err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, args...).CombinedOutput()
	require.NoError(t, ctx.Err(), "%s", out)
	return string(out), err
}

// chronyd asks once without setting the clock, and says what it would do.
func chronyd(t *testing.T, s *Server) (string, error) {
	dir := t.TempDir()
	return client(t, "chronyd", "-Q", "-x", "-t", "5", "-f", "/dev/null", "-u", "root",
		"server 127.0.0.1 iburst maxsamples 1 port "+strconv.Itoa(int(s.Addr().Port())),
		"pidfile "+filepath.Join(dir, "pid"), "bindcmdaddress /", "cmdport 0")
}

func TestChronydAcceptsTheServerWhenExternal(t *testing.T) {
	text, err := chronyd(t, listen(t, fake(time.Millisecond, true), Options{}))
	require.NoError(t, err, text)
	m := regexp.MustCompile(`System clock wrong by (-?[0-9.]+) seconds`).FindStringSubmatch(text)
	require.NotNil(t, m, text)
	wrong, err := strconv.ParseFloat(m[1], 64)
	require.NoError(t, err)
	require.InDelta(t, offset.Seconds(), wrong, 0.1)
}

func TestChronydRefusesTheServerWhenNotExternal(t *testing.T) {
	s := listen(t, fake(time.Millisecond, false), Options{})
	text, err := chronyd(t, s)
	require.Error(t, err, text)
	require.NotContains(t, text, "System clock wrong by")
	require.Positive(t, s.Stats().Unsynchronized, text)
}

// ntpdig only knows the port of NTP; the server gets an address of its own.
func atTheUsualPort(t *testing.T, external bool) *Server {
	t.Helper()
	s, err := Listen("127.0.0.123:123", fake(time.Millisecond, external), Options{})
	if err != nil {
		t.Skip("the port of NTP cannot be used here: ", err)
	}
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestNtpdigAcceptsTheServerWhenExternal(t *testing.T) {
	atTheUsualPort(t, true)
	text, err := client(t, "ntpdig", "-j", "-t", "5", "127.0.0.123")
	require.NoError(t, err, text)
	m := regexp.MustCompile(`"offset":\s*(-?[0-9.]+)`).FindStringSubmatch(text)
	require.NotNil(t, m, text)
	got, err := strconv.ParseFloat(m[1], 64)
	require.NoError(t, err)
	require.InDelta(t, offset.Seconds(), got, 0.1)
}

func TestNtpdigRefusesTheServerWhenNotExternal(t *testing.T) {
	s := atTheUsualPort(t, false)
	text, _ := client(t, "ntpdig", "-j", "-t", "5", "127.0.0.123")
	require.NotRegexp(t, `"offset"`, text)
	require.Positive(t, s.Stats().Unsynchronized, text)
}
