package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant/planted"
)

func TestFailuresAreReadFromGoTest(t *testing.T) {
	require.Equal(t, []string{"TestA/b: seed 3: M4 broken", "TestC: c_test.go:9: Should be true"}, failures(`
--- FAIL: TestA (0.00s)
    --- FAIL: TestA/b (0.03s)
        seed 3: M4 broken
--- FAIL: TestC (0.00s)
    c_test.go:9:
        	Error Trace:	c_test.go:9
        	Error:      	Should be true
FAIL
`))
	require.Equal(t, []string{"panic: test timed out after 1s", "running tests:", "TestX (1s)", "", "goroutine 7 [running]:"},
		failures("ok\npanic: test timed out after 1s\n\trunning tests:\n\t\tTestX (1s)\n\ngoroutine 7 [running]:\nmain.main\nFAIL\n"))
	require.Equal(t, []string{"FAIL"}, failures("FAIL\n"))
}

// A patch may change, add and remove files, of the library's own package too.
func TestPatchesAreApplied(t *testing.T) {
	root, err := planted.Root()
	require.NoError(t, err)
	ignore, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	require.NoError(t, err)
	lines := strings.SplitAfter(string(ignore), "\n")
	dir := t.TempDir()
	patch := filepath.Join(dir, "bug.diff")
	require.NoError(t, os.WriteFile(patch, []byte("diff --git a/.gitignore b/.gitignore\n--- a/.gitignore\n+++ b/.gitignore\n@@ -1,2 +1,2 @@\n-"+
		lines[0]+"+changed\n "+lines[1]+"diff --git a/leader/new.go b/leader/new.go\nnew file mode 100644\n--- /dev/null\n+++ b/leader/new.go\n@@ -0,0 +1 @@\n+package leader\n"), 0o600))
	b, err := readBug(t.Context(), patch, dir)
	require.NoError(t, err)
	require.Equal(t, []string{"./.", "./leader"}, b.changed)
	changed, err := os.ReadFile(filepath.Join(dir, "patched", ".gitignore"))
	require.NoError(t, err)
	require.Contains(t, string(changed), "changed\n")
	require.FileExists(t, filepath.Join(dir, "patched", "leader", "new.go"))

	require.NoError(t, os.WriteFile(patch, []byte("no patch"), 0o600))
	_, err = readBug(t.Context(), patch, dir)
	require.ErrorContains(t, err, "git apply")
}

func TestADirectoryReplacesFiles(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "bug", "leader", "epoch"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bug", "leader", "epoch", "wedge.go"), nil, 0o600))
	b, err := readBug(t.Context(), filepath.Join(dir, "bug"), dir)
	require.NoError(t, err)
	require.Equal(t, []string{"./leader/epoch"}, b.changed)
	overlay, err := os.ReadFile(b.overlay)
	require.NoError(t, err)
	require.Contains(t, string(overlay), filepath.Join(b.root, "leader", "epoch", "wedge.go"))

	_, err = readBug(t.Context(), t.TempDir(), dir)
	require.ErrorContains(t, err, "changes no file")
}
