package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// builds has the releases for this machine that the tests share, by version.
var builds struct {
	sync.Mutex
	dir  string
	done map[string]string
}

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(builds.dir)
	os.Exit(code)
}

// built returns the directory with a release of a version for Linux.
func built(t *testing.T, version string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds a release")
	}
	builds.Lock()
	defer builds.Unlock()
	if dir, ok := builds.done[version]; ok {
		return dir
	}
	if builds.done == nil {
		var err error
		builds.dir, err = os.MkdirTemp("", "failaware-builds")
		require.NoError(t, err)
		builds.done = map[string]string{}
	}
	out := filepath.Join(builds.dir, version)
	r := release{root: "../..", out: out, version: version, targets: []target{{"linux", "amd64"}}, say: io.Discard}
	require.NoError(t, r.run(t.Context()))
	builds.done[version] = out
	return out
}

// copyOf copies the files of the project that a commit would have, and returns where.
func copyOf(t *testing.T, to string) string {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Skip("the project is in no repository")
	}
	for name := range strings.SplitSeq(strings.Trim(string(out), "\x00"), "\x00") {
		b, err := os.ReadFile(filepath.Join("../..", name))
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		require.NoError(t, err)
		path := filepath.Join(to, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, b, 0o644))
	}
	return to
}

// Two builds of the same source give the same bytes: in other directories, with
// nothing compiled before, and with other settings of the user.
func TestTwoBuildsGiveTheSameFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles everything")
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	sums := func(root string) string {
		r := release{root: root, out: filepath.Join(t.TempDir(), "out"), targets: []target{{"linux", "amd64"}}, say: io.Discard}
		require.NoError(t, r.run(t.Context()))
		b, err := os.ReadFile(filepath.Join(r.out, "SHA256SUMS"))
		require.NoError(t, err)
		return string(b)
	}
	first := sums(copyOf(t, filepath.Join(t.TempDir(), "a")))
	t.Setenv("GOCACHE", t.TempDir())
	t.Setenv("GOAMD64", "v2")
	t.Setenv("TZ", "Pacific/Auckland")
	second := sums(copyOf(t, filepath.Join(t.TempDir(), "another", "directory")))
	require.Equal(t, first, second)
	for _, part := range []string{"-linux-amd64.tar.gz\n", "_amd64.deb\n", "-image.oci.tar\n", ".cdx.json\n"} {
		require.Contains(t, first, part)
	}
}

func TestVersions(t *testing.T) {
	for version, ok := range map[string]bool{"1.2.3": true, "1.2.3-rc1": true, "0.1.0-dev+0123ab": true,
		"": false, "1.2": false, "v1.2.3": false, "1.2.3 x": false, "1.2.3'": false, "../1.2.3": false} {
		r := release{version: version}
		require.Equal(t, ok, r.checkVersion() == nil, version)
	}
	require.Equal(t, "1.2.3~rc1", debianVersion("1.2.3-rc1"))
	require.Equal(t, "0.1.0~dev+0123ab", debianVersion("0.1.0-dev+0123ab"))
}

func TestBadArguments(t *testing.T) {
	var r release
	require.ErrorContains(t, r.choose("linux/amd64,plan9/386"), `-targets: "plan9/386" is none of`)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "precious"), nil, 0o600))
	r.root, r.out = "../..", dir
	require.ErrorContains(t, r.run(t.Context()), "is not empty")
}
