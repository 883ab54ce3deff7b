package api

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/trust"
)

func TestTheDefaultSocketIsInADirectoryOfTheUser(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes of files")
	}
	dir := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(dir, "run"))
	path := DefaultSocket()
	require.Equal(t, filepath.Join(dir, "run", "failaware.sock"), path)
	l, err := ListenUnix(path)
	require.NoError(t, err)
	defer l.Close()
	info, err := os.Stat(filepath.Dir(path))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o700), info.Mode().Perm())

	squat := filepath.Join(dir, "squat")
	require.NoError(t, os.Mkdir(squat, 0o777))
	require.NoError(t, os.Chmod(squat, 0o777))
	t.Setenv("XDG_RUNTIME_DIR", squat)
	_, err = ListenUnix(DefaultSocket())
	require.ErrorIs(t, err, trust.ErrUntrusted)
	require.ErrorContains(t, err, squat)
}

// The user of the node, its group and root may connect, and nobody else.
func socketsAreClosedToOthers(t testing.TB) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes of files")
	}
	path := filepath.Join(t.TempDir(), "api")
	l, err := ListenUnix(path)
	require.NoError(t, err)
	defer l.Close()
	info, err := os.Lstat(path)
	require.NoError(t, err)
	require.Equal(t, socketMode, info.Mode().Perm())
	require.Zero(t, socketMode&0o007)
}

func TestSocketsAreClosedToOthers(t *testing.T) { socketsAreClosedToOthers(t) }

// The mask of the process is as before once there is a socket, or no directory that is made
// later could be searched.
func TestASocketLeavesTheMaskAsItWas(t *testing.T) {
	dir := t.TempDir()
	made := func(name string) fs.FileMode {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o777))
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		return info.Mode()
	}
	before := made("before")
	require.NotZero(t, before&0o100, "no test before has left a stricter one")
	l, err := ListenUnix(filepath.Join(dir, "api"))
	require.NoError(t, err)
	defer l.Close()
	require.Equal(t, before, made("after"))
	_, err = bind(filepath.Join(dir, "none", "api"))
	require.Error(t, err)
	require.Equal(t, before, made("failed"))
}

// A listener that ends leaves the socket alone that another one has made in its place.
func successorsKeepTheirSocket(t testing.TB) {
	path := filepath.Join(t.TempDir(), "api")
	first, err := ListenUnix(path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	second, err := ListenUnix(path)
	require.NoError(t, err)
	require.NoError(t, first.Close())
	c, err := net.Dial("unix", path)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.NoError(t, second.Close())
	require.NoFileExists(t, path)
}

func TestSuccessorsKeepTheirSocket(t *testing.T) { successorsKeepTheirSocket(t) }

func TestTheServiceIsNamedIfAnotherNodeIsAsked(t *testing.T) {
	service := filepath.Join(t.TempDir(), "failaware.sock")
	other := Address{Socket: "/run/user/1000/failaware.sock"}
	require.Empty(t, elsewhere(other, service), "it does not run")
	require.NoError(t, os.WriteFile(service, nil, 0o600))
	require.Empty(t, elsewhere(other, service), "a file is no socket")
	require.NoError(t, os.Remove(service))
	l, err := ListenUnix(service)
	require.NoError(t, err)
	defer l.Close()
	require.Equal(t, ": there is "+service, elsewhere(other, service))
	require.Empty(t, elsewhere(Address{Socket: service}, service), "it was asked itself")
	require.Empty(t, elsewhere(Address{URL: "https://node:7443"}, service), "it is on another host")
}

// The path of a socket on Windows begins with the letter of a drive, as that of the default one does.
func TestADriveIsNoHost(t *testing.T) {
	for _, path := range []string{`C:\Users\x\failaware.sock`, "C:/failaware.sock"} {
		addr, err := ParseAddress(path)
		require.NoError(t, err)
		require.Equal(t, Address{Socket: path}, addr)
	}
	_, err := ParseAddress("localhost:7080")
	require.ErrorContains(t, err, "as in http://localhost:7080, or a path without ./")
}

// Who trusts a loopback address trusts this machine: every other address may be seen from outside.
func loopbackIsHere(t testing.TB) {
	for addr, here := range map[string]bool{"127.0.0.1:80": true, "127.8.9.10:80": true, "[::1]:80": true, "localhost:80": true, "LocalHost.:80": true,
		"0.0.0.0:80": false, "[::]:80": false, ":80": false, "128.0.0.1:80": false, "localhost": false, "127.0.0.1": false, "127.0.0.1:": false,
		"localhost.example:80": false, "notlocalhost:80": false, "127.0.0.1.example:80": false} {
		require.Equal(t, here, LoopbackAddr(addr), addr)
		if _, port, err := net.SplitHostPort(addr); err == nil && port != "" {
			_, err := ParseAddress("http://" + addr)
			require.Equal(t, here, err == nil, addr)
		}
	}
	for _, more := range []string{"http://user:word@127.0.0.1:80", "http://127.0.0.1:80/v1", "http://127.0.0.1:80?a=b", "https://user@node:7443"} {
		_, err := ParseAddress(more)
		require.ErrorContains(t, err, "is neither http://HOST:PORT nor https://HOST:PORT", "no part of an address is passed over")
	}
}

func TestLoopbackAddressesAreHere(t *testing.T) { loopbackIsHere(t) }
