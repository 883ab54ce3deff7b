package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// module writes a module of some files, and returns its directory.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module m\n\ngo 1.26\n"
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func TestTypesAreThoseOfTheSystem(t *testing.T) {
	dir := module(t, map[string]string{"m.go": "package m\n\nconst Large int = 1 << 40\n"})
	require.NoError(t, run(dir, []string{"linux/arm64", "darwin/arm64"}))
	require.ErrorContains(t, run(dir, []string{"linux/arm64", "linux/386"}), "linux/386: "+filepath.Join(dir, "m.go")+":3:19: ")
}

func TestAllFilesOfASystemAreChecked(t *testing.T) {
	const used = "package m\n\nvar used = mark\n"
	for name, text := range map[string]string{"m_windows.go": used, "a_windows_test.go": used,
		"b_windows_test.go": "package m_test\n\nimport \"m\"\n\nvar used = m.Mark\n"} {
		dir := module(t, map[string]string{"m.go": "package m\n", name: text})
		require.NoError(t, run(dir, []string{"linux/arm64"}), name)
		require.ErrorContains(t, run(dir, []string{"windows/amd64"}), name+":", name)
	}
	dir := module(t, map[string]string{"m.go": "package m\n\nvar mark int\n", "m_windows.go": used, "a_test.go": "package m\n\nvar Mark = mark\n",
		"b_windows_test.go": "package m_test\n\nimport \"m\"\n\nvar used = m.Mark\n"})
	require.NoError(t, run(dir, []string{"windows/amd64"}))
}

func TestFilesThatNoSystemHadAreVetted(t *testing.T) {
	const moot = "package m\n\nfunc moot(x int) { x = x }\n" // its types fit
	dir := module(t, map[string]string{"m.go": "package m\n", "m_arm64_test.go": moot})
	require.NoError(t, run(dir, []string{"windows/amd64"}))
	require.Error(t, run(dir, []string{"windows/amd64", "linux/arm64"}))
	dir = module(t, map[string]string{"m_linux.go": "package m\n\nfunc linux(x int) { x = x }\n", "m_windows.go": "package m\n"})
	require.NoError(t, run(dir, []string{"linux/arm64", "windows/amd64"}), "lint vets what linux/amd64 has")
}

func TestTargetsAreChecked(t *testing.T) {
	for _, text := range []string{"", "linux", "linux/", "/amd64", "linux/moon"} {
		require.ErrorContains(t, run(".", []string{text}), "is no target", text)
	}
}

// The go command takes the files of another system in place of this one's, whatever their names and
// constraints are.
func TestTheFilesOfAnotherSystemAreTaken(t *testing.T) {
	dir := module(t, map[string]string{
		"m.go": "package m\n\nvar _ = []int{mark, unixMark}\n",
		// Twice declared, or not at all, a name is an error.
		"m_linux.go": "package m\n\nconst linuxMark, mark = 1, linuxMark\n",
		"m_other.go": "//go:build !linux\n\npackage m\n\nconst mark = 2\n",
		"m_unix.go":  "//go:build unix\n\npackage m\n\nconst unixMark = 3\n",
		"m_test.go":  "package m\n\nvar _ = linuxMark\n",
	})
	code, err := as(dir, "openbsd", []string{"build", "./..."})
	require.NoError(t, err)
	require.Zero(t, code)
	for system, want := range map[string]int{"linux": 0, "openbsd": 1, "plan9": 1} {
		code, err := as(dir, system, []string{"vet", "./..."})
		require.NoError(t, err)
		require.Equal(t, want, code, system)
	}
	_, err = as(dir, "openbsd", nil)
	require.ErrorContains(t, err, "needs a command of go")
}
