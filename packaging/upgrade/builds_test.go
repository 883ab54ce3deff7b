// Package upgrade replaces the nodes of a former build by those of this one, one after the
// other, while a group works.
package upgrade

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// former is the oldest commit with a store whose nodes work together with those of this
// build: it speaks version 3 of the wire format. Whoever changes what nodes say to each
// other, or what they keep on disks, so that this test fails, breaks the promise of
// docs/how-to/upgrading.md.
const former = "4174382527708ec7227a54027d49e0439a2d8eea"

const root = "../.."

// buildCurrent builds the program of this source.
func buildCurrent(t *testing.T) string { return build(t, root) }

// buildFormer builds the program of the former commit.
func buildFormer(t *testing.T) string {
	if err := exec.Command("git", "-C", root, "cat-file", "-e", former+"^{commit}").Run(); err != nil {
		t.Skipf("the commit %.12s is not here, as in an archive or a shallow clone (git fetch --unshallow gets it)", former)
	}
	dir := t.TempDir()
	archive := filepath.Join(dir, "former.tar")
	run(t, "git", "-C", root, "archive", "-o", archive, former)
	source := filepath.Join(dir, "source")
	require.NoError(t, os.Mkdir(source, 0o700))
	run(t, "tar", "-xf", archive, "-C", source)
	return build(t, source)
}

func build(t *testing.T, source string) string {
	program := filepath.Join(t.TempDir(), "failaware")
	run(t, "go", "build", "-C", source, "-buildvcs=false", "-o", program, "./cmd/failaware")
	return program
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, args, out)
}
